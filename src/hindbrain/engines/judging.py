"""Judging: from findings to the verdict on one attempt. Every criterion stands alone, all of them have to pass, and nothing
overrules that. A model may find; it does not decide."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Literal

import msgspec

from hindbrain.domain.task import (
    CheckSpec,
    Class,
    Criterion,
    ExecutionResult,
    FailedCriterion,
    FailureClass,
    GapPoint,
    Verdict,
    VerdictMore,
)
from hindbrain.engines.checking import Evidence, check
from hindbrain.engines.criteria import check_of, quoted
from hindbrain.engines.searching import forgivable, found_nothing, only_protected
from hindbrain.engines.showing import Shown, as_text, proving, words_of
from hindbrain.engines.supporting import unsupported
from hindbrain.policy.checks import ENVIRONMENTAL, INFRASTRUCTURE, LAW1, NO_CHECK

__all__ = [
    "Ending",
    "Found",
    "Judged",
    "Opinion",
    "accepted",
    "attempt_class",
    "classed",
    "contradicted",
    "ended_at_once",
    "judged",
    "mechanical",
    "not_shown",
    "point",
]


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """A verdict, what would help where it is a failure, and whether rules could tell at all."""

    verdict: Verdict
    remedy: str = ""
    open: bool = False  # no check covers it: a model may be asked
    of_output: bool = True  # whether it is about what was said, not about files or how a program ended


@dataclass(frozen=True, slots=True, kw_only=True)
class Ending:
    """What ends a subtask at once, whatever retries are left."""

    reason: str
    failure_class: Class


@dataclass(frozen=True, slots=True, kw_only=True)
class Judged:
    """The verdict on one attempt, and of what is to be corrected the first."""

    verdict: Literal["matched", "retry", "failed"]
    score: float
    verdicts: tuple[Verdict, ...]
    failure_class: FailureClass | None
    reason: str = ""
    failed: Verdict | None = None
    remedy: str = ""


class Opinion(msgspec.Struct, frozen=True, kw_only=True):
    """What a model says of one criterion. It is taken only where it rests on a call that was made."""

    criterion: str
    verdict: Literal["pass", "fail", "unclear"]
    mode: str | None = None
    failure_class: Class | None = None
    evidence: str = ""
    event_ids: tuple[str, ...] = ()
    what_to_do: str = ""


def ended_at_once(result: ExecutionResult, shown: Sequence[Shown]) -> Ending | None:
    """The rules that end a subtask, in their order: it was given up, its surroundings broke, a forbidden act was stopped."""
    if result.status == "failed":
        told = (result.uncertainty or as_text(result.output) or "the executor gave up").strip()
        return Ending(reason=_short(told), failure_class=_class_of([told, *_told(shown)], "logical"))
    last = shown[-1].call.error if shown else None
    for text in (result.uncertainty, last):
        if text is not None and any(word in text.lower() for word in INFRASTRUCTURE):
            return Ending(reason=_short(f"infrastructure: {text}"), failure_class="environmental")
    for one in shown:
        for line in "\n".join((one.text, one.call.error or "")).splitlines():
            if LAW1 in line:
                return Ending(reason=line.strip(), failure_class="environmental")
    return None


def mechanical(criteria: Sequence[Criterion], evidence: Evidence, intent: str) -> tuple[Found, ...]:
    """Each criterion by its check. What only asks that something came back is met by a search that rightly found nothing, or
    that was refused only where nobody may look."""
    refused = only_protected(evidence.shown)
    nothing = found_nothing(evidence.shown, intent)
    return tuple(
        replace(_one(criterion, evidence, refused, nothing), of_output=_of_output(check_of(criterion))) for criterion in criteria
    )


def _of_output(spec: CheckSpec | None) -> bool:
    return spec is None or spec.kind not in ("path_exists", "path_nonempty", "path_equals", "exit_status")


def _one(criterion: Criterion, evidence: Evidence, refused: tuple[Shown, ...], nothing: tuple[Shown, ...]) -> Found:
    spec = check_of(criterion)
    finding = check(spec, evidence) if spec is not None else None
    if finding is not None and finding.passed:
        return Found(verdict=_passed(criterion, finding.evidence, finding.event_ids))
    for searched, why in ((refused, "refused only in places of the system"), (nothing, "the search ran and gave nothing")):
        if searched and forgivable(spec) and (spec is not None or criterion.mode == "verifiable"):
            return Found(verdict=_passed(criterion, why, tuple(one.call.event_id for one in searched)))
    if finding is not None:
        return Found(verdict=not_shown(criterion, finding.evidence), remedy=finding.remedy)
    if criterion.mode == "plausible" and (literal := _literally(criterion, evidence)):
        return Found(verdict=_passed(criterion, "word for word in the output", literal))
    return Found(verdict=not_shown(criterion, NO_CHECK), remedy="Show it by a tool call that can be checked.", open=True)


def _literally(criterion: Criterion, evidence: Evidence) -> tuple[str, ...]:
    """The calls that show the quoted words of a criterion, or all of it, word for word."""
    wanted = quoted(criterion.criterion) or (criterion.criterion,)
    found: list[str] = []
    for words in wanted:
        ids = [one.call.event_id for one in proving(evidence.shown) if words.lower() in one.text.lower()]
        if not ids:
            return ()
        found += ids[-1:]
    return tuple(dict.fromkeys(found))


def accepted(criterion: Criterion, opinion: Opinion | None, event_ids: Iterable[str]) -> Found:
    """A model's opinion as a verdict. A mode is not its to change; a pass rests on a call, and what is unclear is no pass."""
    if opinion is None:
        return Found(verdict=not_shown(criterion, "the judge left it out"))
    if opinion.mode is not None and opinion.mode != criterion.mode:
        return Found(verdict=not_shown(criterion, f"the judge changed the mode to {_short(opinion.mode, 40)}"))
    remedy = opinion.what_to_do
    if opinion.verdict != "pass":
        told = opinion.evidence or ("it is unclear" if opinion.verdict == "unclear" else "the judge gives no reason")
        return Found(verdict=not_shown(criterion, told, opinion.failure_class or "logical"), remedy=remedy)
    known = set(event_ids)
    resting = tuple(one for one in opinion.event_ids if one in known)
    if not resting and criterion.mode == "verifiable":
        return Found(verdict=not_shown(criterion, f"passed without a call to rest on: {opinion.evidence}"), remedy=remedy)
    return Found(verdict=_passed(criterion, opinion.evidence, resting))


