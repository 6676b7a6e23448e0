"""Merging: one result of many outcomes, and whether it is what the task asked for. Only outcomes that all matched come here."""

from collections.abc import Sequence
from typing import Any

from hindbrain.domain.task import CheckSpec, Criterion, DispatchManifest, SubTaskOutcome, ToolCall, Verdict
from hindbrain.engines.checking import Evidence
from hindbrain.engines.criteria import check_of
from hindbrain.engines.judging import Found, mechanical, not_shown
from hindbrain.engines.showing import Shown, as_text, failed, words_of
from hindbrain.engines.supporting import unsupported, untouched
from hindbrain.policy.checks import DRIFT, DRIFT_CRITERION
from hindbrain.policy.tools import NEAREST, SNIPPET_CUT

__all__ = ["corrections", "drift", "evidence_of", "gap_summary", "invented", "merged", "summary", "task_found"]


def merged(outcomes: Sequence[SubTaskOutcome]) -> Any:
    """The data of all outcomes: a single output as it is, several in their order, each with what it was for."""
    if len(outcomes) == 1:
        return outcomes[0].output
    return [{"intent": one.intent, "output": one.output} for one in outcomes]


def evidence_of(outcomes: Sequence[SubTaskOutcome]) -> Evidence:
    """What the calls gave. Where snippets are whole they are all there is; where they were cut, the output stands in for them,
    which was compared with the whole text when its subtask was judged."""
    shown: list[Shown] = []
    for outcome in outcomes:
        cut = any(len(call.output_snippet) >= SNIPPET_CUT for call in outcome.tool_calls)
        own = [Shown(call=call, text=call.output_snippet) for call in outcome.tool_calls]
        bearer = next((n for n in reversed(range(len(own))) if not failed(own[n])), None)
        if cut and bearer is not None:
            call = own[bearer].call
            text = as_text(outcome.output)
            own[bearer] = Shown(call=call, text=text if call.output_snippet in text else f"{text}\n{call.output_snippet}")
        shown += own
    return Evidence(shown=tuple(shown))


def task_found(criteria: Sequence[Criterion], outcomes: Sequence[SubTaskOutcome], intent: str) -> tuple[Found, ...]:
    """Each criterion of the task by its check on what was merged, or by the same check of a subtask that passed. What is in a
    file, only the subtask's sensor saw: here nothing is looked at a second time."""
    direct = mechanical(criteria, evidence_of(outcomes), intent)
    return tuple(
        one if one.verdict.verdict == "pass" else _inherited(criterion, outcomes) or one
        for criterion, one in zip(criteria, direct, strict=True)
    )


def _inherited(criterion: Criterion, outcomes: Sequence[SubTaskOutcome]) -> Found | None:
    wanted = check_of(criterion)
    for outcome in outcomes:
        passed = {one.criterion: one for one in outcome.criteria_verdicts if one.verdict == "pass"}
        for own in outcome.success_criteria:
            verdict = passed.get(own.criterion)
            if verdict is not None and verdict.x.event_ids and _implies(own, check_of(own), criterion, wanted):
                told = Verdict(
                    criterion=criterion.criterion, mode=criterion.mode, verdict="pass", evidence=verdict.evidence, x=verdict.x
                )
                return Found(verdict=told)
    return None


def _implies(own: Criterion, has: CheckSpec | None, criterion: Criterion, wanted: CheckSpec | None) -> bool:
    if wanted is None or has is None:
        return wanted is None and has is None and own.criterion == criterion.criterion
    if wanted.args.get("absent"):
        return False  # that one part lacks it says nothing of the others
    if (has.kind, wanted.kind) == ("path_nonempty", "path_exists"):
        return bool(has.args.get("path") == wanted.args.get("path"))
    return has.kind == wanted.kind and has.args == wanted.args


def invented(outcomes: Sequence[SubTaskOutcome], manifest: DispatchManifest) -> tuple[str, ...]:
    """Values of outputs that no call of their subtask shows. Only where the calls are kept whole can this be said."""
    found: list[str] = []
    given = [manifest.task_spec.raw_input] if manifest.task_spec is not None else []
    for outcome in outcomes:
        if outcome.tool_calls and all(len(call.output_snippet) < SNIPPET_CUT for call in outcome.tool_calls):
            told = [text for call in outcome.tool_calls for text in _texts(call)]
            asked = [outcome.intent, *(one.criterion for one in outcome.success_criteria), *given]
            found += unsupported(outcome.output, told, asked)
    return tuple(dict.fromkeys(found))


def _texts(call: ToolCall) -> list[str]:
    return [call.output_snippet, call.error or "", *words_of(call.input)]


def drift(manifest: DispatchManifest, outcomes: Sequence[SubTaskOutcome]) -> Verdict | None:
    """A failure when the request names a file or quotes a word that neither the result nor a call nor a criterion takes up."""
    if manifest.task_spec is None:
        return None
    criteria = [one.criterion for one in manifest.task_criteria]
    criteria += [one.criterion for outcome in outcomes for one in outcome.success_criteria]
    checks = [one.x.check.args for one in manifest.task_criteria if one.x.check is not None]
    calls = [words for outcome in outcomes for call in outcome.tool_calls for words in (call.target, call.input)]
    said = [words for outcome in outcomes for words in (outcome.intent, *(call.output_snippet for call in outcome.tool_calls))]
    lost = untouched(manifest.task_spec.raw_input, (*(one.output for one in outcomes), criteria, checks, calls), said)
    if not lost:
        return None
    told = ", ".join(repr(name) for name in lost[:3])
    return not_shown(Criterion(criterion=DRIFT_CRITERION), f"{DRIFT}: the request names {told}, and nothing of the result does")


def corrections(outcomes: Sequence[SubTaskOutcome]) -> int:
    """How often the subtasks of a round were corrected."""
    return sum(max(len(one.gap_trajectory) - 1, 0) for one in outcomes)


def gap_summary(outcomes: Sequence[SubTaskOutcome], verdicts: Sequence[Verdict] = ()) -> str:
    """Why a round was not enough: the reasons of its failed subtasks, or the criteria that were rejected."""
    reasons = [one.failure_reason or one.subtask_id for one in outcomes if one.status == "failed"]
    reasons += [f"{one.criterion}: {one.evidence}" for one in verdicts if one.verdict == "fail"]
    return "; ".join(reasons)


def summary(outcomes: Sequence[SubTaskOutcome], verdicts: Sequence[Verdict]) -> str:
    """What was shown, in one line; only what was judged."""
    done = "; ".join(dict.fromkeys(one.intent for one in outcomes))
    told = f"{done}: {len(verdicts)} of {len(verdicts)} criteria shown by tool calls"
    return "\n".join((told, *_stand_ins(outcomes)))


def _stand_ins(outcomes: Sequence[SubTaskOutcome]) -> tuple[str, ...]:
    """The files that were used in place of one that the request names."""
    calls = [call for outcome in outcomes for call in outcome.tool_calls if call.error is None and NEAREST in call.input]
    return tuple(
        dict.fromkeys(f"Used {call.target} for {call.input[NEAREST]}." for call in calls if call.target != call.input[NEAREST])
    )
