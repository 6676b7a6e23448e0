"""Wrong bindings put in on purpose: a session of one repository is asked to work on another, and carries on."""

from pathlib import Path
from typing import Any

from hindbrain.domain.gym import Injected
from hindbrain.domain.gym_fixture import FixtureInfo
from hindbrain.domain.mission import MissionEvent
from hindbrain.domain.typed import converted
from hindbrain.services.gym.fixtures import Fixtures
from hindbrain.services.gym.ports import Opener

__all__ = ["injected"]


def injected(fixtures: Fixtures, info: FixtureInfo, opener: Opener, directory: Path, *, agent: str) -> tuple[Injected, ...]:
    """One injection for every repository beside the first; none where there is only one."""
    if len(info.repositories) < 2:
        return ()
    made = fixtures.make(info.name, directory / "injected")
    bound, *others = info.repositories
    found = []
    for asked in others:
        session = opener(directory / f"home-{asked}", made.repositories[bound], agent)
        try:
            session.call("ingest", path=str(made.repositories[bound]), project_root=str(made.repositories[bound]))
            begun = session.call(
                "mission.start", task=info.task, mode="orientation", budget="short", repo=str(made.repositories[asked])
            )
            if not begun.get("ok"):
                found.append(Injected(wrong=f"bound to {bound}, asked for {asked}", note=str(begun.get("error"))[:300]))
                continue
            mission = str(begun["mission_id"])
            # An agent that does not look where it is: it retrieves, and claims by what came back.
            session.call("seek", query=info.queries[0] if info.queries else info.task, mission_id=mission)
            events = _events(session.call("mission.export", mission_id=mission, format="events"))
            session.call(
                "mission.verify",
                mission_id=mission,
                claim="the place that is meant was found",
                evidence_class="graph_orientation",
                evidence_refs=[events[-1].event_id] if events else [],
            )
            events = _events(session.call("mission.export", mission_id=mission, format="events"))
            found.append(Injected(wrong=f"bound to {bound}, asked for {asked}", events=events))
        finally:
            session.close()
    return tuple(found)


def _events(answer: dict[str, Any]) -> tuple[MissionEvent, ...]:
    return tuple(converted(one, MissionEvent) for one in answer.get("data") or ())
