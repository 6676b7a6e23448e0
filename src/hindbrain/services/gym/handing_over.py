"""The relay: a first agent covers half of the work and stops; a second one ends it, from a hand-over or from nothing."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

from hindbrain.domain.gym_fixture import Finding, FixtureInfo
from hindbrain.domain.mission import Budget, MissionEvent
from hindbrain.engines.gym_agents import Action, View, greedy_reader
from hindbrain.services.gym.ports import LaneSession
from hindbrain.services.gym.stream import MissionStream, PaperStream
from hindbrain.services.gym.toolbox import Toolbox

__all__ = ["relayed"]

_FIRST, _SECOND = "relay-first", "relay-second"


def relayed(
    root: Path,
    info: FixtureInfo,
    budget: Budget,
    *,
    lane: str,
    clock: Callable[[], int],
    open_session: Callable[[str], LaneSession],
) -> dict[str, Any]:
    """Both halves. Only a lane with missions has a hand-over; every other second agent begins afresh."""
    if lane in ("short", "mission"):
        return _with_handover(root, info, budget, clock, open_session)
    first = PaperStream(lane, _FIRST, clock)
    half = Toolbox(root, info, budget, clock=clock, tell=first.told)
    _looked(half, _half(half), ())
    second = PaperStream(lane, _SECOND, clock)
    box = Toolbox(root, info, budget, clock=clock, tell=second.told)
    while (action := greedy_reader(box.view())).kind == "list" or action.target in _sources(box):
        box.do(action)
    return _fields(half, box, tuple(first.events), tuple(second.events), closed=True)


def _with_handover(
    root: Path, info: FixtureInfo, budget: Budget, clock: Callable[[], int], open_session: Callable[[str], LaneSession]
) -> dict[str, Any]:
    steps: set[str] = set()
    session = open_session(_FIRST)
    try:
        begun = session.call("mission.start", task=info.task, mode=info.mode.value, budget=info.budget)
        if not begun.get("ok"):
            return _nothing(f"the first mission did not start: {begun.get('error')}")
        first = MissionStream(session, str(begun["mission_id"]))
        half = Toolbox(root, info, budget, clock=clock, tell=first.told)
        _looked(half, _half(half), ())
        _proven(session, first, half.findings)
        handed = session.call("mission.handoff", mission_id=first.mission_id, summary="the first half of the sources was read")
        if not handed.get("ok"):
            return _nothing(f"the hand-over was refused: {handed.get('error')}")
        handoff = handed.get("handoff") or handed
        before = first.events()
    finally:
        session.close()
    steps |= {"start", "event", "verify", "handoff"}
    session = open_session(_SECOND)
    try:
        resumed = session.call("mission.resume", mission_id=str(handoff["handoff_id"]))
        if not resumed.get("ok"):
            return _nothing(f"the second agent could not resume: {resumed.get('error')}")
        second = MissionStream(session, str(resumed["mission_id"]))
        box = Toolbox(root, info, budget, clock=clock, tell=second.told)
        covered = tuple(str(one["path"]) for one in handoff.get("files_read", ()))
        _looked(box, None, covered)
        _proven(session, second, box.findings)
        closed = session.call("mission.close", mission_id=second.mission_id, summary="the rest was read")
        if not closed.get("ok"):
            closed = session.call("mission.close", mission_id=second.mission_id, force=True, reason="the work is done")
        events = second.events()
    finally:
        session.close()
    told = _fields(half, box, before, events, closed=bool(closed.get("ok")))
    return told | {"mission_id": second.mission_id, "steps": tuple(sorted(steps | {"close"}))}


def _half(box: Toolbox) -> int:
    """How many sources the first agent reads."""
    box.do(Action(kind="list", target="."))
    return (len(_sources(box)) + 1) // 2


def _sources(box: Toolbox) -> tuple[str, ...]:
    return View(task="", queries=(), files=box.files).sources


def _looked(box: Toolbox, most: int | None, covered: tuple[str, ...]) -> None:
    """Read sources in order, without those that are covered. A second agent asks for the listing itself."""
    if box.files is None:
        box.do(Action(kind="list", target="."))
    for path in [one for one in _sources(box) if one not in covered][:most]:
        if box.view().calls_left > 0 and box.view().files_left > 0:
            box.do(Action(kind="read", target=path))


def _proven(session: LaneSession, stream: MissionStream, findings: list[Finding]) -> None:
    for one in findings:
        stream.taken(
            session.call(
                "mission.verify",
                mission_id=stream.mission_id,
                claim=one.claim or one.statement,
                evidence_class="direct_source",
                evidence_refs=[f"direct_source:{one.path}:{one.line}"],
                targets=[one.path],
            )
        )


def _fields(
    half: Toolbox, box: Toolbox, before: tuple[MissionEvent, ...], events: tuple[MissionEvent, ...], *, closed: bool
) -> dict[str, Any]:
    """All sources were seen by one of the two, and every finding of both counts once."""
    known = {(one.path, one.symbol, one.kind) for one in half.findings}
    both = [*half.findings, *(one for one in box.findings if (one.path, one.symbol, one.kind) not in known)]
    numbered = tuple(_numbered(one, number) for number, one in enumerate(both, 1))
    seen = set(half.texts) | set(box.texts)
    done = closed and set(_sources(box)) <= seen
    return {
        "findings": numbered,
        "events": events,
        "parent_events": before,
        "completed": done,
        "closed": closed,
        "answer": {"sources_seen": len(seen), "first_half": sorted(half.texts), "second_half": sorted(box.texts)},
    }


def _numbered(finding: Finding, number: int) -> Finding:
    return Finding(
        finding_id=f"f{number}",
        path=finding.path,
        statement=finding.statement,
        repository=finding.repository,
        line=finding.line,
        symbol=finding.symbol,
        kind=finding.kind,
        reproduction=finding.reproduction,
        at_ms=finding.at_ms,
        claim=finding.claim,
    )


def _nothing(note: str) -> dict[str, Any]:
    return {"completed": False, "closed": False, "note": note[:500]}
