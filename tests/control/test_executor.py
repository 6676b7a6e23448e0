"""R3: one subtask, real tools, one call a turn; it reports what they gave and nothing else."""

import json
import threading
from pathlib import Path
from typing import Any

import pytest

from hindbrain.domain.errors import BoundaryViolation, ModelFailed
from hindbrain.domain.message import MessageType, Role
from hindbrain.domain.notes import ConfirmationAnswer, ConfirmationRequest, MemoryQuery
from hindbrain.domain.task import CorrectionSignal, ExecutionResult, MustNot, SubTask
from hindbrain.policy.control import DEFAULTS
from hindbrain.services.control.executor import Executor
from hindbrain.services.control.tools import Toolbox
from tests.support.plants import Scripted, box, plan
from tests.support.roles import RecordingVoice, heard


def call(tool: str, **given: Any) -> str:
    return json.dumps({"tool": tool, "input": given})


DONE = json.dumps({"status": "completed", "output": "done", "uncertainty": None})


class Plant:
    """An executor on a recording voice."""

    def __init__(self, place: Toolbox, mind: Any = None) -> None:
        self.voice = RecordingVoice(Role.EXECUTOR)
        self.stopped = threading.Event()
        self.executor = Executor(self.voice, place, mind, DEFAULTS, stopped=self.stopped, confirm_s=7.0)

    def run(self, subtask: SubTask) -> ExecutionResult:
        self.executor.hear(heard(subtask))
        return self.last

    def correct(self, subtask: SubTask, attempt: int = 1, wrong: str = "empty", do: str = "look elsewhere") -> ExecutionResult:
        self.executor.hear(
            heard(
                CorrectionSignal(
                    subtask_id=subtask.subtask_id,
                    attempt_number=attempt,
                    failed_criterion="it is done",
                    failure_class="logical",
                    what_was_wrong=wrong,
                    what_to_do=do,
                )
            )
        )
        return self.last

    @property
    def last(self) -> ExecutionResult:
        found: ExecutionResult = self.voice.last(MessageType.EXECUTION_RESULT)
        return found


def test_ctl_017_an_executor_needs_a_voice(tmp_path: Path) -> None:
    with pytest.raises(BoundaryViolation):
        Executor(None, box(tmp_path), None, DEFAULTS)  # type: ignore[arg-type]


def test_ctl_088_ctl_089_ctl_107_a_plan_is_carried_out_and_reported_to_its_validator_only(tmp_path: Path) -> None:
    plant = Plant(box(tmp_path, {"a.txt": "1\n2\n", "b.md": "x"}))

    result = plant.run(plan(("glob", {"query": "*.txt"}), ("read", {"path": "a.txt", "then": "count_lines"})))

    assert [(one.type, one.to) for one in plant.voice.log] == [(MessageType.EXECUTION_RESULT, Role.AGENT_VALIDATOR)]
    assert (result.subtask_id, result.status, result.uncertainty) == ("s1", "completed", None)
    assert result.output == "a.txt\n2"
    assert [one.tool for one in result.tool_calls] == ["glob", "read"]
    assert list(result.x.outputs.values()) == ["a.txt", "2"]
    assert result.tool_calls[1].input == {"path": "a.txt", "then": "count_lines"}


def test_ctl_107_a_step_takes_up_what_the_one_before_gave(tmp_path: Path) -> None:
    place = box(tmp_path, {"in.txt": "b\na\n"})
    plant = Plant(place)

    result = plant.run(
        plan(
            ("read", {"path": "in.txt"}),
            ("write", {"path": "out.txt", "content_from": "previous", "transform": "sort_lines"}),
            ("read", {"path": "out.txt"}),
        )
    )

    assert place.workspace.read("out.txt").text == "a\nb\n"
    assert result.status == "completed"
    assert result.output == "wrote 4 characters to out.txt\na\nb\n"  # what was only taken up is not the result


