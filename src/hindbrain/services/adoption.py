"""Adoption: outcomes kept in the brain they were seen in, and the reports on them. Whoever saw an outcome records it; reading
memory leaves no trace here."""

import secrets
import shlex
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from hindbrain.domain.adoption import AdoptionEvent
from hindbrain.domain.brain import Brain
from hindbrain.domain.caller import Caller
from hindbrain.domain.card import CardId
from hindbrain.domain.errors import HindbrainError, InvalidParams, Rejected, SwitchedOff
from hindbrain.domain.ledger import Act
from hindbrain.domain.stored import stored_json
from hindbrain.engines.adoption import Quality, Record, checked, planned, signal_of, track_of
from hindbrain.engines.outcomes import Picked, Tally, analytics, picked, reviewed
from hindbrain.engines.readiness import default_of, gate, gate_of, readiness
from hindbrain.policy.adoption import GATES, ID_PREFIX, READINESS, TEXT_MAX
from hindbrain.policy.evidence import WORD_MAX
from hindbrain.services.brains import Brains, OpenBrain
from hindbrain.services.evidence import iso
from hindbrain.services.evidence_guard import check_word, check_words, traces_of
from hindbrain.services.gateway import Gateway
from hindbrain.services.routing import Router

__all__ = ["Adoption", "Asked", "wire_event"]

_NAMES = ("id", "feature", "context_hash", "card_id", "evaluator_id", "research_report_id")


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """Which outcomes a report is about. None asks for nothing; times are milliseconds, from `since` to before `until`."""

    track: str | None = None
    feature: str | None = None
    signal: str | None = None
    context_hash: str | None = None
    limit: int | None = None
    since: int | None = None
    until: int | None = None

    def told(self) -> dict[str, Any]:
        """The filters as a report repeats them."""
        named = {name: getattr(self, name) for name in ("track", "feature", "signal")}
        shown = {name: value for name, value in named.items() if value is not None}
        return shown | {"limit": self.limit} | self.window()

    def window(self) -> dict[str, Any]:
        return {"since": iso(self.since), "until": iso(self.until)}


def wire_event(event: AdoptionEvent) -> dict[str, Any]:
    """An outcome as every surface shows it."""
    return {
        "id": event.id,
        "track": event.track.value,
        "signal": event.signal.value,
        "feature": event.feature,
        "query": event.query,
        "context_hash": event.context_hash,
        "card_id": event.card_id,
        "evaluator_id": event.evaluator_id,
        "research_report_id": event.research_report_id,
        "note": event.note,
        "metadata": stored_json(event.metadata, "adoption") or None,
        "actor": event.actor,
        "channel": event.channel,
        "created_at": iso(event.at),
    }


