"""R4a: judges each attempt at one subtask and says either what to correct or how it ended. It runs nothing, merges nothing,
knows no memory; the gap that it measures is the only reason to try again."""

from collections.abc import Callable, Sequence
from typing import Any

import msgspec

from hindbrain.domain.errors import BoundaryViolation, HindbrainError
from hindbrain.domain.message import MessageType, Role
from hindbrain.domain.task import CorrectionSignal, Criterion, ExecutionResult, GapPoint, SubTask, SubTaskOutcome, ToolCall
from hindbrain.domain.typed import converted
from hindbrain.engines.checking import Evidence, PathFact, asked_paths, asked_texts
from hindbrain.engines.criteria import check_of
from hindbrain.engines.judging import (
    Ending,
    Found,
    Judged,
    Opinion,
    accepted,
    contradicted,
    ended_at_once,
    judged,
    mechanical,
    point,
)
from hindbrain.engines.moments import stamped
from hindbrain.engines.showing import Shown, as_text, shown_by
from hindbrain.policy.checks import SCORING_ERROR
from hindbrain.policy.control import Params
from hindbrain.policy.experience import law_lines
from hindbrain.services.control.ports import Heard, Mind, Voice

__all__ = ["AgentValidator", "Opinions"]

_SYSTEM = (
    "You judge whether tool calls show that criteria are met. The output is a claim, the tool calls are the truth. Judge each "
    "criterion alone. A pass names the event_ids of the calls that prove it. Looking after a failed action proves nothing. A "
    "failure is environmental when network, permissions, a missing file or a missing tool caused it, else logical."
)


class Opinions(msgspec.Struct, frozen=True, kw_only=True):
    """What a model is asked for. What it says of the whole is not read: that is counted."""

    verdicts: tuple[Opinion, ...]
    verdict: str | None = None


