"""Defaults: whether contexts of a brain show opt-in cards by themselves, on what that rests, and how it is taken back. The value
and its basis live in the brain, in one transaction with the entry of the ledger that gave them."""

import json
from collections.abc import Callable, Sequence
from typing import Any

from hindbrain.domain.caller import Caller, Channel
from hindbrain.domain.errors import HumanNeeded, InvalidParams, StoreDamaged
from hindbrain.domain.ledger import Act
from hindbrain.domain.stored import stored_json
from hindbrain.engines.readiness import Standing, control, default_of, proposal, rollback
from hindbrain.policy.adoption import BASIS_KEY, CARD_CONTEXT, DEFAULT_KEY, READINESS, TEXT_MAX
from hindbrain.services.adoption import Adoption, Asked
from hindbrain.services.brains import Brains, OpenBrain
from hindbrain.services.evidence import iso
from hindbrain.services.gateway import Gateway
from hindbrain.services.routing import Router
from hindbrain.stores.port import Writer

__all__ = ["Defaults"]

_SET, _TAKEN_BACK = "default.set", "default.rolled_back"


class Defaults:
    """The defaults of a brain."""

    def __init__(
        self,
        brains: Brains,
        router: Router,
        gateway: Gateway,
        adoption: Adoption,
        clock: Callable[[], int],
    ) -> None:
        self._brains = brains
        self._router = router
        self._gateway = gateway
        self._adoption = adoption
        self._clock = clock

    def include_cards(self, opened: OpenBrain) -> bool:
        """Whether a context that says nothing about it shows opt-in cards here."""
        return self._standing(opened).on

    def show(self, caller: Caller) -> dict[str, Any]:
        """How the default stands, and on what it rests."""
        brain = self._router.route(caller).brain
        on, shown = False, None
        if brain is not None:
            with self._brains.use(brain) as opened:
                on = self._standing(opened).on
                basis = _basis(opened) if on else None
                shown = {**basis, "at": iso(basis["at"])} if basis is not None else None
        lines = [f"include_cards_default={str(on).lower()}"]
        if shown is not None:
            lines.append(f"on since {shown['at']}, with {shown['counts']['accepted']} accepted outcomes")
            lines += [f"take it back when: {one}" for one in shown["criteria"]]
        return {
            "ok": True,
            "schema": "hindbrain-defaults-v0",
            "writes": False,
            "brain": brain.name if brain is not None else None,
            "include_cards_default": on,
            "include_cards_basis": shown,
            "rendered": "\n".join(lines),
        }

    def propose(self, caller: Caller, *, candidate: str, criteria: Sequence[str], since: int | None) -> dict[str, Any]:
        """The default with what speaks for it and how to notice that it fails. Changes nothing."""
        default_of(candidate)
        found = self._proposal(caller, criteria, since)
        said = "\n".join([f"{CARD_CONTEXT}: {found['decision']}", *(f"- {one}" for one in found["reasons"])])
        return {"ok": True, "schema": "hindbrain-default-proposal-v0", **found, "rendered": said}

    def _proposal(self, caller: Caller, criteria: Sequence[str], since: int | None) -> dict[str, Any]:
        told = self._adoption.readiness(caller, CARD_CONTEXT, Asked(since=since))
        return proposal({key: value for key, value in told.items() if key not in ("ok", "schema", "rendered")}, criteria)

    def set(
        self, caller: Caller, *, candidate: str, enable: bool, disable: bool, criteria: Sequence[str], since: int | None
    ) -> dict[str, Any]:
        """Switch the default on or off. On needs a ready proposal in this same call."""
        default_of(candidate)
        if enable is disable:
            raise InvalidParams(
                "say either enable or disable" + (", not both" if enable else ""),
                fix="give exactly one of --enable and --disable",
            )
        brain = self._router.write_route(caller)
        with self._brains.use(brain) as opened:
            self._check(opened, criteria)
            found = self._decided(caller, opened, enable, criteria, since)
            if found["applied"]:
                with opened.store.writing() as writer:
                    # Where no other writer can come between: an outcome may have spoken against it a moment ago.
                    found = self._decided(caller, opened, enable, criteria, since)
                    if found["applied"]:
                        self._put(writer, caller, _SET, enable=enable, proposed=found.get("proposal"))
        state = f"{DEFAULT_KEY}={str(found['include_cards_default']).lower()} applied={str(found['applied']).lower()}"
        said = "\n".join([state, *(f"- {one}" for one in found["reasons"])])
        return {"ok": True, "schema": "hindbrain-default-control-v0", **found, "rendered": said}

    def _decided(
        self, caller: Caller, opened: OpenBrain, enable: bool, criteria: Sequence[str], since: int | None
    ) -> dict[str, Any]:
        proposed = self._proposal(caller, criteria, since) if enable else None
        return control(self._standing(opened), enable=enable, proposed=proposed)

    def rollback(self, caller: Caller, *, candidate: str, execute: bool) -> dict[str, Any]:
        """Whether outcomes ask for the default to be taken back; with `execute` a person takes it back."""
        rule = READINESS[default_of(candidate)]
        if execute and caller.channel is not Channel.HUMAN:
            raise HumanNeeded(
                f"taking a default back is a human act; this call came by the channel {caller.channel.value}",
                fix=f"ask a person to run it in a terminal: hindbrain defaults rollback {candidate} --execute",
            )
        wanted = Asked(track=rule.track.value, feature=rule.feature, signal="rollback")
        brain = self._router.write_route(caller) if execute else self._router.route(caller).brain
        if brain is None:
            return self._taken_back(rollback(Standing(on=False), (), execute=execute, filters=wanted.told()))
        with self._brains.use(brain) as opened:

            def decided() -> dict[str, Any]:
                events = opened.store.adoptions(track=rule.track, feature=rule.feature)
                return rollback(self._standing(opened), events, execute=execute, filters=wanted.told())

            found = decided()
            if found["applied"]:
                with opened.store.writing() as writer:
                    found = decided()
                    if found["applied"]:
                        self._put(writer, caller, _TAKEN_BACK, enable=False, proposed=None)
        return self._taken_back(found)

    @staticmethod
    def _taken_back(found: dict[str, Any]) -> dict[str, Any]:
        required, applied = str(found["rollback_required"]).lower(), str(found["applied"]).lower()
        said = "\n".join([f"rollback_required={required} applied={applied}", *(f"- {one}" for one in found["reasons"])])
        return {"ok": True, "schema": "hindbrain-rollback-control-v0", **found, "rendered": said}

    # -- in the brain ------------------------------------------------------------------------------------------------

    def _check(self, opened: OpenBrain, criteria: Sequence[str]) -> None:
        for one in criteria:
            self._gateway.check_text(one)
            if len(one) > TEXT_MAX:
                raise InvalidParams(f"a criterion has more than {TEXT_MAX} characters", fix="say it in a few sentences")
        self._gateway.check_hygiene(opened, criteria, site="defaults.set")

    def _put(self, writer: Writer, caller: Caller, act: str, *, enable: bool, proposed: dict[str, Any] | None) -> None:
        """The value, its basis and the entry that gives them. The entry has the counts; the words are in the basis only."""
        counts = proposed["readiness"]["review"]["stats"] if proposed is not None else {}
        criteria = proposed["rollback_criteria"] if proposed is not None else []
        payload: dict[str, Any] = {"include_cards": enable, **counts}
        payload |= {"criteria": len(criteria)} if enable else {}
        now = self._clock()
        entry = writer.append(
            Act(act=act, subject=DEFAULT_KEY, actor=caller.agent, channel=caller.channel, at=now, payload=payload)
        )
        basis = {"criteria": criteria, "counts": counts, "at": now, "by": caller.agent, "seq": entry.seq}
        writer.set_meta(DEFAULT_KEY, "true" if enable else "false")
        writer.set_meta(BASIS_KEY, json.dumps(basis, ensure_ascii=False, sort_keys=True) if enable else "")

    @staticmethod
    def _standing(opened: OpenBrain) -> Standing:
        """On only if the ledger has the entry that switched it on: a value that was forced in counts for nothing."""
        if opened.store.meta(DEFAULT_KEY) != "true" or (basis := _basis(opened)) is None:
            return Standing(on=False)
        seq = basis["seq"]
        entry = next(iter(opened.store.entries(after=seq - 1, limit=1)), None)
        backed = (
            entry is not None
            and (entry.seq, entry.act, entry.subject, entry.channel) == (seq, _SET, DEFAULT_KEY, Channel.HUMAN.value)
            and stored_json(entry.payload, "ledger")["include_cards"] is True
        )
        return Standing(on=backed, since_seq=seq if backed else 0)


def _basis(opened: OpenBrain) -> dict[str, Any] | None:
    """What the default rests on; None when there is nothing that can be read."""
    try:
        found = stored_json(opened.store.meta(BASIS_KEY) or "null", "meta")
    except StoreDamaged:
        return None
    return found if isinstance(found, dict) and isinstance(found.get("seq"), int) else None
