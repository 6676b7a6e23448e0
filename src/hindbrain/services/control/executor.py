"""R3: carries out one subtask with tools and reports to its validator. It judges nothing, remembers nothing beyond the subtask,
and begins again only when it is corrected."""

import json
import logging
import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeGuard

from hindbrain.domain.errors import BoundaryViolation, HindbrainError
from hindbrain.domain.message import MessageType, Role
from hindbrain.domain.notes import ConfirmationAnswer, ConfirmationRequest
from hindbrain.domain.task import CorrectionSignal, ExecutionMore, ExecutionResult, Record, Step, SubTask, ToolCall
from hindbrain.engines.hinting import call_for
from hindbrain.engines.reply import NoValue, first_value
from hindbrain.engines.tool_record import Repeats, cut_middle
from hindbrain.engines.transforming import BadTransform, afterwards, prepared
from hindbrain.policy.control import Params
from hindbrain.policy.experience import law_lines
from hindbrain.policy.tools import CONFIRM_S, CONTEXT_CUT, KEPT_CUT, NEAREST, OUTPUT_CUT, TOOLS
from hindbrain.services.control.ports import Heard, Mind, Voice
from hindbrain.services.control.tools import Toolbox, ToolGateway, ToolResult

__all__ = ["Executor"]

LOG = logging.getLogger("hindbrain.executor")
_PLAN_FIELDS = ("then", "then_args")
_SYSTEM = (
    "You carry out one subtask with tools. Answer with one JSON object and nothing else: either "
    '{"tool": NAME, "input": {...}} to call one tool, whose real result you are then shown, or '
    '{"status": "completed" | "uncertain" | "failed", "output": RESULT, "uncertainty": TEXT or null} to end. '
    "One call at a time. Report only what tools returned. If it cannot be done, end with failed and say exactly why."
)


@dataclass(slots=True)
class _Attempt:
    """How one attempt stands."""

    number: int
    repeats: Repeats = field(default_factory=Repeats)
    seen: list[str] = field(default_factory=list)  # what a model was shown, in order
    unread: int = 0  # answers in a row that could not be read


@dataclass(frozen=True, slots=True, kw_only=True)
class _End:
    status: str
    output: Any = None
    why: str | None = None