class AgentValidator:
    """The sensor and controller of one subtask's fast loop. It lives as long as the subtask."""

    hears = frozenset({MessageType.EXECUTION_RESULT})

    def __init__(
        self,
        voice: Voice,
        subtask: SubTask,
        paths: Callable[[str], PathFact],
        mind: Mind | None,
        params: Params,
        *,
        texts: Callable[[str], str | None] = lambda path: None,
    ) -> None:
        if voice is None:
            raise BoundaryViolation("a validator without a voice", fix="Build the bus first, then the roles.")
        self._voice = voice
        self._subtask = subtask
        self._paths = paths
        self._texts = texts
        self._mind = mind
        self._params = params
        self._points: list[GapPoint] = []
        self._calls: list[ToolCall] = []
        self._before: tuple[tuple[Found, ...], tuple[Shown, ...]] | None = None
        self.ended = False

    def stop(self) -> None:
        """Say no more: the task was cancelled."""
        self.ended = True

    def hear(self, heard: Heard) -> None:
        """Judge an attempt. Other subtasks' results, and what comes after the end, are nothing to it."""
        result = heard.record
        if self.ended or not isinstance(result, ExecutionResult) or result.subtask_id != self._subtask.subtask_id:
            return
        attempt = len(self._points) + 1
        self._calls += result.tool_calls
        one = self._judge(result, shown_by(result))
        self._points.append(point(attempt, one))
        if one.verdict == "retry" and one.failed is not None and attempt <= self._params.max_retries:
            self._voice.say(
                Role.EXECUTOR,
                CorrectionSignal(
                    subtask_id=self._subtask.subtask_id,
                    attempt_number=attempt,
                    failed_criterion=one.failed.criterion,
                    failure_class=one.failed.failure_class or "logical",
                    what_was_wrong=one.failed.evidence,
                    what_to_do=one.remedy,
                ),
                task_id=self._subtask.parent_task_id,
                because=heard,
            )
            return
        self._end(one, result, heard)

    def _end(self, one: Judged, result: ExecutionResult, heard: Heard) -> None:
        self.ended = True
        reason = one.reason
        if one.verdict == "retry":
            reason = (
                f"not matched after {len(self._points)} attempts, the limit of {self._params.max_retries} retries: {one.reason}"
            )
        self._voice.say(
            Role.META_VALIDATOR,
            SubTaskOutcome(
                subtask_id=self._subtask.subtask_id,
                parent_task_id=self._subtask.parent_task_id,
                intent=self._subtask.intent,
                success_criteria=self._subtask.success_criteria,
                status="matched" if one.verdict == "matched" else "failed",
                output=result.output,
                failure_reason=None if one.verdict == "matched" else reason,
                criteria_verdicts=one.verdicts,
                gap_trajectory=tuple(self._points),
                tool_calls=tuple(self._calls),
            ),
            task_id=self._subtask.parent_task_id,
            because=heard,
        )

    def _judge(self, result: ExecutionResult, shown: tuple[Shown, ...]) -> Judged:
        criteria = self._subtask.success_criteria
        specs = [spec for criterion in criteria if (spec := check_of(criterion)) is not None]
        asked = dict.fromkeys(path for spec in specs for path in asked_paths(spec, shown))
        read = dict.fromkeys(path for spec in specs for path in asked_texts(spec, shown))
        evidence = Evidence(
            shown=shown,
            paths={path: self._paths(path) for path in (*asked, *read)},
            texts={path: text for path in read if (text := self._texts(path)) is not None},
        )
        found = mechanical(criteria, evidence, self._subtask.intent)
        ending = ended_at_once(result, shown)
        if ending is not None and not shown and self._before is not None:
            # Given up without a call: nothing changed, so what the attempt before showed still stands.
            return judged(*self._before, ending)
        if ending is None and any(one.open for one in found):
            try:
                found = self._asked(found, result, shown)
            except (HindbrainError, msgspec.ValidationError) as failure:
                ending = Ending(reason=f"{SCORING_ERROR}: {failure}", failure_class="logical")
        if ending is None:
            given = (self._subtask.intent, self._subtask.context, *(criterion.criterion for criterion in criteria))
            found = contradicted(found, result, shown, given)
        self._before = (found, shown)
        return judged(found, shown, ending)

    def _asked(self, found: Sequence[Found], result: ExecutionResult, shown: Sequence[Shown]) -> tuple[Found, ...]:
        """The same, where a model has an opinion on what no check covers. Without a model the rules stand."""
        criteria = [criterion for criterion, one in zip(self._subtask.success_criteria, found, strict=True) if one.open]
        thought = (
            None
            if self._mind is None
            else self._mind.think(
                Role.AGENT_VALIDATOR,
                task_id=self._subtask.parent_task_id,
                system="\n".join((*law_lines(), _SYSTEM)),
                user=self._question(criteria, result, shown),
                schema=Opinions,
            )
        )
        if thought is None:
            return tuple(found)
        given = thought.data if isinstance(thought.data, Opinions) else converted(thought.data, Opinions)
        opinions = {one.criterion: one for one in given.verdicts}
        made = [one.call.event_id for one in shown]
        return tuple(
            accepted(criterion, opinions.get(criterion.criterion), made) if one.open else one
            for criterion, one in zip(self._subtask.success_criteria, found, strict=True)
        )

    def _question(self, criteria: Sequence[Criterion], result: ExecutionResult, shown: Sequence[Shown]) -> str:
        asked: dict[str, Any] = {
            "date": stamped(self._voice.now())[:10],
            "subtask": self._subtask.intent,
            "criteria": [{"criterion": one.criterion, "mode": one.mode} for one in criteria],
            "tool_calls": [
                {"event_id": one.call.event_id, "call": one.call.rendered, "error": one.call.error, "output": one.text[:4000]}
                for one in shown
            ],
            "claim": as_text(result.output)[:4000],
            "status": result.status,
        }
        return msgspec.json.encode(asked).decode()