@pytest.mark.parametrize(
    ("hint", "intent", "output"),
    [
        ("glob", "list files that match *.txt", "a.txt"),
        ("read", "show a.txt", "needle\n"),
        ("search", "search for 'needle'", "a.txt:1: needle"),
        ("run", "run `wc -l a.txt`", "1 a.txt\n"),
    ],
)
def test_ctl_107_without_steps_the_hint_is_called_with_what_the_words_name(
    tmp_path: Path, hint: str, intent: str, output: str
) -> None:
    result = Plant(box(tmp_path, {"a.txt": "needle\n"})).run(plan(intent=intent, hints=(hint,)))

    assert (result.status, result.output) == ("completed", output)


def test_ctl_090_what_cannot_be_done_is_said_and_nothing_is_made_up(tmp_path: Path) -> None:
    place = box(tmp_path, {"table.csv": "a,a\n1,2\n"})

    missing = Plant(place).run(plan(("read", {"path": "gone.txt"}), ("write", {"path": "x", "content_from": "previous"})))
    broken = Plant(place).run(
        plan(("read", {"path": "table.csv"}), ("write", {"path": "x", "content_from": 1, "transform": "csv_to_json"}))
    )
    empty = Plant(place).run(plan(intent="think about it"))

    assert (missing.status, missing.output) == ("failed", None)
    assert missing.uncertainty == "gone.txt: no such file or directory"
    assert len(missing.tool_calls) == 1
    assert broken.status == "failed"
    assert "two columns" in str(broken.uncertainty)
    assert empty.status == "failed"
    assert place.workspace.changed().all == ()


def test_ctl_090_a_made_up_result_beside_a_call_is_dropped(tmp_path: Path) -> None:
    mind = Scripted(call("read", path="a.txt") + '\nResult: {"status": "completed", "output": "INVENTED"}', DONE)
    plant = Plant(box(tmp_path, {"a.txt": "real"}), mind)

    result = plant.run(plan())

    assert [one.output_snippet for one in result.tool_calls] == ["real"]
    assert "real" in mind.asked[1]
    assert "INVENTED" not in mind.asked[1]
    assert result.output == "done"


def test_ctl_094_of_two_calls_in_one_answer_only_the_first_runs(tmp_path: Path) -> None:
    both = call("read", path="a.txt") + "\n" + call("read", path="b.txt")
    listed = json.dumps([{"tool": "read", "input": {"path": "a.txt"}}, {"tool": "read", "input": {"path": "b.txt"}}])

    for answer in (both, listed):
        result = Plant(box(tmp_path, {"a.txt": "A", "b.txt": "B"}), Scripted(answer, DONE)).run(plan())
        assert [one.target for one in result.tool_calls] == ["a.txt"]


def test_ctl_093_a_model_is_shown_long_outputs_cut_and_all_of_it_within_8000(tmp_path: Path) -> None:
    files = {f"{n}.txt": str(n) * 9000 for n in range(4)}
    mind = Scripted(*(call("read", path=name) for name in files), DONE)

    Plant(box(tmp_path, files), mind).run(plan())

    assert "0" * 1333 + "\n…" in mind.asked[1]
    assert "…\n" + "0" * 2667 in mind.asked[1]
    assert "0" * 2668 not in mind.asked[1]
    collected = mind.asked[4].split("So far in this attempt:\n")[1]
    assert len(collected) < 8_100
    assert "characters left out" in collected


def test_ctl_095_ten_calls_end_an_attempt_as_uncertain_with_what_was_collected(tmp_path: Path) -> None:
    files = {f"{n}.txt": f"text {n}" for n in range(12)}
    mind = Scripted(*(call("read", path=name) for name in files))

    result = Plant(box(tmp_path, files), mind).run(plan())
    planned = Plant(box(tmp_path, files)).run(plan(*(("read", {"path": name}) for name in files)))

    for one in (result, planned):
        assert one.status == "uncertain"
        assert len(one.tool_calls) == 10
        assert "text 9" in one.output
        assert "limit of 10 calls" in str(one.uncertainty)