class Executor:
    """The plant of the fast loop: one subtask, one gateway to the tools. It lives as long as the subtask."""

    hears = frozenset({MessageType.SUB_TASK, MessageType.CORRECTION_SIGNAL})

    def __init__(
        self,
        voice: Voice,
        box: Toolbox,
        mind: Mind | None,
        params: Params,
        *,
        stopped: threading.Event | None = None,
        confirm_s: float = CONFIRM_S,
    ) -> None:
        if voice is None:
            raise BoundaryViolation("an executor without a voice", fix="Build the bus first, then the roles.")
        self._voice = voice
        self._box = box
        self._mind = mind
        self._params = params
        self._stopped = stopped or threading.Event()
        self._confirm_s = confirm_s
        self._subtask: SubTask | None = None
        self._tools: ToolGateway | None = None
        self._earlier: list[ToolCall] = []
        self._asked = 0

    def hear(self, heard: Heard) -> None:
        """Begin the subtask, or begin it again as the correction says."""
        record = heard.record
        if self._stopped.is_set():
            return
        if isinstance(record, SubTask) and self._subtask is None:
            self._subtask = record
            self._tools = ToolGateway(self._box, record, self._confirm, stopped=self._stopped)
            self._attempted(heard, record, self._tools, 1, None)
        elif self._tools is not None and self._subtask is not None and _concerns(record, self._subtask):
            self._attempted(heard, self._subtask, self._tools, record.attempt_number + 1, record)

    def _attempted(
        self, heard: Heard, subtask: SubTask, tools: ToolGateway, number: int, correction: CorrectionSignal | None
    ) -> None:
        tools.begin(number)
        try:
            end = self._thought(subtask, tools, _Attempt(number), correction)
            if end is None:
                end = self._planned(subtask, tools, correction)
        except HindbrainError as failure:
            end = _End(status="failed", why=f"{failure.code}: {failure.message}")
        self._earlier += tools.calls
        if self._stopped.is_set():
            return
        self._voice.say(
            Role.AGENT_VALIDATOR,
            ExecutionResult(
                subtask_id=subtask.subtask_id,
                status=end.status,  # type: ignore[arg-type]  # one of three, each written out where it is made
                output=cut_middle(end.output, KEPT_CUT) if isinstance(end.output, str) else end.output,
                uncertainty=end.why,
                tool_calls=tuple(tools.calls),
                x=ExecutionMore(attempt=number, outputs=dict(tools.outputs)),
            ),
            task_id=subtask.parent_task_id,
            because=heard,
        )

    def _confirm(self, *, tool: str, action: str, why: str) -> bool | None:
        """Ask the person about one action."""
        subtask = self._subtask
        if subtask is None:
            return None
        self._asked += 1
        request = ConfirmationRequest(
            task_id=subtask.parent_task_id,
            request_id=f"{subtask.subtask_id}-{self._asked}",
            subtask_id=subtask.subtask_id,
            tool=tool,
            action=action[:KEPT_CUT],
            why=why,
        )
        (answer,) = self._voice.ask(
            Role.USER,
            [request],
            task_id=subtask.parent_task_id,
            answers=MessageType.CONFIRMATION_ANSWER,
            timeout_s=self._confirm_s,
        )
        if not isinstance(answer, ConfirmationAnswer) or answer.request_id != request.request_id:
            return None
        return answer.allowed

    # --- by rules: the steps of the plan -----------------------------------------------------------------------------------

    def _planned(self, subtask: SubTask, tools: ToolGateway, correction: CorrectionSignal | None) -> _End:
        steps = subtask.x.steps if correction is None else None
        if steps is None:
            steps = self._hinted(subtask)
        if not steps:
            return _End(status="failed", why=_nothing_left(correction))
        outputs: list[str] = []
        complete = True
        for step in steps[: self._params.max_tool_calls]:
            try:
                given = prepared(step.input, outputs)
            except BadTransform as wrong:
                return _End(status="failed", output="\n".join(outputs) or None, why=f"{step.tool}: {wrong}")
            result = self._step(tools, step, given, outputs)
            if result.stops:
                return _End(status="failed", output="\n".join(outputs) or None, why=result.error)
            outputs.append(result.output)
            complete = complete and result.complete
        output = "\n".join(text for text, used in zip(outputs, _used(steps), strict=False) if not used)
        if len(steps) > self._params.max_tool_calls:
            return _End(status="uncertain", output=output, why=f"the limit of {self._params.max_tool_calls} calls is reached")
        if not complete:
            return _End(status="uncertain", output=f"{output}\n(only a part: there is more)", why="a tool gave only a part")
        return _End(status="completed", output=output)

    def _step(self, tools: ToolGateway, step: Step, given: Mapping[str, Any], outputs: Sequence[str]) -> ToolResult:
        extra = {key: step.input[key] for key in _PLAN_FIELDS if key in step.input}
        if step.input.get("transform") == "closest_line":
            extra[NEAREST] = step.input["args"]["name"]  # the record says that this file was only the nearest to the one named
        return tools.call(step.tool, given, then=lambda text: afterwards(step.input, text, outputs), extra=extra)

    def _hinted(self, subtask: SubTask) -> tuple[Step, ...]:
        """The first tool that was hinted at, with what the words name, and that was not called like this before. Where the plan
        had steps, words are no orders: only a tool that looks is tried with them."""
        planned = subtask.x.steps is not None
        before = {(call.tool, json.dumps(call.input, sort_keys=True)) for call in self._earlier}
        for hint in subtask.x.tool_hints:
            if planned and (hint not in TOOLS or TOOLS[hint].mutating):
                continue
            given = call_for(hint, subtask.intent, subtask.context)
            if given is not None and (hint, json.dumps(given, sort_keys=True)) not in before:
                return (Step(tool=hint, input=given),)
        return ()

    # --- with a model: one call a turn ---------------------------------------------------------------------------------------

    def _thought(
        self, subtask: SubTask, tools: ToolGateway, attempt: _Attempt, correction: CorrectionSignal | None
    ) -> _End | None:
        """None when no model answers the first question: the plan is then carried out as it stands."""
        if self._mind is None:
            return None
        while not self._stopped.is_set():
            thought = self._mind.think(
                Role.EXECUTOR,
                task_id=subtask.parent_task_id,
                system="\n".join((*law_lines(), _SYSTEM, _tools_told())),
                user=self._told(subtask, attempt, correction),
            )
            if thought is None:
                if not attempt.seen:
                    return None
                return _End(status="uncertain", output=_collected(attempt), why="no model answers any more")
            end = self._turn(thought.text, tools, attempt)
            if end is not None:
                return end
        return _End(status="failed", why="cancelled")

    def _turn(self, text: str, tools: ToolGateway, attempt: _Attempt) -> _End | None:
        """Act on one answer. What stands beside a call of a tool is dropped: no result but the tool's counts."""
        said = _read(text)
        if said is None:
            LOG.warning("an answer of R3's model could not be read: %r", text[:2000])
            attempt.unread += 1
            attempt.seen.append("Your last answer was not one JSON object.")
            # What could not be read may hold invented results: none of it is passed on.
            return _End(status="failed", output="parse error", why="parse error") if attempt.unread > 1 else None
        attempt.unread = 0
        if "tool" not in said:
            return _ended(said)
        name, given = str(said["tool"]), said.get("input") or {}
        if not isinstance(given, dict):
            given = {"input": given}
        repeat = attempt.repeats.next(name, given)
        if repeat.loops:
            return _End(status="failed", output=_collected(attempt) or None, why="executor loop")
        if not repeat.runs:
            attempt.seen.append(f"{name}: not run again, it is the same call as before. Use its result or do something else.")
            return None
        result = tools.call(name, given)
        attempt.seen.append(f"{result.call.tool} {json.dumps(result.call.input, ensure_ascii=False)}\n{_cut(result)}")
        if len(tools.calls) >= self._params.max_tool_calls:
            limit = self._params.max_tool_calls
            return _End(status="uncertain", output=_collected(attempt), why=f"the limit of {limit} calls is reached")
        return None

    def _told(self, subtask: SubTask, attempt: _Attempt, correction: CorrectionSignal | None) -> str:
        """What a model is asked with."""
        parts = [f"Subtask: {subtask.intent}"]
        parts += ["It is done when:", *(f"- {one.criterion}" for one in subtask.success_criteria)]
        if subtask.context:
            parts.append(f"Context:\n{cut_middle(subtask.context, CONTEXT_CUT)}")
        if subtask.x.steps:
            parts.append("Planned steps: " + "; ".join(f"{one.tool} {json.dumps(one.input)}" for one in subtask.x.steps))
        closed = (*subtask.x.must_not.tools, *subtask.x.must_not.targets)
        if closed:
            parts.append(f"Must not be used: {', '.join(closed)}")
        if correction is not None:
            parts += [
                f"The last attempt failed at: {correction.failed_criterion}",
                f"What was wrong: {correction.what_was_wrong}",
                f"What to do: {correction.what_to_do}",
                "Take another approach. Do not repeat these calls:",
                *(f"- {call.rendered}" for call in self._earlier),
            ]
        if attempt.seen:
            parts.append("So far in this attempt:\n" + cut_middle("\n\n".join(attempt.seen), CONTEXT_CUT))
        return "\n".join(parts)


