"""The stage: a home, its repositories and a clock of its own, for whoever acts in the world. Every act is an ordinary call."""

import math
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from hindbrain.app import App
from hindbrain.domain.caller import AgentId, Caller, Channel, RootSource, SessionId
from hindbrain.domain.errors import InternalError, StoreUnavailable
from hindbrain.settings import Settings
from hindbrain.stores.home import Home
from hindbrain.surfaces.demo.repositories import line_of

__all__ = ["DAYS", "DAY_MS", "Actor", "Scene", "Stage", "WorldClock"]

DAY_MS = 86_400_000
DAYS = 21  # of history; day 0 is three weeks ago, day 21 today
_HOUR_MS = 3_600_000
_WORK = (7, 10)  # UTC: the hour at which a day begins, and how many it has
_TODAY_MS = 20 * 60_000  # what happens today began so long ago
_NOW_MS = 60_000  # and what is still going on, so long


class WorldClock:
    """Time that runs as always, from the moment it was set to."""

    def __init__(self, now: Callable[[], int] = lambda: time.time_ns() // 1_000_000) -> None:
        self._now = now
        self._begin = now()
        self._back = 10 * DAYS * DAY_MS  # how long ago it is on stage: before all that happens

    def __call__(self) -> int:
        return self._now() - self._back

    def moment(self, day: float) -> int:
        """The time of a day of the history: its fraction is a time of working hours. Day 21 is today, day 22 now."""
        if day >= DAYS:
            return self._begin - (_TODAY_MS if day < DAYS + 1 else _NOW_MS)
        whole = math.floor(day)
        midnight = self._begin - self._begin % DAY_MS + (whole - DAYS) * DAY_MS
        return midnight + round((_WORK[0] + _WORK[1] * (day - whole)) * _HOUR_MS)

    def set(self, moment: int) -> None:
        """Go on from here. Time never runs backwards."""
        self._back = self._now() - max(moment, self())

    def forward(self, seconds: float) -> None:
        """Some time passes, but none that has not come yet."""
        self._back = max(0, self._back - round(seconds * 1000))


@dataclass(frozen=True, slots=True, kw_only=True)
class Scene:
    """Something that happens on a day of the history."""

    day: float
    name: str
    play: "Callable[[Stage], None]"


@dataclass(slots=True, kw_only=True)
class Actor:
    """One agent, or the person, in one repository."""

    stage: "Stage"
    caller: Caller

    def call(self, operation: str, /, **arguments: Any) -> dict[str, Any]:
        """One act that succeeds; the world has no other."""
        answer = self.try_call(operation, **arguments)
        if not answer.get("ok"):
            said = answer.get("error") or answer
            if isinstance(said, dict) and said.get("code") == StoreUnavailable.code:
                raise StoreUnavailable(said["message"], fix=said["fix"])  # a full disk is no defect of the tour
            raise InternalError(
                f"the world could not be made: {operation} answered {said}", fix="report it with the output of hindbrain doctor"
            )
        return answer

    def try_call(self, operation: str, /, **arguments: Any) -> dict[str, Any]:
        """One act that may be refused."""
        self.stage.settle()
        self.stage.clock.forward(self.stage.pace_s)
        return self.stage.app.call(operation, arguments, caller=self.caller)


@dataclass(slots=True, kw_only=True)
class Stage:
    """What every scene works with. `ids` has the notable things by name."""

    home: Path
    roots: dict[str, Path]
    clock: WorldClock = field(default_factory=WorldClock)
    ids: dict[str, str] = field(default_factory=dict)
    pace_s: float = 20.0  # between two acts
    _app: App | None = None

    @property
    def app(self) -> App:
        """The house in this process; the settings of whoever runs the tour have no say in it."""
        if self._app is None:
            self._app = App(Home(self.home), Settings({}), clock=self.clock)
        return self._app

    def settle(self) -> None:
        """Before time passes, what was said is written: a record that is written later bears the time at which it was said."""
        if self._app is not None:
            self._app.house.lines.settle_all()

    def close(self) -> None:
        if self._app is not None:
            self._app.close()
            self._app = None

    @contextmanager
    def pace(self, seconds: float) -> Iterator[None]:
        """Acts follow each other faster or slower for the block."""
        before, self.pace_s = self.pace_s, seconds
        try:
            yield
        finally:
            self.pace_s = before

    def agent(self, repository: str, name: str = "claude-code:agent") -> Actor:
        return self._actor(repository, name, Channel.AGENT)

    def person(self, repository: str) -> Actor:
        return self._actor(repository, "human:founder", Channel.HUMAN)

    def hook(self, repository: str, name: str = "claude-code:agent") -> Actor:
        """The hook of an agent's host, which tells what it saw."""
        return self._actor(repository, name, Channel.RUNTIME)

    def cite(self, repository: str, *places: tuple[str, str]) -> list[str]:
        """Lines of the repository as they are now, each by its file and a piece of its text."""
        return [f"{path}:{line_of(self.roots[repository] / path, text)}" if text else path for path, text in places]

    def _actor(self, repository: str, name: str, channel: Channel) -> Actor:
        caller = Caller(
            agent=AgentId(name),
            root=str(self.roots[repository]),
            root_source=RootSource.HEADER,
            session=SessionId(f"tour-{repository}-{name.replace(':', '-')}"),  # a session is bound to one repository
            channel=channel,
        )
        return Actor(stage=self, caller=caller)