def test_ctl_096_the_same_call_again_is_warned_of_and_the_third_time_ends_the_attempt(tmp_path: Path) -> None:
    a, b = call("read", path="a.txt"), call("read", path="b.txt")
    files = {"a.txt": "A", "b.txt": "B"}
    looping, going = Scripted(a, a, a), Scripted(a, a, b, a, DONE)

    looped = Plant(box(tmp_path, files), looping).run(plan())
    went = Plant(box(tmp_path, files), going).run(plan())

    assert (looped.status, looped.uncertainty, len(looped.tool_calls)) == ("failed", "executor loop", 1)
    assert "the same call as before" in looping.asked[2]
    assert went.status == "completed"
    assert [one.target for one in went.tool_calls] == ["a.txt", "b.txt", "a.txt"]


def test_ctl_098_a_correction_reaches_the_model_with_every_earlier_call(tmp_path: Path) -> None:
    mind = Scripted(call("read", path="a.txt"), DONE, call("read", path="b.txt"), DONE, DONE)
    plant, subtask = Plant(box(tmp_path, {"a.txt": "A", "b.txt": "B"}), mind), plan()

    first = plant.run(subtask)
    second = plant.correct(subtask, 1, wrong="a.txt says nothing", do="read another")
    third = plant.correct(subtask, 2)

    told = mind.asked[2]
    assert "a.txt says nothing" in told
    assert "read another" in told
    assert first.tool_calls[0].rendered in told
    assert all(one.rendered in mind.asked[4] for one in (*first.tool_calls, *second.tool_calls))
    assert [one.x.attempt for one in (first, second, third)] == [1, 2, 3]
    assert [one.target for one in second.tool_calls] == ["b.txt"]
    assert len({one.call_id for one in (*first.tool_calls, *second.tool_calls)}) == 2


def test_ctl_098_without_a_model_a_correction_leads_to_another_call_or_to_an_honest_end(tmp_path: Path) -> None:
    plant = Plant(box(tmp_path, {"a.txt": "x"}))
    subtask = plan(("glob", {"query": "*.md"}), intent="find 'x' in a.txt", hints=("glob", "search"))

    plant.run(subtask)
    second = plant.correct(subtask, 1)
    third = plant.correct(subtask, 2)
    fourth = plant.correct(subtask, 3, wrong="still empty")

    assert [one.tool for one in second.tool_calls] == ["glob"]
    assert second.output == "a.txt"
    assert [one.tool for one in third.tool_calls] == ["search"]
    assert fourth.status == "failed"
    assert "still empty" in str(fourth.uncertainty)


def test_ctl_099_no_second_attempt_without_a_correction_of_this_subtask(tmp_path: Path) -> None:
    plant, subtask = Plant(box(tmp_path)), plan(("read", {"path": "none"}))

    plant.run(subtask)
    plant.run(subtask)
    plant.correct(plan(subtask_id="other"))

    assert len(plant.voice.said(MessageType.EXECUTION_RESULT)) == 1


def test_ctl_100_an_executor_has_no_way_to_memory(tmp_path: Path) -> None:
    plant = Plant(box(tmp_path))

    with pytest.raises(BoundaryViolation):
        plant.voice.say(Role.MEMORY, MemoryQuery(query_id="q", kind="C"), task_id="tsk_1")
    assert not {MessageType.MEMORY_RESPONSE, MessageType.MEGRAM} & plant.executor.hears


def test_ctl_106_an_answer_that_cannot_be_read_is_never_passed_on(tmp_path: Path) -> None:
    result = Plant(box(tmp_path), Scripted("The tests pass: 12 of 12.")).run(plan())

    assert (result.status, result.output, result.tool_calls) == ("failed", "parse error", ())
    assert "12 of 12" not in str(result)