def _concerns(record: Record, subtask: SubTask) -> TypeGuard[CorrectionSignal]:
    return isinstance(record, CorrectionSignal) and record.subtask_id == subtask.subtask_id


def _cut(result: ToolResult) -> str:
    return cut_middle(result.text, OUTPUT_CUT)


def _collected(attempt: _Attempt) -> str:
    return cut_middle("\n\n".join(attempt.seen), CONTEXT_CUT)


def _read(text: str) -> dict[str, Any] | None:
    """The first JSON object of an answer: a call, or an end. Anything after it, and anything beside a call, is not read."""
    try:
        said = first_value(text)
    except NoValue:
        return None
    if isinstance(said, list):
        said = next((one for one in said if isinstance(one, dict)), None)
    if not isinstance(said, dict) or not ({"tool", "status"} & set(said)):
        return None
    return said


def _ended(said: Mapping[str, Any]) -> _End:
    status = said["status"] if said.get("status") in ("completed", "uncertain", "failed") else "uncertain"
    why = said.get("uncertainty")
    if status == "failed" and not why:
        why = str(said.get("output") or "the model gave up without a reason")
    return _End(status=status, output=said.get("output"), why=None if why is None else str(why))


def _tools_told() -> str:
    lines = ["Tools, the first that can do it is to be used:"]
    for tool in TOOLS.values():
        fields = ", ".join(f"{name}{'' if one.needed else '?'}: {one.about}" for name, one in tool.fields.items())
        lines.append(f"- {tool.name}: {tool.about}. Input: {fields}")
    return "\n".join(lines)


def _used(steps: Sequence[Step]) -> list[bool]:
    """Which outputs a later step took up: those are not the result."""
    used = [False] * len(steps)
    for number, step in enumerate(steps):
        asked = [value for key, value in step.input.items() if key.endswith("_from")]
        for args in (step.input.get("args"), step.input.get("then_args")):
            asked += [one["step"] for one in (args or {}).values() if isinstance(one, dict) and "step" in one]
        for source in asked:
            if source == "previous" and number:
                used[number - 1] = True
            elif source == "all":
                used[:number] = [True] * number
            elif isinstance(source, int) and 1 <= source <= number:
                used[source - 1] = True
    return used


def _nothing_left(correction: CorrectionSignal | None) -> str:
    if correction is None:
        return "the plan has no steps, and no hint names what to do"
    return f"no other way is known without a model: {correction.what_was_wrong}"