class Adoption:
    """The outcomes of a brain."""

    def __init__(
        self,
        brains: Brains,
        router: Router,
        gateway: Gateway,
        clock: Callable[[], int],
        *,
        enabled: bool,
    ) -> None:
        self._brains = brains
        self._router = router
        self._gateway = gateway
        self._clock = clock
        self._enabled = enabled

    # -- in ----------------------------------------------------------------------------------------------------------

    def record(self, caller: Caller, record: Record) -> dict[str, Any]:
        """Keep one outcome as it was told."""
        if not record.feature:
            raise InvalidParams("feature is blank", fix="name what the outcome is about, such as include_cards")
        event = self._kept(caller, record)
        return {
            "ok": True,
            "schema": "hindbrain-adoption-record-v0",
            "writes": True,
            "event_id": event.id,
            "created": True,
            "event": wire_event(event),
            "rendered": f"event_id={event.id} created=true",
        }

    def record_checked(self, caller: Caller, record: Record, *, allow_warnings: bool) -> dict[str, Any]:
        """Keep one outcome if its record is good enough; what is missing is told instead."""
        self._open_to(caller)
        quality = checked(record)
        if quality.blocks(allow_warnings=allow_warnings):
            return self._stopped(quality)
        return self.record(caller, record) | {"blocked": False, "record_quality": quality.told()}

    @staticmethod
    def _stopped(quality: Quality) -> dict[str, Any]:
        lines = [f"blocked: the record is rated {quality.name}", *(f"- {one}" for one in (*quality.errors, *quality.warnings))]
        return {
            "ok": True,
            "schema": "hindbrain-adoption-record-v0",
            "writes": False,
            "blocked": True,
            "record_quality": quality.told(),
            "event": None,
            "rendered": "\n".join(lines),
        }

    def capture(self, caller: Caller, record: Record, *, surface: str, execute: bool, allow_warnings: bool) -> dict[str, Any]:
        """An outcome seen at a surface: planned and rated, and with `execute` written by the checked way."""
        plan, quality = planned(record), checked(record)
        written = self.record_checked(caller, record, allow_warnings=allow_warnings) if execute else None
        refusal = None if execute else self._refusal(caller, record)
        # What execute would be refused for is known before: a wrapped command need not run in vain.
        said = (
            [written["rendered"]]
            if written is not None
            else [f"would run: {shlex.join(plan['record_command'])}", f"quality={quality.name}"]
        )
        said += [f"- {one}" for one in (*quality.errors, *quality.warnings)] if written is None else []
        said += [f"execute would be refused: {refusal['message']}"] if refusal is not None else []
        kept = ("writes", "blocked", "record_quality", "event")
        return {
            "ok": True,
            "schema": "hindbrain-adoption-capture-v0",
            "writes": written is not None and written["writes"],
            "execute": execute,
            "surface": surface,
            "outcome": record.signal.value,
            "record_plan": plan,
            "record_quality": quality.told(),
            "record_checked": {key: written[key] for key in kept} if written is not None else None,
            "refusal": refusal,
            "rendered": "\n".join(said),
        }

    def _refusal(self, caller: Caller, record: Record) -> dict[str, Any] | None:
        try:
            self._admitted(caller, record)
        except HindbrainError as refused:
            return {"code": refused.code, "message": refused.message, "fix": refused.fix}
        return None

    def _kept(self, caller: Caller, record: Record) -> AdoptionEvent:
        brain = self._admitted(caller, record)
        now = self._clock()
        named = {name: getattr(record, name) for name in _NAMES[2:]}
        event = AdoptionEvent(
            id=record.id or f"{ID_PREFIX}{secrets.token_hex(12)}",
            seq=0,
            track=record.track,
            signal=record.signal,
            feature=record.feature,
            actor=caller.agent,
            channel=caller.channel.value,
            at=now,
            query=record.query,
            note=record.note,
            metadata=record.metadata,
            **named,
        )
        payload = {"track": event.track.value, "signal": event.signal.value}
        act = Act(act="adoption.recorded", subject=event.id, actor=caller.agent, channel=caller.channel, at=now, payload=payload)
        with self._brains.use(brain) as opened, opened.store.writing() as writer:
            # Where no other writer can come between: the value may have been rejected a moment ago.
            self._check_rejected(opened, record)
            event = replace(event, seq=writer.append(act).seq)
            writer.put_adoption(event)
        return event

    def _open_to(self, caller: Caller) -> Brain:
        if not self._enabled:
            raise SwitchedOff(
                "outcomes are not recorded here: the setting adoption is false",
                fix="a person can set adoption = true in config.toml; reports work as they are",
            )
        return self._router.write_route(caller)

    def _admitted(self, caller: Caller, record: Record) -> Brain:
        """The brain that takes this record in; refuses what may not be kept."""
        brain = self._open_to(caller)
        self._check_sizes(record)
        with self._brains.use(brain) as opened:
            told = record.told()
            ids = [told.get(name) for name in _NAMES] + [record.metadata]
            check_words(self._gateway, opened, [record.note, record.query], ids, site="adoption.record")
            self._check_rejected(opened, record)
            here = record.card_id is None or bool(opened.store.cards([CardId(record.card_id)]))
        if not here and not self._is_shared(record.card_id):
            raise InvalidParams(
                f"there is no card {str(record.card_id)[:80]!r} here",
                fix="name the card that the context showed, or leave it out",
            )
        return brain

    def _check_sizes(self, record: Record) -> None:
        for name in _NAMES:
            if (value := getattr(record, name)) is not None:
                check_word(value, name, WORD_MAX)
        for name in ("note", "query"):
            text = getattr(record, name) or ""
            self._gateway.check_text(text)
            if len(text) > TEXT_MAX:
                raise InvalidParams(f"{name} has {len(text)} characters; {TEXT_MAX} is the most", fix=f"shorten the {name}")
        self._gateway.check_text(record.metadata)

    @staticmethod
    def _check_rejected(opened: OpenBrain, record: Record) -> None:
        salt = opened.store.meta("salt")
        texts = [text for text in (record.note, record.query, *_strings(stored_json(record.metadata, "adoption"))) if text]
        marks = [mark for text in texts for mark, _, _ in traces_of(text, salt)] if salt else []
        if marks and opened.store.tombstones(marks):
            raise Rejected(
                f"a value in this record was rejected or forgotten in {opened.brain.display_name}",
                fix="say what happened without repeating it",
            )

    def _is_shared(self, card_id: str | None) -> bool:
        if card_id is None or not self._brains.has_medulla():
            return False
        with self._brains.use(self._brains.home.medulla()) as opened:
            return bool(opened.store.cards([CardId(card_id)]))

    # -- reports -----------------------------------------------------------------------------------------------------

    def picked(self, caller: Caller, asked: Asked) -> Picked:
        """The outcomes of the caller's brain that a report is about; none where no brain is, and none is made for it."""
        signal = signal_of(asked.signal) if asked.signal is not None else None
        track = track_of(asked.track) if asked.track is not None else None
        if asked.limit is not None and asked.limit < 1:
            raise InvalidParams(f"limit {asked.limit} shows nothing", fix="give a limit of 1 or more, or none")
        brain = self._router.route(caller).brain
        if brain is None:
            return Picked(events=(), truncated=False)
        with self._brains.use(brain) as opened:
            found = opened.store.adoptions(track=track, feature=asked.feature)
        return picked(
            found,
            signal=signal,
            since=asked.since,
            until=asked.until,
            context_hash=asked.context_hash,
            limit=asked.limit,
        )

    def listed(self, caller: Caller, asked: Asked) -> dict[str, Any]:
        """Outcomes, newest first."""
        found = self.picked(caller, asked)
        events = [wire_event(event) for event in reversed(found.events)]
        lines = [f"{one['created_at']} {one['track']} {one['signal']} {one['feature']} {one['id']}" for one in events]
        return {
            "ok": True,
            "schema": "hindbrain-adoption-list-v0",
            "filters": asked.told(),
            "events": events,
            "truncated": found.truncated,
            "rendered": "\n".join(lines) or "nothing was recorded",
        }

    def stats(self, caller: Caller, asked: Asked) -> dict[str, Any]:
        """How often each signal was seen."""
        found = self.picked(caller, asked)
        tally = Tally.of(found.events)
        return {
            "ok": True,
            "schema": "hindbrain-adoption-stats-v0",
            "writes": False,
            **tally.told(),
            "filters": asked.told(),
            "truncated": found.truncated,
            "rendered": tally.line(),
        }

    def review(self, caller: Caller, asked: Asked) -> dict[str, Any]:
        """What outcomes say together."""
        found = reviewed(self.picked(caller, asked), asked.told())
        lines = [f"{found['conclusion']}: {'; '.join(found['reasons'])}"]
        lines += [f"{one['feature']}: {_line(one['stats'])}" for one in found["features"]]
        return {"ok": True, "schema": "hindbrain-adoption-review-v0", **found, "rendered": "\n".join(lines)}

    def analytics(self, caller: Caller, asked: Asked) -> dict[str, Any]:
        """Outcomes by track and feature with what to do next."""
        found = analytics(self.picked(caller, asked))
        lines = [f"{one['track']}/{one['feature']}: {_line(one)}: {one['recommendation']}" for one in found["groups"]]
        window = {"window": asked.window()}
        said = "\n".join(lines) or "nothing was recorded"
        return {"ok": True, "schema": "hindbrain-adoption-analytics-v0", **found, **window, "rendered": said}

    def gate(self, caller: Caller, candidate: str, asked: Asked) -> dict[str, Any]:
        """Whether outcomes speak for starting on a candidate."""
        name = gate_of(candidate)
        found = gate(name, self.picked(caller, replace(asked, track=GATES[name].track.value)))
        lines = [f"{name}: {'ready' if found['ready'] else 'not ready'}", *(f"- {one}" for one in found["reasons"])]
        window = {"window": asked.window()}
        return {"ok": True, "schema": "hindbrain-adoption-gate-v0", **found, **window, "rendered": "\n".join(lines)}

    def readiness(self, caller: Caller, candidate: str, asked: Asked) -> dict[str, Any]:
        """Whether a default may be proposed."""
        name = default_of(candidate)
        rule = READINESS[name]
        wanted = replace(asked, track=rule.track.value, feature=rule.feature)
        found = readiness(name, self.picked(caller, wanted), wanted.told())
        lines = [f"{name}: {found['decision']}", *(f"- {one}" for one in found["reasons"])]
        window = {"window": asked.window()}
        return {"ok": True, "schema": "hindbrain-adoption-readiness-v0", **found, **window, "rendered": "\n".join(lines)}


def _line(stats: Mapping[str, Any]) -> str:
    return " ".join(f"{name}={value}" for name, value in stats.items() if isinstance(value, int) and (value or name == "total"))


def _strings(value: Any) -> list[str]:
    """Every text inside a JSON value."""
    if isinstance(value, str):
        return [value]
    if isinstance(value, Mapping):
        return [text for key, inner in value.items() for text in (key, *_strings(inner))]
    return [text for inner in value for text in _strings(inner)] if isinstance(value, list) else []