def test_ctl_106_one_unreadable_answer_can_be_made_good(tmp_path: Path) -> None:
    mind = Scripted("well,", DONE)

    assert Plant(box(tmp_path), mind).run(plan()).output == "done"
    assert "was not one JSON object" in mind.asked[1]


def test_ctl_107_where_no_model_answers_the_plan_is_run_and_a_broken_one_is_named(tmp_path: Path) -> None:
    subtask = plan(("read", {"path": "a.txt"}))
    files = {"a.txt": "A"}

    silent = Plant(box(tmp_path, files), Scripted(None)).run(subtask)
    spent = Plant(box(tmp_path, files), Scripted(call("read", path="a.txt"), None)).run(subtask)
    failed = Plant(box(tmp_path, files), Scripted(ModelFailed("no provider answered"))).run(subtask)

    assert (silent.status, silent.output) == ("completed", "A")
    assert spent.status == "uncertain"
    assert failed.status == "failed"
    assert "no provider answered" in str(failed.uncertainty)


def test_ctl_102_ctl_292_a_person_is_asked_on_the_bus_once_for_each_action(tmp_path: Path) -> None:
    place = box(tmp_path, {"a.txt": "1", "b.txt": "2"})
    plant = Plant(place)

    def agree(question: Any) -> ConfirmationAnswer:
        return ConfirmationAnswer(
            task_id=question.task_id, request_id=question.request_id, allowed=question.action.endswith("a.txt")
        )

    plant.voice.answering(MessageType.CONFIRMATION_ANSWER, agree, agree)
    result = plant.run(plan(("run", {"command": "rm a.txt"}), ("run", {"command": "rm b.txt"})))
    questions: list[ConfirmationRequest] = plant.voice.said(MessageType.CONFIRMATION_REQUEST)

    assert [(one.tool, one.action, one.subtask_id) for one in questions] == [("run", "rm a.txt", "s1"), ("run", "rm b.txt", "s1")]
    assert len({one.request_id for one in questions}) == 2
    assert plant.voice.timeouts == [7.0, 7.0]
    assert place.workspace.changed().gone == ("a.txt",)
    assert result.status == "failed"
    assert str(result.uncertainty).startswith("[LAW1]")


def test_ctl_292_a_yes_to_another_question_is_no_yes(tmp_path: Path) -> None:
    place = box(tmp_path, {"a.txt": "1"})
    plant = Plant(place)
    plant.voice.answering(
        MessageType.CONFIRMATION_ANSWER, ConfirmationAnswer(task_id="tsk_1", request_id="an-earlier-one", allowed=True)
    )

    plant.run(plan(("delete", {"path": "a.txt"})))

    assert place.workspace.changed().all == ()


def test_ctl_075_ctl_101_a_model_that_calls_what_is_blocked_gets_told_so(tmp_path: Path) -> None:
    mind = Scripted(call("search", query="x"), DONE)

    result = Plant(box(tmp_path, {"a.txt": "x"}), mind).run(plan(must_not=MustNot(tools=("search",))))

    assert "[BLOCKED]" in mind.asked[1]
    assert "Must not be used: search" in mind.asked[0]
    assert str(result.tool_calls[0].error).startswith("[BLOCKED]")


def test_ctl_087_a_cancelled_executor_says_nothing_more(tmp_path: Path) -> None:
    plant = Plant(box(tmp_path, {"a.txt": "1"}))

    def cancel(question: Any) -> ConfirmationAnswer:
        plant.stopped.set()  # while a person is asked
        return ConfirmationAnswer(task_id=question.task_id, request_id=question.request_id, allowed=True)

    plant.voice.answering(MessageType.CONFIRMATION_ANSWER, cancel)
    plant.executor.hear(heard(plan(("delete", {"path": "a.txt"}))))

    assert plant.voice.said(MessageType.EXECUTION_RESULT) == []
    assert (tmp_path / "work" / "a.txt").exists()
