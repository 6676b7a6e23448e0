"""Pass conditions of the families: what a lane's run is worth against the private key. Pure; numbers of metrics are elsewhere."""

import fnmatch
from dataclasses import dataclass

from hindbrain.domain.gym_fixture import AnswerKey, GymFamily, LaneRun
from hindbrain.domain.mission import AGENT_STARTED, EventType, Family, MissionEvent
from hindbrain.engines.gym_key import matched
from hindbrain.policy.gym import CLAIMS_SHOWN_LEAST

__all__ = ["ClaimCounts", "FamilyScore", "claim_verdicts", "scored"]

_SEEDED = frozenset(
    {
        GymFamily.SEEDED_BUG_HUNT,
        GymFamily.CODE_REVIEW,
        GymFamily.DOCS_DRIFT,
        GymFamily.RELEASE_READINESS,
        GymFamily.LIGHT_BINDING,
        GymFamily.HANDOFF_RESUME,
    }
)
_DIGITS = 9


@dataclass(frozen=True, slots=True, kw_only=True)
class FamilyScore:
    """How far the condition of a family is met: a share, None where only a judge can say, and why."""

    score: float | None
    says: tuple[str, ...]
    extra: int = 0  # findings that the key does not know

    @property
    def passed(self) -> bool:
        return self.score == 1.0


@dataclass(frozen=True, slots=True, kw_only=True)
class ClaimCounts:
    """How many claims a fixture has, how many of them a lane verified, and which of these are not true."""

    claims: int
    judged: int
    true: int
    verified: int
    verified_true: int
    wrong: tuple[str, ...]


def scored(key: AnswerKey, run: LaneRun) -> FamilyScore:
    """The condition of the run's family."""
    if not run.valid:
        return FamilyScore(score=None, says=(f"the lane does not count: {run.invalid_reason}",))
    if key.family in _SEEDED:
        return _recall(key, run)
    if key.family is GymFamily.HOST_RECOVERY:
        return _states(key, run)
    if key.family is GymFamily.MULTI_REPO_ORIENTATION:
        return _orientation(key, run)
    if key.family is GymFamily.BOUNDED_REFACTOR:
        return _refactor(key, run)
    if key.family is GymFamily.CLAIM_SUPPORT:
        return _claims(key, run)
    return FamilyScore(score=None, says=("there is no key: a judge rules on what was found",), extra=len(run.findings))


def _recall(key: AnswerKey, run: LaneRun) -> FamilyScore:
    found = matched(key, run.findings)
    missing = [seed.seed_id for seed in key.seeds if seed.seed_id not in found.values()]
    share = round(len(found) / len(key.seeds), _DIGITS) if key.seeds else None
    says = [f"{len(found)} of {len(key.seeds)} found", *([f"not found: {', '.join(missing)}"] if missing else [])]
    if key.family is GymFamily.HANDOFF_RESUME and share is not None:
        read, again = _again(run)
        share = round(share * (1 - again / read if read else 1) if run.completed else 0.0, _DIGITS)
        says += [f"{again} of {read} files were read again"] if again else []
        says += [] if run.completed else ["the work was not ended"]
    if key.family is GymFamily.LIGHT_BINDING and share is not None:
        # The condition is that all bindings are right: to call every binding stale is no answer.
        wrong = sum(not matched(key, [one]) for one in run.findings)
        share = round(len(found) / (len(key.seeds) + wrong), _DIGITS)
        says += [f"reported as stale, and not stale: {wrong}"] if wrong else []
    return FamilyScore(score=share, says=tuple(says), extra=len(run.findings) - len(found))


def _again(run: LaneRun) -> tuple[int, int]:
    """Files the second agent read, and those of them that the first had read."""
    before = {one.target for one in run.parent_events if one.event_type is EventType.FILE_READ}
    own = [one.target for one in run.events if one.event_type is EventType.FILE_READ and one.actor.startswith(AGENT_STARTED)]
    return len(own), sum(target in before for target in own)


