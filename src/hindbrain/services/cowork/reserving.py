"""Reserving: agents of one repository tell each other which files they are about to change.

A reservation belongs to the repository, whichever checkout it was made in: two checkouts meet again in a merge. It is advice. It
ends by itself, and whoever goes ahead all the same is free to, and both sides are told."""

import os
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import msgspec

from hindbrain.domain.agent_errors import PathReserved
from hindbrain.domain.caller import Caller
from hindbrain.domain.cowork import checked_name
from hindbrain.domain.errors import InvalidParams, PathRefused
from hindbrain.domain.reservation import Reservation
from hindbrain.engines.fence import shown
from hindbrain.engines.reserving import checked_pattern, conflicts, live, row, told
from hindbrain.policy.reservations import RESERVATIONS_MOST
from hindbrain.services.cowork.notices import Notices
from hindbrain.services.cowork.place import Buses
from hindbrain.services.cowork.recording import Recorder
from hindbrain.services.cowork.registry import known
from hindbrain.services.gateway import Gateway
from hindbrain.stores.bus_records import Bus
from hindbrain.stores.reservations import put_reservations, read_reservations

__all__ = ["Reserving", "Wanted"]


class Wanted(msgspec.Struct, frozen=True, kw_only=True):
    """What an agent wants to hold."""

    agent_id: str
    paths: tuple[str, ...]
    minutes: int
    shared: bool = False
    reason: str | None = None
    force: bool = False


