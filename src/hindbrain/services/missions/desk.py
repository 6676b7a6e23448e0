"""The desk: what every part of the kernel needs to reach a caller's missions, and the checks that all of their texts pass."""

from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from hindbrain.domain.caller import Caller
from hindbrain.domain.errors import InvalidParams, Rejected
from hindbrain.services.brains import Brains, OpenBrain
from hindbrain.services.evidence_guard import traces_of
from hindbrain.services.gateway import Gateway, strings_in
from hindbrain.services.missions.log import MissionLog
from hindbrain.services.routing import Router

__all__ = ["Desk", "check_meant", "chosen"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Desk:
    """Brains, routing, the gate for texts, and the log."""

    brains: Brains
    router: Router
    gateway: Gateway
    log: MissionLog

    @contextmanager
    def opened(self, caller: Caller) -> Iterator[OpenBrain]:
        """The brain in which this caller's missions live."""
        with self.brains.use(self.router.write_route(caller)) as opened:
            yield opened

    def check(self, opened: OpenBrain, texts: Iterable[str | None]) -> None:
        """Sizes, encoding, secrets and rejected values of what a caller wants to have kept."""
        said = [text for text in texts if text]
        for text in said:
            self.gateway.check_text(text)
        self.gateway.check_hygiene(opened, said, site="mission")
        self.check_values(opened, said)

    def check_values(self, opened: OpenBrain, texts: Iterable[str]) -> None:
        """Refuse what a person rejected or had forgotten here. Secrets of events are masked, not refused."""
        if self._buried(opened, texts):
            raise Rejected("this value was rejected or forgotten here", fix="state what holds instead")

    def kept_of(self, opened: OpenBrain, inherited: Mapping[str, Any]) -> tuple[dict[str, Any], int]:
        """What a mission may have from others, without what was rejected since; how much was left out."""
        kept, left_out = dict(inherited), 0
        for name, items in inherited.items():
            if isinstance(items, list | tuple):
                kept[name] = tuple(one for one in items if not self._buried(opened, strings_in(one)))
                left_out += len(items) - len(kept[name])
        return kept, left_out

    def _buried(self, opened: OpenBrain, texts: Iterable[str]) -> bool:
        salt = self.gateway.salt(opened)
        marks = dict.fromkeys(mark for text in texts for mark, _, _ in traces_of(text, salt))
        return bool(marks and opened.store.tombstones(list(marks)))


def check_meant(mission_id: str, event: Mapping[str, Any] | None) -> None:
    """An event that names its mission is of that mission and of no other."""
    named = (event or {}).get("mission_id")
    if named is not None and named != mission_id:
        raise InvalidParams(f"the event is of {str(named)[:80]!r}, the mission is {mission_id}", fix="leave mission_id out of it")


def chosen(allowed: Iterable[str], value: str, name: str) -> str:
    """One of the allowed values, or a refusal that names them."""
    known = list(allowed)
    if value not in known:
        raise InvalidParams(f"{name} {value[:40]!r} is not known", fix=f"use one of {', '.join(known)}", allowed=known)
    return value