def contradicted(
    found: Sequence[Found], result: ExecutionResult, shown: Sequence[Shown], given: Iterable[str]
) -> tuple[Found, ...]:
    """The same, with what a false claim takes away: an output that says what no call shows meets no criterion about output."""
    told = [text for one in shown for text in (one.text, one.call.error or "", *words_of(one.call.input))]
    lacking = unsupported(result.output, told, given)
    if not lacking:
        return tuple(found)
    about = [n for n, one in enumerate(found) if one.of_output] or list(range(len(found)))
    evidence = f"the output says {', '.join(map(repr, lacking[:3]))}, and no call shows it"
    return tuple(
        Found(verdict=_struck(one.verdict, evidence), remedy="Say only what the tools gave.") if n in about else one
        for n, one in enumerate(found)
    )


def judged(found: Sequence[Found], shown: Sequence[Shown], ending: Ending | None = None) -> Judged:
    """One verdict of many. The class of a failure is that of its surroundings where anything says so."""
    told = _told(shown)
    verdicts = tuple(classed(one.verdict, told) for one in found)
    if ending is not None:
        lost = [one for one in verdicts if one.verdict == "fail"]
        # Given up although everything is shown: then the checks do not say all, and none of them is to stand for success.
        verdicts = tuple(_ended(one, ending) if not lost or one.verdict == "fail" else one for one in verdicts)
        return Judged(verdict="failed", score=0.0, verdicts=verdicts, failure_class=attempt_class(verdicts), reason=ending.reason)
    first = next((n for n, one in enumerate(verdicts) if one.verdict == "fail"), None)
    if first is None:
        if not verdicts:
            return Judged(
                verdict="failed", score=0.0, verdicts=(), failure_class=None, reason="there is no criterion to judge by"
            )
        return Judged(verdict="matched", score=1.0, verdicts=verdicts, failure_class=None)
    passed = sum(one.verdict == "pass" for one in verdicts)
    return Judged(
        verdict="retry",
        score=round(passed / len(verdicts), 9),
        verdicts=verdicts,
        failure_class=attempt_class(verdicts),
        reason=f"{verdicts[first].criterion}: {verdicts[first].evidence}",
        failed=verdicts[first],
        remedy=found[first].remedy or "Use another approach.",
    )


