"""Late rooms: the parts of a house that most processes never need. Each is loaded and put together when it is first asked for."""

import threading
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar, cast

from hindbrain.domain.caller import Caller
from hindbrain.domain.errors import NotReady

if TYPE_CHECKING:
    from hindbrain.services.battery import Battery
    from hindbrain.services.control.runs import Runs
    from hindbrain.services.cowork.room import Room
    from hindbrain.services.delegation_room import DelegationRoom
    from hindbrain.services.finding import Finding
    from hindbrain.services.gates.running import Gates
    from hindbrain.services.graph_room import GraphRoom
    from hindbrain.services.gym.gym import Gym
    from hindbrain.services.gym.ports import Opener
    from hindbrain.services.hooks.hooks import Hooks
    from hindbrain.services.hosting import Hosting
    from hindbrain.services.house import House
    from hindbrain.services.light_documents import LightDocuments
    from hindbrain.services.mailbox.letters import Letters
    from hindbrain.services.mailbox.mailbox import Mailbox
    from hindbrain.services.missions.asking import Asking
    from hindbrain.services.missions.kernel import Missions
    from hindbrain.services.missions.skill_room import SkillRoom
    from hindbrain.services.moving.moving import Moving
    from hindbrain.services.updating import Updating

__all__ = ["LateRooms"]

T = TypeVar("T")


class LateRooms:
    """The rooms that a house opens on demand."""

    def __init__(self) -> None:
        self.program: Path | None = None  # the directory that updates replace; without one, where this process runs from
        self.lane_opener: Opener | None = None  # a session on a home of a lane's own; the composition root gives it
        self._rooms: dict[str, Any] = {}
        self._rooms_lock = threading.RLock()

    @property
    def _house(self) -> "House":
        return cast("House", self)

    def _kept(self, name: str, make: Callable[[], T]) -> T:
        """A room that is put together once and remembers."""
        with self._rooms_lock:
            if name not in self._rooms:
                self._rooms[name] = make()
            return cast(T, self._rooms[name])

    @property
    def started_runs(self) -> "Runs | None":
        """The room of tasks, if this process has had one."""
        return self._rooms.get("runs")

    @property
    def letters(self) -> "Letters":
        """What is read from letters. Kept, for it remembers which files it has read."""
        from hindbrain.services.mailbox.letters import put_together

        house = self._house
        return self._kept("letters", lambda: put_together(house))

    @property
    def battery(self) -> "Battery":
        """Confusions as cases, which most processes never need."""
        from hindbrain.services.battery import Battery

        house = self._house
        return Battery(house.home, house.brains, house.router, house.gateway, self.letters.sweep, house.clock)

    @property
    def updating(self) -> "Updating":
        """Updates of the program; asked for at a terminal, now and then."""
        from hindbrain.services.updating import Updating

        house = self._house
        source = house.settings.text("update_source")
        return Updating(house.home, house.handshakes, house.clock, source=source, program=self.program)

    @property
    def hosting(self) -> "Hosting":
        """Changes to agent hosts; asked for at a terminal, now and then."""
        from hindbrain.services.hosting import Hosting

        house = self._house
        return Hosting(house.home, house.recovery, house.handshakes, house.clock)

    @property
    def delegation(self) -> "DelegationRoom":
        """Packets for children, and what they bring back."""
        from hindbrain.services.delegation_room import DelegationRoom

        house = self._house
        return DelegationRoom(house)

    @property
    def finding(self) -> "Finding":
        """What is asked of code and files; it loads arrays, which most processes never need."""
        from hindbrain.services.finding import Finding

        house = self._house
        return self._kept("finding", lambda: Finding(house.brains, house.router, house.graphs, house.projects, house.authority))

    @property
    def graph(self) -> "GraphRoom":
        """What is asked of graphs; it loads arrays and engines, which most processes never need."""
        from hindbrain.services.graph_room import GraphRoom

        house = self._house
        return self._kept("graph", lambda: GraphRoom(house.brains, house.router, house.graphs, house.authority, house.clock))

    @property
    def runs(self) -> "Runs":
        """Tasks that Hindbrain works on by itself; the whole control loop, which most processes never need."""
        from hindbrain.services.control.runs import put_together

        house = self._house
        return self._kept("runs", lambda: put_together(house, house._model_plan()))

    @property
    def cowork(self) -> "Room":
        """The bus of agents that work side by side, which most processes never need."""
        from hindbrain.services.cowork.room import put_together

        house = self._house
        return self._kept("cowork", lambda: put_together(house))

    @property
    def missions(self) -> "Missions":
        """Missions of connected agents; engines that most processes never need."""
        from hindbrain.services.missions.assembly import put_together

        house = self._house
        return self._kept("missions", lambda: put_together(house))

    @property
    def moving(self) -> "Moving":
        """What other programs remembered, on its way in; asked for once or twice in the life of a brain."""
        from hindbrain.services.moving.assembly import put_together

        house = self._house
        return put_together(house)

    @property
    def gym(self) -> "Gym":
        """Rounds of agents over fixtures, which most processes never need."""
        from hindbrain.services.gym.assembly import put_together

        house = self._house
        return put_together(house)

    @property
    def gates(self) -> "Gates":
        """The gates of the operating layer, which most processes never need."""
        from hindbrain.services.gates.running import Gates

        house = self._house
        if self.lane_opener is None:
            raise NotReady("this process opens no sessions for gates", fix="run hindbrain gate in a terminal")
        return Gates(house.home, self.gym, opener=self.lane_opener, clock=house.clock)

    @property
    def hooks(self) -> "Hooks":
        """What hosts are told at the events of their sessions."""
        from hindbrain.services.hooks.assembly import put_together

        house = self._house
        return put_together(house)

    @property
    def asking(self) -> "Asking":
        """The questions of an agent about its own work."""
        from hindbrain.services.missions.asking import Asking

        house = self._house
        return Asking(house.mission_desk, house.guard, house.recovery, explain=self._explained)

    @property
    def mailbox(self) -> "Mailbox":
        """Letters: the spool and its distribution into boxes."""
        from hindbrain.services.mailbox.mailbox import put_together

        house = self._house
        return put_together(house)

    @property
    def light(self) -> "LightDocuments":
        """Strategy documents; their check reads code, which most processes never need."""
        from hindbrain.services.light_documents import LightDocuments

        house = self._house
        return LightDocuments(house.brains, house.router, house.gateway, house.clock)

    @property
    def skills(self) -> "SkillRoom":
        """The skill library of a project."""
        from hindbrain.services.missions.skill_room import SkillRoom
        from hindbrain.services.missions.skills import Skills

        house = self._house
        return SkillRoom(house.mission_desk, Skills(house.experience, house.mission_log, house.gateway, house.clock))

    def _explained(self, caller: Caller, *, mission_id: str | None) -> dict[str, Any]:
        """Which rule gives the next move of a mission. The kernel is loaded when somebody asks."""
        return self.missions.advising.explain(caller, mission_id=mission_id)