class Reserving:
    """The reservations of repositories."""

    def __init__(self, buses: Buses, recorder: Recorder, notices: Notices, gateway: Gateway, clock: Callable[[], int]) -> None:
        self._recorder = recorder
        self._buses = buses
        self._notices = notices
        self._gateway = gateway
        self._clock = clock

    def reserve(self, caller: Caller, wanted: Wanted, *, project_root: str | None) -> dict[str, Any]:
        """Hold paths for a while. What was held already is held anew."""
        checked_name(wanted.agent_id, "agent_id")
        if wanted.reason is not None:
            self._gateway.check_text(wanted.reason)
        self._gateway.check_secrets((wanted.agent_id, wanted.reason or "", *wanted.paths), site="cowork.reserve")
        own = self._buses.of(caller, project_root)
        paths = self._patterns(own, wanted.paths)
        with own.look() as look:
            known(look.agents(), wanted.agent_id)
        repository = self._buses.repository(caller)
        now = self._clock()
        with repository.files.turn(make=True) as turn:
            held = live(read_reservations(turn), now)
            found = {path: conflicts(held, wanted.agent_id, path, shared=wanted.shared, literal=False) for path in paths}
            others = _distinct(one for ones in found.values() for one in ones)
            if others and not wanted.force:
                raise _in_the_way(others)
            over = {path: tuple(dict.fromkeys(one.agent_id for one in ones)) for path, ones in found.items()}
            before = {one.path: one.forced_over for one in held if one.agent_id == wanted.agent_id}
            made = [
                Reservation(
                    agent_id=wanted.agent_id,
                    path=path,
                    checkout=own.root,
                    made_ms=now,
                    until_ms=now + wanted.minutes * 60_000,
                    shared=wanted.shared,
                    reason=wanted.reason or None,
                    forced_over=tuple(dict.fromkeys((*before.get(path, ()), *over[path]))),
                )
                for path in paths
            ]
            kept = [one for one in held if one.agent_id != wanted.agent_id or one.path not in found]
            if len(kept) + len(made) > RESERVATIONS_MOST:
                raise InvalidParams(
                    f"a repository has {RESERVATIONS_MOST} reservations at most",
                    fix="reserve a directory, or release what is done",
                )
            put_reservations(turn, [*kept, *made])
        self._recorder.published(repository, caller, "reserve", agents=[wanted.agent_id])
        if others:
            self._tell(caller, own, wanted, made, others)
        return {
            "ok": True,
            "schema": "hindbrain-cowork-reserve-v0",
            "project": repository.root,
            "agent_id": wanted.agent_id,
            "reservations": [row(one) for one in made],
            "forced_over": sorted({one.agent_id for one in others}),
            "rendered": "\n".join(told(one) for one in made),
        }

    def release(self, caller: Caller, agent_id: str, paths: Sequence[str] | None, *, project_root: str | None) -> dict[str, Any]:
        """Let go of what an agent holds: of these paths as they were reserved, or of all."""
        checked_name(agent_id, "agent_id")
        own = self._buses.of(caller, project_root)
        wanted = None if paths is None else {path.rstrip("/") for path in self._patterns(own, paths)}
        repository = self._buses.repository(caller)
        now = self._clock()
        with repository.files.turn() as turn:
            before = read_reservations(turn)
            gone = [one for one in before if one.agent_id == agent_id and (wanted is None or one.path.rstrip("/") in wanted)]
            if gone:
                put_reservations(turn, [one for one in live(before, now) if one not in gone])
        if gone:
            self._recorder.published(repository, caller, "release", agents=[agent_id])
        released = live(gone, now)
        text = ", ".join(shown(one.path) for one in released)
        return {
            "ok": True,
            "schema": "hindbrain-cowork-release-v0",
            "project": repository.root,
            "agent_id": agent_id,
            "released": [one.path for one in released],
            "rendered": f"{agent_id} no longer holds {text}" if released else f"{agent_id} held nothing of that",
        }

    def listed(self, caller: Caller, *, agent_id: str | None, path: str | None, project_root: str | None) -> dict[str, Any]:
        """What is held now, by anybody or by one agent; with a path, what is in the way of it."""
        if agent_id is not None:
            checked_name(agent_id, "agent_id")
        repository, held = self.held(caller)
        if path is not None:
            pattern = self._patterns(self._buses.of(caller, project_root), (path,))[0]
            held = conflicts(held, None, pattern, shared=False, literal=False)
        held = [one for one in held if agent_id in (None, one.agent_id)]
        return {
            "ok": True,
            "schema": "hindbrain-cowork-reservations-v0",
            "project": repository.root,
            "reservations": [row(one) for one in held],
            "rendered": "\n".join(told(one) for one in held) or "nothing is reserved",
        }

    def held(self, caller: Caller) -> tuple[Bus, list[Reservation]]:
        """What is held in the caller's repository now."""
        repository = self._buses.repository(caller)
        with repository.files.look() as look:
            return repository, live(read_reservations(look), self._clock())

    def _patterns(self, own: Bus, paths: Sequence[str]) -> list[str]:
        """Paths as the repository has them; one that is absolute must lie in this checkout."""
        if not paths:
            raise InvalidParams("at least one path is needed", fix="name a file, a directory or a pattern such as src/*.py")
        found: dict[str, None] = {}
        for path in paths:
            inside = path
            if os.path.isabs(path):
                inside = os.path.relpath(path, own.root) if "\x00" not in path else path
                if inside.split("/")[0] == "..":
                    raise PathRefused(f"{shown(path)[:200]} is no path of this checkout", fix="give a path of the repository")
            try:
                pattern = checked_pattern(inside)
            except ValueError as wrong:
                raise InvalidParams(str(wrong), fix="give paths as git names them, such as src/worker.py or src/*.py") from wrong
            # What is a directory is meant as one; one that is not there yet is told by the slash at its end.
            directory = not pattern.endswith("/") and os.path.isdir(os.path.join(own.root, pattern))
            found[f"{pattern}/" if directory else pattern] = None
        return list(found)

    def _tell(self, caller: Caller, own: Bus, wanted: Wanted, made: Sequence[Reservation], others: Sequence[Reservation]) -> None:
        """Both sides hear that they now hold the same."""
        theirs = "; ".join(told(one) for one in others)
        mine = "; ".join(told(one) for one in made)
        self._notices.tell(caller, own, wanted.agent_id, f"you went ahead although {theirs}")
        for agent_id, checkout in dict.fromkeys((one.agent_id, one.checkout) for one in others):
            bus = own if checkout == own.root else self._buses.at(own, checkout)
            self._notices.tell(caller, bus, agent_id, f"{wanted.agent_id} went ahead over your reservation: {mine}")


def _in_the_way(others: Sequence[Reservation]) -> PathReserved:
    return PathReserved(
        "; ".join(told(one) for one in others[:5]) + ("; …" if len(others) > 5 else ""),
        fix="ask the holder with hindbrain cowork send, or wait until it ends; with force you go ahead and both are told",
        conflicts=[row(one) for one in others],
    )


def _distinct(found: Iterable[Reservation]) -> list[Reservation]:
    return list({(one.agent_id, one.path): one for one in found}.values())