def _states(key: AnswerKey, run: LaneRun) -> FamilyScore:
    """A state is right with its diagnosis, the step its plan must have, and nothing claimed that was not seen."""
    answers, wrong = run.answer.get("states") or {}, []
    for name, expected in key.expects["states"].items():
        told = answers.get(name) or {}
        if told.get("diagnosis") != expected["diagnosis"]:
            wrong.append(f"{name}: {told.get('diagnosis')} instead of {expected['diagnosis']}")
        elif expected["required"] and not any(expected["required"] in step for step in told.get("plan", ())):
            wrong.append(f"{name}: the plan lacks {expected['required']}")
        elif claimed := sorted(set(told.get("claims", ())) & set(expected["forbidden"])):
            wrong.append(f"{name}: claims {', '.join(claimed)}")
    total = len(key.expects["states"])
    return FamilyScore(score=round((total - len(wrong)) / total, _DIGITS), says=tuple(wrong) or (f"all {total} states",))


def claim_verdicts(key: AnswerKey, run: LaneRun) -> ClaimCounts | None:
    """What a lane verified of the claims of its fixture; None in other families."""
    truth = key.expects.get("claims") if key.family is GymFamily.CLAIM_SUPPORT else None
    if not isinstance(truth, dict):
        return None
    told = run.answer.get("verdicts")
    verdicts = told if isinstance(told, dict) else {}
    verified = [name for name in truth if verdicts.get(name) == "verified_for_mission"]
    return ClaimCounts(
        claims=len(truth),
        judged=sum(name in verdicts for name in truth),
        true=sum(said == "true" for said in truth.values()),
        verified=len(verified),
        verified_true=sum(truth[name] == "true" for name in verified),
        wrong=tuple(name for name in verified if truth[name] != "true"),
    )


def _claims(key: AnswerKey, run: LaneRun) -> FamilyScore:
    """No claim is verified that is false or half true, and of the true ones at least the share that is asked for."""
    counts = claim_verdicts(key, run)
    if counts is None or not counts.true:
        return FamilyScore(score=None, says=("the key names no claims",))
    says = [f"{counts.verified_true} of {counts.true} true claims verified, {len(counts.wrong)} others"]
    if counts.judged < counts.claims:
        says.append(f"{counts.claims - counts.judged} claims were not judged")
    if counts.wrong:
        return FamilyScore(score=0.0, says=(*says, f"verified and not true: {', '.join(counts.wrong[:10])}"))
    share = counts.verified_true / counts.true / CLAIMS_SHOWN_LEAST
    return FamilyScore(score=round(min(1.0, share), _DIGITS), says=tuple(says))


def _orientation(key: AnswerKey, run: LaneRun) -> FamilyScore:
    target, wrong = key.expects["target"], []
    if run.answer.get("repository") != target["repository"]:
        wrong.append(f"{run.answer.get('repository')} is not the repository")
    if run.answer.get("path") not in target["paths"]:
        wrong.append(f"{run.answer.get('path')} is not the file")
    named, used = _first(run.events, hypothesis=True), _first(run.events, hypothesis=False)
    if used is not None and (named is None or used < named):
        wrong.append("something was retrieved before the repository was named")
    return FamilyScore(score=0.0 if wrong else 1.0, says=tuple(wrong) or ("the right place, named first",))


def _first(events: tuple[MissionEvent, ...], *, hypothesis: bool) -> int | None:
    fits = (
        one.seq for one in events if (one.event_type is EventType.HYPOTHESIS if hypothesis else one.tool_family is Family.GRAPH)
    )
    return next(fits, None)


def _refactor(key: AnswerKey, run: LaneRun) -> FamilyScore:
    expects, wrong = key.expects, []
    paths = [path.partition("/")[2] for path in run.changed_paths]
    if run.tests_passed is not True:
        wrong.append("the tests do not pass")
    if outside := [path for path in paths if not any(fnmatch.fnmatch(path, one) for one in expects["bound"])]:
        wrong.append(f"changed outside of the bound: {', '.join(outside)}")
    if not paths:
        wrong.append("nothing was changed")
    if left := [path for path in run.answer.get("left", ()) if path.startswith(f"{expects['gone_below']}/")]:
        wrong.append(f"the old name is left in {', '.join(left)}")
    return FamilyScore(score=0.0 if wrong else 1.0, says=tuple(wrong) or ("changed within the bound, the tests pass",))
