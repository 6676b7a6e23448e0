"""Comparing rounds: A against B number by number, the gate for changes of policy, the acceptance of the mission arm, and what a
list of recorded candidates would change. Says what may be claimed and what may not; changes nothing. Pure."""

from collections.abc import Iterable, Sequence

from hindbrain.domain.gym import Acceptance, ArmScore, Candidate, Comparison, Difference, Gate, LaneScore, Report, Tuning
from hindbrain.domain.gym_fixture import Arm
from hindbrain.engines.gym_arms import pooled
from hindbrain.policy.gym import ACCEPTED_FIXTURES, MEDIAN_TIME_MOST, METRICS, ROUND_NON_CLAIMS, Metric

__all__ = ["accepted", "compared", "differences", "gate", "tuned", "value"]

_DIGITS = 9


def value(arm: ArmScore, metric: Metric) -> float | None:
    """One number of an arm as it is compared: a share, a median, or the mean of a lane."""
    if metric.kind == "count":
        return arm.per_lane[metric.name]
    if metric.kind == "ms":
        return arm.first_good_finding_ms.median
    found: float | None = getattr(arm, metric.name)
    return found


def differences(a: ArmScore, b: ArmScore) -> tuple[Difference, ...]:
    """B against A in all ten metrics."""
    return tuple(_difference(metric, value(a, metric), value(b, metric)) for metric in METRICS)


def _difference(metric: Metric, a: float | None, b: float | None) -> Difference:
    if a is None or b is None:
        return Difference(metric=metric.name, a=a, b=b, change=None)
    change = round(b - a, _DIGITS)
    if metric.better is None:
        return Difference(metric=metric.name, a=a, b=b, change=change)
    ahead = change if metric.better == "more" else -change
    return Difference(metric=metric.name, a=a, b=b, change=change, better="b" if ahead > 0 else "a" if ahead < 0 else "same")


def gate(before: Report, after: Report, arms: tuple[Arm, Arm], bundled: Sequence[str]) -> Gate:
    """Recall equal or better and median time at most a fifth worse, over the bundled fixtures, each with the same content."""
    lacks = [
        *_lacks(before, arms[0], bundled),
        *_lacks(after, arms[1], bundled),
        *(f"fixture {name} is not the same in both rounds" for name in _unlike(before, after, bundled)),
    ]
    old, new = _over(before, arms[0], bundled), _over(after, arms[1], bundled)
    was, now = old.first_good_finding_ms.median, new.first_good_finding_ms.median
    says = list(lacks)
    if old.seeded_recall is None or new.seeded_recall is None:
        says.append("there is no recall to compare")
    elif new.seeded_recall < old.seeded_recall:
        says.append(f"recall fell from {old.seeded_recall:.3f} to {new.seeded_recall:.3f}")
    if was is None or now is None:
        says.append("there is no time of a first good finding to compare")
    elif round(now, _DIGITS) > round(was * MEDIAN_TIME_MOST, _DIGITS):
        says.append(f"the median time grew from {was:.0f} ms to {now:.0f} ms, more than a fifth")
    return Gate(
        passed=not says,
        says=tuple(says) or ("recall is not lower and the median time is not more than a fifth longer",),
        recall_before=old.seeded_recall,
        recall_after=new.seeded_recall,
        time_before_ms=was,
        time_after_ms=now,
        fixtures=tuple(bundled),
    )


def accepted(scores: Iterable[LaneScore]) -> Acceptance:
    """On how many fixtures the mission arm finds at least what the trained arm finds."""
    found: dict[str, dict[Arm, list[LaneScore]]] = {}
    for one in scores:
        if one.seeded:
            found.setdefault(one.fixture, {}).setdefault(one.arm, []).append(one)
    fine: list[str] = []
    worse: list[str] = []
    for name, arms in sorted(found.items()):
        ours, theirs = (
            pooled(arm, arms[arm]).seeded_recall if arm in arms else None for arm in (Arm.MISSION_CONTROL, Arm.TRAINED)
        )
        if ours is not None and theirs is not None:
            (fine if ours >= theirs else worse).append(name)
    met = len(fine) >= ACCEPTED_FIXTURES and not worse
    return Acceptance(
        met=met,
        needed=ACCEPTED_FIXTURES,
        not_worse=tuple(fine),
        worse=tuple(worse),
        says=f"mission recall is not worse than trained recall on {len(fine)} of {len(fine) + len(worse)} fixtures; "
        f"{ACCEPTED_FIXTURES} are needed, and none worse"
        if fine or worse
        else "no fixture had a lane of the trained arm and one of the mission arm: nothing was compared",
    )