def classed(verdict: Verdict, told: Iterable[str]) -> Verdict:
    """A failure is one of the surroundings when its evidence or a call says so; never the other way round."""
    if verdict.verdict == "pass":
        return verdict
    klass = _class_of([verdict.evidence, *told], verdict.failure_class or "logical")
    return msgspec.structs.replace(verdict, failure_class=klass)


def attempt_class(verdicts: Iterable[Verdict]) -> FailureClass | None:
    """The class of an attempt; None when nothing failed."""
    classes = {one.failure_class for one in verdicts if one.verdict == "fail" and one.failure_class is not None}
    if len(classes) == 2:
        return "mixed"
    return next(iter(classes), None)


def point(attempt: int, one: Judged) -> GapPoint:
    """How far this attempt was."""
    failing = [verdict for verdict in one.verdicts if verdict.verdict == "fail"]
    return GapPoint(
        attempt=attempt,
        score=one.score,
        unmet_criteria=tuple(verdict.criterion for verdict in failing),
        failure_class=one.failure_class,
        failed_criteria=tuple(
            FailedCriterion(criterion=verdict.criterion, failure_class=verdict.failure_class) for verdict in failing
        ),
    )


def not_shown(criterion: Criterion, evidence: str, failure_class: Class = "logical") -> Verdict:
    """A failure."""
    return Verdict(
        criterion=criterion.criterion, mode=criterion.mode, verdict="fail", failure_class=failure_class, evidence=_short(evidence)
    )


def _passed(criterion: Criterion, evidence: str, event_ids: tuple[str, ...]) -> Verdict:
    return Verdict(
        criterion=criterion.criterion,
        mode=criterion.mode,
        verdict="pass",
        evidence=_short(evidence),
        x=VerdictMore(event_ids=event_ids),
    )


def _struck(verdict: Verdict, evidence: str, failure_class: Class = "logical") -> Verdict:
    return Verdict(
        criterion=verdict.criterion, mode=verdict.mode, verdict="fail", failure_class=failure_class, evidence=_short(evidence)
    )


def _ended(verdict: Verdict, ending: Ending) -> Verdict:
    surroundings = "environmental" in (verdict.failure_class, ending.failure_class)
    return _struck(verdict, ending.reason, "environmental" if surroundings else "logical")


def _told(shown: Sequence[Shown]) -> list[str]:
    """What the calls say of themselves: their snippet and their error. What was asked of them says nothing of what happened."""
    return [text for one in shown for text in (one.call.output_snippet, one.call.error or "") if text]


def _class_of(texts: Iterable[str], otherwise: Class) -> Class:
    joined = "\n".join(texts).lower()
    return "environmental" if any(word in joined for word in ENVIRONMENTAL) else otherwise


def _short(text: str, most: int = 300) -> str:
    plain = " ".join(text.split())
    return plain if len(plain) <= most else f"{plain[: most - 1]}…"
