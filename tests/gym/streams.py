"""Hand-made lanes: a key with planted defects, findings that name them, and events as a lane would have recorded them."""

from collections.abc import Iterable
from typing import Any

import msgspec

from hindbrain.domain.gym import LaneScore, Report, Round, RoundLane
from hindbrain.domain.gym_fixture import LANES, AnswerKey, Arm, Finding, FixtureInfo, GymFamily, LaneRun, Seed
from hindbrain.domain.mission import MissionEvent, MissionMode
from hindbrain.engines.gym_arms import armed
from hindbrain.engines.gym_compare import accepted
from hindbrain.engines.gym_metrics import measured
from hindbrain.engines.gym_report import reported
from hindbrain.engines.moments import stamped
from tests.support.missions import chained, event
from tests.support.world import START_MS

__all__ = ["AT", "finding", "info", "key", "lane", "round_of", "run", "told"]

AT = START_MS


def key(seeds: int = 10, family: GymFamily = GymFamily.SEEDED_BUG_HUNT, **changes: Any) -> AnswerKey:
    """Defects d1, d2, … each in lines 10 to 11 of a file of its own."""
    planted = tuple(
        Seed(
            seed_id=f"d{n}",
            repository="r",
            path=f"src/f{n}.py",
            first_line=10,
            last_line=11,
            kind="wrong",
            statement=f"defect {n}",
        )
        for n in range(1, seeds + 1)
    )
    return AnswerKey(fixture="x", family=family, digest="sha256:x", seeds=planted, **changes)


def finding(number: int, *, at: int = 0, line: int = 10, name: str = "", **changes: Any) -> Finding:
    """Names the planted defect of that number, unless its line says otherwise."""
    given = {"finding_id": name or f"f{number}", "path": f"src/f{number}.py", "statement": f"found {number}", "line": line}
    return Finding(**given | {"at_ms": AT + at} | changes)


def told(kind: str, target: str | None = None, *, at: int = 0, **fields: Any) -> MissionEvent:
    """An event so many milliseconds after the lane began."""
    return event(kind, target, timestamp=stamped(AT + at), **fields)


def run(events: Iterable[MissionEvent] = (), findings: Iterable[Finding] = (), lane: str = "direct", **changes: Any) -> LaneRun:
    """A lane that counts and ended."""
    given: dict[str, Any] = {
        "fixture": "x",
        "lane": lane,
        "arm": LANES[lane].arm,
        "agent": LANES[lane].agent,
        "digest_locked": "sha256:x",
        "digest_before": "sha256:x",
        "digest_after": "sha256:x",
        "valid": True,
        "completed": True,
        "started_ms": AT,
        "ended_ms": AT + 1000,
        "findings": tuple(findings),
        "events": chained(events),
        "closed": True,
    }
    return LaneRun(**given | changes)


def lane(recall: tuple[int, int], first: int | None, *, name: str = "mission", fixture: str = "x", **changes: Any) -> LaneScore:
    """A scored lane with so many of so many found, the first after so many milliseconds."""
    found, of = recall
    ran = run(
        [told("file_read", "src/f1.py")],
        [finding(n, at=(first or 0) + n - 1) for n in range(1, found + 1)] if first is not None else (),
        lane=name,
        fixture=fixture,
    )
    scored = measured(key(of), ran, lane_id=f"{fixture}.{name}.1")
    return msgspec.structs.replace(scored, **changes)


def info(name: str, *, seeded: int = 10, digest: str = "sha256:1") -> FixtureInfo:
    return FixtureInfo(
        name=name,
        family=GymFamily.SEEDED_BUG_HUNT,
        title=f"the fixture {name}",
        mode=MissionMode.BUG_HUNT,
        budget="normal",
        task="find defects",
        repositories=("r",),
        digest=digest,
        seeded=seeded,
    )


def round_of(scores: Iterable[LaneScore], *, digest: str = "sha256:1", **changes: Any) -> Report:
    """A report with these lanes, made the way every report is and then given the scores."""
    lanes = tuple(scores)
    names = sorted({one.fixture for one in lanes})
    asked = Round(
        round_id=str(changes.pop("round_id", "rnd_A")),
        created_at=stamped(AT),
        version="1",
        policy_version="1",
        lanes=tuple(
            RoundLane(lane_id=one.lane_id, fixture=one.fixture, lane=one.lane, arm=Arm(one.arm), number=1) for one in lanes
        ),
        fixtures=tuple(info(name, digest=digest) for name in names),
    )
    made = reported(asked, {}, ())
    given: dict[str, Any] = {
        "lanes": lanes,
        "arms": armed(lanes),
        "by_fixture": {name: armed(one for one in lanes if one.fixture == name) for name in names},
        "acceptance": accepted(lanes),
        "complete": True,
        "missing": (),
        "warnings": (),
    }
    return msgspec.structs.replace(made, **given | changes)
