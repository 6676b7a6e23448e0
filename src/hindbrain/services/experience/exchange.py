"""Experience carried out and in as lines of JSON: megrams, what befell them, how often they were used. What comes in passes the
same door as any write, and counts as it counted where it came from."""

import json
import re
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import msgspec

from hindbrain.domain.caller import Caller
from hindbrain.domain.errors import HindbrainError, InvalidParams, PathRefused
from hindbrain.domain.experience import Effective, EventKind, Level, Megram, MegramEvent, MegramId, Writer
from hindbrain.domain.ledger import Act
from hindbrain.domain.stored import stored_json
from hindbrain.engines.hygiene import scan
from hindbrain.engines.moments import stamped
from hindbrain.policy.fading import DAY_MS
from hindbrain.services.brains import Brains, OpenBrain
from hindbrain.services.experience.drafts import CONTENT_MOST, check_words, normalised, timed
from hindbrain.services.experience.room import ExperienceRoom
from hindbrain.services.routing import Router
from hindbrain.stores.atomic import write_new
from hindbrain.stores.ordinary_file import open_ordinary
from hindbrain.stores.port import BrainStore, MegramFilter

__all__ = ["ExperienceExchange"]

FORMAT = "hindbrain-experience-v0"
_MOST = 512 * 1024 * 1024  # bytes of a file that is read
_PAGE = 500  # lines of one transaction
_LAW = "law"
_ID = re.compile(r"[\w-]{1,64}")
_NAME_MOST = 200  # characters of what is named by id


class ExperienceExchange:
    """Export and import of one brain's experience."""

    def __init__(self, brains: Brains, router: Router, room: ExperienceRoom, clock: Callable[[], int]) -> None:
        self._brains = brains
        self._router = router
        self._room = room
        self._clock = clock

    def export(self, caller: Caller, *, target: str) -> dict[str, Any]:
        """All of it, into a new file."""
        brain = self._router.write_route(caller)
        with self._brains.use(brain) as opened:
            lines = [json.dumps(line, ensure_ascii=False) for line in _lines(opened.store)]
        path = target
        write_new(Path(target), ("\n".join(lines) + "\n").encode())
        return {
            "ok": True,
            "schema": "hindbrain-experience-export-v0",
            "path": path,
            "megrams": len(lines) - 1,
            "brain": brain.name,
            "rendered": f"Wrote {len(lines) - 1} experience(s) of {brain.display_name} to {path}.",
        }

    def take_in(self, caller: Caller, *, source: str) -> dict[str, Any]:
        """Read a file of experience. Refused lines are counted with their reason; what is there already stays as it is."""
        brain = self._router.write_route(caller)
        lines = list(_read(source))
        taken = held = 0
        refused: list[dict[str, Any]] = []
        with self._brains.use(brain) as opened:
            for start in range(0, len(lines), _PAGE):
                new, known, wrong = self._page(caller, opened, lines[start : start + _PAGE])
                taken, held = taken + new, held + known
                refused += wrong
        return {
            "ok": True,
            "schema": "hindbrain-experience-import-v0",
            "taken": taken,
            "already_there": held,
            "refused": refused[:100],
            "refused_count": len(refused),
            "brain": brain.name,
            "rendered": f"Took in {taken} experience(s); {held} were there already, {len(refused)} refused"
            + (
                f"; {laws} laws left out, for every brain has its own."
                if (laws := len(lines) - taken - held - len(refused))
                else "."
            ),
        }

    def _page(
        self, caller: Caller, opened: OpenBrain, lines: list[tuple[int, dict[str, Any]]]
    ) -> tuple[int, int, list[dict[str, Any]]]:
        experience, refused = self._room.of(opened), []
        taken = held = 0
        with opened.store.writing() as writer:
            for number, line in lines:
                try:
                    one, events = _effective(line)
                except (HindbrainError, KeyError, TypeError, ValueError) as wrong:
                    refused.append({"line": number, "reason": str(wrong)[:200]})
                    continue
                if one.megram.created_at > self._clock() + DAY_MS:
                    refused.append({"line": number, "reason": "it lies in the future, so it would never fade"})
                    continue
                if one.megram.state == _LAW:
                    continue  # every brain has its own
                if not experience.deposit(writer, one.megram, actor=caller.agent):
                    held += 1
                    continue
                taken += 1
                for event in events:
                    writer.put_megram_event(event)
                if one.last_recalled_at is not None:
                    writer.restore_recall(one.megram.id, last_recalled_at=one.last_recalled_at, recalls=one.recalls)
            writer.append(
                Act(
                    act="megram.import",
                    subject="experience",
                    actor=caller.agent,
                    channel=caller.channel,
                    at=self._clock(),
                    payload={"megrams": taken, "refused": len(refused)},
                )
            )
        return taken, held, refused