def compared(a: Report, b: Report, *, arms: Sequence[tuple[Arm, Arm]], bundled: Sequence[str]) -> Comparison:
    """A against B for pairs of arms."""
    told: dict[str, tuple[Difference, ...]] = {}
    lanes: dict[str, tuple[int, int]] = {}
    gates: dict[str, Gate] = {}
    may: list[str] = []
    for left, right in arms:
        name = left.value if left is right else f"{left.value} / {right.value}"
        old, new = _arm(a, left), _arm(b, right)
        lanes[name] = (old.completed, new.completed)
        told[name] = differences(old, new)
        gates[name] = gate(a, b, (left, right), bundled)
        may += _may(name, old, new, told[name])
    return Comparison(
        a=a.round_id,
        b=b.round_id,
        pairs=tuple(told),
        lanes=lanes,
        differences=told,
        gates=gates,
        may_claim=tuple(may) or ("nothing: no number was measured on both sides",),
        may_not_claim=(*_cautions(a, b, arms), *ROUND_NON_CLAIMS),
    )


def tuned(baseline: Report, candidates: Sequence[Report], *, arm: Arm, bundled: Sequence[str]) -> Tuning:
    """Recorded candidates held against the round without a change, the best of those that pass first."""
    old = _arm(baseline, arm)
    made = []
    for one in candidates:
        new = _arm(one, arm)
        made.append((_rank(new), one, gate(baseline, one, (arm, arm), bundled), differences(old, new)))
    passing = sorted((rank, one.round_id) for rank, one, passed, _ in made if passed.passed)
    places = {name: number for number, (_, name) in enumerate(passing, 1)}
    best = passing[0][1] if passing else None
    return Tuning(
        baseline=baseline.round_id,
        arm=arm,
        candidates=tuple(
            Candidate(
                round_id=one.round_id,
                change=one.change or "(the round names no change)",
                gate=passed,
                differences=told,
                place=places.get(one.round_id, 0),
            )
            for _, one, passed, told in made
        ),
        best=best,
        says=(
            f"round {best} is the best that passes the gate" if best else "no candidate passes the gate",
            "nothing was changed: a change is made by hand, with a line in the policy notes that names the round",
        ),
    )


def _rank(arm: ArmScore) -> tuple[float, float, float]:
    time = arm.first_good_finding_ms.median
    return -(arm.seeded_recall or 0.0), time if time is not None else float("inf"), arm.per_lane["tool_calls"] or 0.0


def _arm(report: Report, arm: Arm) -> ArmScore:
    return next((one for one in report.arms if one.arm is arm), pooled(arm, ()))


def _over(report: Report, arm: Arm, fixtures: Sequence[str]) -> ArmScore:
    return pooled(arm, [one for one in report.lanes if one.arm is arm and one.fixture in fixtures])


def _lacks(report: Report, arm: Arm, bundled: Sequence[str]) -> list[str]:
    """What keeps a round from deciding anything: a bundled fixture without a lane that ended and counts."""
    ended = {one.fixture for one in report.lanes if one.arm is arm and one.valid and one.completed}
    return [f"round {report.round_id} has no {arm.value} lane on {name} that counts" for name in bundled if name not in ended]


def _unlike(a: Report, b: Report, bundled: Sequence[str]) -> list[str]:
    old, new = ({one.name: one.digest for one in report.fixtures} for report in (a, b))
    return [name for name in bundled if name in old and name in new and old[name] != new[name]]


def _may(name: str, old: ArmScore, new: ArmScore, told: Sequence[Difference]) -> list[str]:
    """Sentences that the numbers carry, each bound to its lanes."""
    titles = {one.name: one for one in METRICS}
    where = f"{name}, {old.completed} and {new.completed} completed lanes"
    said = []
    for one in told:
        if one.better is not None and one.a is not None and one.b is not None:
            word = {"a": "worse", "b": "better", "same": "the same"}[one.better]
            unit = " ms" if titles[one.metric].kind == "ms" else ""
            said.append(
                f"{titles[one.metric].title} of B is {word} in these rounds ({one.a:g}{unit} to {one.b:g}{unit}; {where})"
            )
    return said


def _cautions(a: Report, b: Report, arms: Sequence[tuple[Arm, Arm]]) -> list[str]:
    """What stands between these two rounds and any stronger sentence."""
    found = [f"that round {one.round_id} is whole: {len(one.missing)} lanes are missing" for one in (a, b) if not one.complete]
    if a.round_id != b.round_id and a.version != b.version:
        found.append(f"that only one thing changed: A ran version {a.version}, B {b.version}")
    if a.budget != b.budget:
        found.append(f"that the budgets were equal: {a.budget or 'of each fixture'} and {b.budget or 'of each fixture'}")
    shared = {one.name for one in a.fixtures} & {one.name for one in b.fixtures}
    if {one.name for one in (*a.fixtures, *b.fixtures)} != shared:
        found.append("that both ran the same fixtures")
    found += [f"that fixture {one} is the same in both" for one in _unlike(a, b, sorted(shared))]
    for left, right in arms:
        fewest = min(_arm(a, left).completed, _arm(b, right).completed)
        if fewest < ACCEPTED_FIXTURES:
            found.append(f"that {fewest} lanes are enough to tell a difference from chance")
    if any(_arm(one, arm).extra_unadjudicated for one, at in ((a, 0), (b, 1)) for arm in {pair[at] for pair in arms}):
        found.append("any precision: extra findings wait for a judge")
    return list(dict.fromkeys(found))