def _lines(store: BrainStore) -> Iterator[dict[str, Any]]:
    yield {"format": FORMAT}
    for one in store.effective(MegramFilter(settled=True)):
        megram = one.megram
        told = {name: getattr(megram, name) for name in megram.__slots__ if name not in ("created_at", "loss")}
        yield {
            **told,
            "level": megram.level.value,
            "writer": megram.writer.value,
            "tags": list(megram.tags),
            "derived_from": list(megram.derived_from),
            "created_at": stamped(megram.created_at),
            "loss": stored_json(megram.loss, "megram") if megram.loss else None,
            "last_recalled_at": stamped(one.last_recalled_at) if one.last_recalled_at is not None else None,
            "recalls": one.recalls,
            "events": [_event(event) for event in store.megram_events(megram.id)],
        }


def _event(event: MegramEvent) -> dict[str, Any]:
    return {
        "kind": event.kind.value,
        "at": stamped(event.at),
        "level": event.level.value if event.level else None,
        "k": event.k,
        "into_id": event.into_id,
        "detail": stored_json(event.detail, "megram_event"),
    }


def _read(source: str) -> Iterator[tuple[int, dict[str, Any]]]:
    path = Path(source)
    if not path.is_file():
        raise PathRefused(f"{source[:120]!r} is no file", fix="give the file that experience export wrote")
    if path.stat().st_size > _MOST:
        raise InvalidParams(f"{path} is larger than {_MOST} bytes", fix="import it in parts")
    with open_ordinary(path) as file:
        for number, line in enumerate(file, 1):
            if not line.strip():
                continue
            try:
                found = msgspec.json.decode(line)
            except (msgspec.DecodeError, RecursionError) as broken:
                raise InvalidParams(f"line {number} is not JSON", fix="give the file that experience export wrote") from broken
            if not isinstance(found, dict):
                raise InvalidParams(f"line {number} is no object", fix="give the file that experience export wrote")
            if "format" in found:
                if found["format"] != FORMAT:
                    raise InvalidParams(f"the format {str(found['format'])[:40]!r} is unknown", fix=f"{FORMAT} is read")
                continue
            yield number, found


def _effective(line: dict[str, Any]) -> tuple[Effective, list[MegramEvent]]:
    """A megram as it was exported, checked as if it were written here."""
    tags = tuple(map(_text, line.get("tags") or ()))
    if len(_text(line["content"])) > CONTENT_MOST or not _ID.fullmatch(_text(line["id"])):
        raise InvalidParams("the content is too long, or the id is none", fix="give the line as it was exported")
    for text in (line["content"], line["space"], line["entity"], *tags):
        if scan(_text(text)):
            raise InvalidParams("the text holds what looks like a secret", fix="leave it out")
    loss = line.get("loss")
    megram = Megram(
        id=MegramId(_text(line["id"])),
        space=_text(line["space"]),
        entity=normalised(_text(line["entity"])),
        content=_text(line["content"]),
        state=_text(line["state"]),
        f=float(line["f"]),
        sigma=float(line["sigma"]),
        k=float(line["k"]),
        created_at=timed(line["created_at"]),
        writer=Writer(line.get("writer", Writer.SOLVER.value)),
        level=Level(line.get("level", "M")),
        task_id=_id(line, "task_id"),
        mission_id=_id(line, "mission_id"),
        round=_number(line, "round", None),
        source_event_id=_id(line, "source_event_id"),
        loss=json.dumps(loss, separators=(",", ":")) if loss is not None else None,
        category=_id(line, "category"),
        tags=tags,
        derived_from=tuple(MegramId(_text(one)) for one in line.get("derived_from", ())),
        supersedes=MegramId(told) if (told := _id(line, "supersedes")) else None,
    )
    check_words(megram)
    recalled = line.get("last_recalled_at")
    one = Effective(megram=megram, level=megram.level, k=megram.k, origin=megram.created_at)
    one = replace(one, last_recalled_at=timed(recalled) if recalled else None, recalls=_number(line, "recalls", 0) or 0)
    events = [
        MegramEvent(
            megram_id=megram.id,
            kind=EventKind(event["kind"]),
            at=timed(event["at"]),
            level=Level(event["level"]) if event.get("level") else None,
            k=_rate(event.get("k")),
            into_id=MegramId(told) if (told := _id(event, "into_id")) else None,
            detail=json.dumps(event.get("detail", {})),
        )
        for event in line.get("events", ())
        if event["kind"] != EventKind.FORGOTTEN.value
    ]
    return one, events


def _id(line: dict[str, Any], name: str) -> str | None:
    value = line.get(name)
    if value is not None and (not isinstance(value, str) or len(value) > _NAME_MOST or not value.isprintable()):
        raise InvalidParams(f"{name} is no name", fix="give the line as it was exported")
    return value


def _number(line: dict[str, Any], name: str, default: int | None) -> int | None:
    value = line.get(name, default)
    if value is not None and (type(value) is not int or not 0 <= value < 1 << 31):
        raise InvalidParams(f"{name} is no number that can be", fix="give the line as it was exported")
    return value


def _rate(value: Any) -> float | None:
    if value is not None and (not isinstance(value, int | float) or not 0 <= value < float("inf")):
        raise InvalidParams("k of an event is none", fix="give the line as it was exported")
    return value


def _text(value: Any) -> str:
    if not isinstance(value, str) or not value.strip() or "\x00" in value:
        raise InvalidParams("a text is missing, blank or none", fix="give the line as it was exported")
    return value
