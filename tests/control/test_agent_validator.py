"""R4a: one subtask's attempts, judged by what the tool calls show."""

import ast
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from hindbrain.domain.errors import BoundaryViolation, ModelFailed
from hindbrain.domain.message import MessageType, Role
from hindbrain.domain.task import CorrectionSignal, ExecutionResult, SubTask, SubTaskOutcome
from hindbrain.engines.checking import PathFact
from hindbrain.policy.control import DEFAULTS, PATHS, Params
from hindbrain.services.control import agent_validator
from hindbrain.services.control.agent_validator import AgentValidator
from tests.support.attempts import criterion, result, shown, subtask
from tests.support.judges import Judge
from tests.support.roles import RecordingVoice, heard

NO_FILE: Callable[[str], PathFact] = lambda path: PathFact(exists=False)  # noqa: E731
A_FILE: Callable[[str], PathFact] = lambda path: PathFact(exists=True, size=5)  # noqa: E731

CORRECTION, OUTCOME = MessageType.CORRECTION_SIGNAL, MessageType.SUB_TASK_OUTCOME


def validator(
    task: SubTask, mind: Judge | None = None, paths: Callable[[str], PathFact] = NO_FILE, params: Params = DEFAULTS
) -> tuple[AgentValidator, RecordingVoice]:
    voice = RecordingVoice(Role.AGENT_VALIDATOR, at=1_767_225_600_000)
    return AgentValidator(voice, task, paths, mind, params), voice


def after(task: SubTask, *results: ExecutionResult, **more: Any) -> tuple[SubTaskOutcome | None, list[CorrectionSignal]]:
    """What was said after these attempts: at most one outcome, and the corrections before it."""
    one, voice = validator(task, **more)
    for n, attempt in enumerate(results, 1):
        one.hear(heard(attempt, task_id="tsk_1", seq=n))
    outcomes = voice.said(OUTCOME)
    assert len(outcomes) <= 1
    assert all(said.task_id == "tsk_1" for said in voice.log)
    return (outcomes[0] if outcomes else None), voice.said(CORRECTION)


LS = shown(1, "run", {"command": "ls"}, "a.txt\nb.txt")
WRONG = shown(2, "run", {"command": "make list"}, "b.txt")
LISTS = subtask('output contains "a.txt"')


def test_ctl_008_ctl_009_a_closed_gap_ends_the_loop_at_the_first_attempt() -> None:
    one, voice = validator(LISTS)

    one.hear(heard(result(LS)))
    one.hear(heard(result(WRONG, attempt=2), seq=2))  # nobody asked for it

    assert [said.type for said in voice.log] == [OUTCOME]
    assert voice.last(OUTCOME).status == "matched"


def test_ctl_009_used_up_retries_and_broken_surroundings_end_the_loop_once() -> None:
    used_up, corrections = after(LISTS, *(result(WRONG, attempt=n) for n in (1, 2, 3, 4)))
    broken, none = after(LISTS, result(WRONG, uncertainty="context deadline exceeded", status="uncertain"), result(LS, attempt=2))

    assert used_up is not None
    assert (used_up.status, len(corrections)) == ("failed", 2)
    assert broken is not None
    assert (broken.status, none) == ("failed", [])


def test_ctl_121_ctl_122_two_corrections_three_attempts_and_a_reason_that_names_the_limit() -> None:
    outcome, corrections = after(LISTS, *(result(WRONG, attempt=n) for n in (1, 2, 3)))

    assert outcome is not None
    assert [one.attempt_number for one in corrections] == [1, 2]
    assert [one.attempt for one in outcome.gap_trajectory] == [1, 2, 3]
    assert [one.unmet_criteria for one in outcome.gap_trajectory] == [('output contains "a.txt"',)] * 3
    assert {(one.criterion, one.failure_class) for one in outcome.gap_trajectory[0].failed_criteria} == {
        ('output contains "a.txt"', "logical")
    }
    assert outcome.failure_reason is not None
    assert "limit of 2 retries" in outcome.failure_reason
    assert "no call shows 'a.txt'" in outcome.failure_reason


@pytest.mark.parametrize("retries", [0, 1, 3])
def test_ctl_121_the_limit_is_a_number_in_force(retries: int) -> None:
    outcome, corrections = after(
        LISTS, *(result(WRONG, attempt=n) for n in range(1, retries + 2)), params=Params(max_retries=retries)
    )

    assert outcome is not None
    assert (len(corrections), len(outcome.gap_trajectory)) == (retries, retries + 1)


def test_ctl_120_a_correction_names_the_first_failed_criterion_word_for_word() -> None:
    task = subtask('output contains "b.txt"', '  Output   contains "z.txt". ', "the count is at least 9")

    _, (correction,) = after(task, result(LS))

    assert correction.subtask_id == "s1"
    assert correction.failed_criterion == '  Output   contains "z.txt". '
    assert correction.failure_class == "logical"
    assert "z.txt" in correction.what_was_wrong
    assert correction.what_to_do


def test_ctl_109_ctl_123_an_outcome_carries_everything_that_was_judged() -> None:
    task = subtask('output contains "a.txt"', 'output contains "z.txt"', "the count is at least 2", intent="list a.txt")
    outcome, _ = after(task, result(LS), result(WRONG, attempt=2), result(LS, attempt=3))

    assert outcome is not None
    assert (outcome.subtask_id, outcome.parent_task_id, outcome.intent) == ("s1", "tsk_1", "list a.txt")
    assert outcome.success_criteria == task.success_criteria
    assert [one.verdict for one in outcome.criteria_verdicts] == ["pass", "fail", "pass"]
    assert [one.x.event_ids for one in outcome.criteria_verdicts] == [("ev1",), (), ("ev1",)]
    assert [one.score for one in outcome.gap_trajectory] == [0.666666667, 0.0, 0.666666667]
    assert [one.call_id for one in outcome.tool_calls] == ["c1", "c2", "c1"]
    assert outcome.output == LS.text


def test_ctl_110_a_model_that_says_matched_is_overruled_by_one_failed_criterion() -> None:
    task = subtask("the tone is kind", "the text is short")
    answer = {
        "verdict": "matched",
        "verdicts": [
            {"criterion": "the tone is kind", "verdict": "pass", "event_ids": ["ev1"]},
            {"criterion": "the text is short", "verdict": "fail", "failure_class": "logical", "evidence": "too long"},
        ],
    }

    outcome, corrections = after(task, result(LS), mind=Judge(answer))

    assert outcome is None
    assert [one.failed_criterion for one in corrections] == ["the text is short"]


def test_ctl_111_ctl_291_a_claim_that_the_call_contradicts_is_retried() -> None:
    fetched = shown(1, "run", {"command": "fetch data.csv"}, "Killed")

    outcome, corrections = after(
        subtask('output contains "downloaded"', intent="fetch data.csv"), result(fetched, output="data.csv downloaded")
    )

    assert outcome is None
    assert corrections[0].failed_criterion == 'output contains "downloaded"'


def test_ctl_111_ctl_291_values_that_no_call_shows_meet_no_criterion() -> None:
    task = subtask('output contains "a.txt"')

    honest, _ = after(task, result(LS, output="a.txt and b.txt, 2 files"))
    _, corrections = after(task, result(LS, output="a.txt and secret.txt, 2 files"))

    assert honest is not None
    assert honest.status == "matched"
    assert "secret.txt" in corrections[0].what_was_wrong


def test_ctl_112_an_old_file_seen_after_a_failed_download_is_no_proof() -> None:
    download = shown(1, "run", {"command": "curl -O http://x/data.csv"}, "curl: (7) refused", "exit status 7")
    look = shown(2, "run", {"command": "ls"}, "data.csv")

    outcome, corrections = after(subtask("data.csv exists"), result(download, look), paths=A_FILE)

    assert outcome is None
    assert "data.csv" in corrections[0].what_was_wrong


def test_ctl_113_a_given_up_attempt_fails_at_once() -> None:
    outcome, corrections = after(LISTS, result(WRONG, status="failed", uncertainty="executor loop"))

    assert outcome is not None
    assert corrections == []
    assert (outcome.status, outcome.failure_reason) == ("failed", "executor loop")
    assert outcome.gap_trajectory[0].score == 0.0
    assert outcome.criteria_verdicts[0].failure_class == "logical"


def test_ctl_113_a_given_up_attempt_is_no_success_even_if_its_checks_pass() -> None:
    outcome, _ = after(LISTS, result(LS, status="failed", uncertainty="gave up"))

    assert outcome is not None
    assert outcome.status == "failed"
    assert [one.verdict for one in outcome.criteria_verdicts] == ["fail"]


def test_ctl_113_ctl_123_giving_up_without_a_call_leaves_what_was_shown_before() -> None:
    denied = shown(2, "read", {"path": "z.txt"}, "", "Permission denied")
    task = subtask('output contains "a.txt"', 'output contains "z.txt"')
    gave_up = result(output="", status="failed", uncertainty="no other way is known", attempt=2)

    outcome, corrections = after(task, result(LS, denied), gave_up)

    assert outcome is not None
    assert len(corrections) == 1
    assert (outcome.status, outcome.failure_reason) == ("failed", "no other way is known")
    assert [(one.verdict, one.failure_class) for one in outcome.criteria_verdicts] == [("pass", None), ("fail", "environmental")]
    assert [one.score for one in outcome.gap_trajectory] == [0.5, 0.0]


@pytest.mark.parametrize("error", ["was cancelled", "deadline exceeded", "network is unreachable", "read timeout", "timed out"])
def test_ctl_113_an_infrastructure_error_fails_at_once(error: str) -> None:
    broken = shown(2, "run", {"command": "make list"}, "", error)

    outcome, corrections = after(LISTS, result(shown(1, "read", {"path": "b.txt"}, "b"), broken))

    assert outcome is not None
    assert corrections == []
    assert error in (outcome.failure_reason or "")
    assert outcome.criteria_verdicts[0].failure_class == "environmental"


def test_ctl_113_an_error_that_was_overcome_is_no_end() -> None:
    slow = shown(1, "run", {"command": "find /"}, "", "timed out after 30 s")

    outcome, _ = after(LISTS, result(slow, LS))

    assert outcome is not None
    assert outcome.status == "matched"


def test_ctl_113_a_stopped_act_fails_at_once_and_is_quoted() -> None:
    stopped = shown(3, "run", {"command": "rm -rf build"}, "[LAW1] rm -rf build was not confirmed")

    outcome, corrections = after(LISTS, result(stopped, LS))

    assert outcome is not None
    assert corrections == []
    assert outcome.failure_reason == "[LAW1] rm -rf build was not confirmed"
    assert outcome.gap_trajectory[0].failure_class == "environmental"


def test_ctl_113_refusals_in_places_of_the_system_are_no_failure() -> None:
    told = "find: '/proc/1/fd': Permission denied\n/home/x/notes.md"
    searched = shown(1, "run", {"command": "find / -name notes.md"}, told, "exit status 1")
    elsewhere = shown(1, "run", {"command": "find / -name notes.md"}, "find: '/srv/data': Permission denied", "exit status 1")
    task = subtask("exit status is 0", intent="look for notes.md")

    matched, _ = after(task, result(searched))
    retried, corrections = after(task, result(elsewhere))

    assert matched is not None
    assert (matched.status, matched.criteria_verdicts[0].x.event_ids) == ("matched", ("ev1",))
    assert retried is None
    assert corrections[0].failure_class == "environmental"


def test_ctl_113_finding_nothing_is_an_answer_of_a_real_search() -> None:
    task = subtask("output names at least one existing path", intent='find "todo.md"')

    found, _ = after(task, result(shown(1, "glob", {"query": "**/todo.md"}, "")))

    assert found is not None
    assert found.status == "matched"
    assert found.criteria_verdicts[0].x.event_ids == ("ev1",)


@pytest.mark.parametrize(
    "attempt",
    [
        result(output=""),
        result(shown(1, "read", {"path": "a.txt"}, "")),
        result(shown(1, "glob", {"query": ""}, "")),
        result(shown(1, "glob", {"query": "*.py"}, "")),
        result(shown(1, "glob", {"query": "todo.md"}, "", "no such directory")),
    ],
    ids=["no call", "no search", "no pattern", "another pattern", "failed search"],
)
def test_ctl_114_an_empty_result_without_a_right_search_is_retried(attempt: ExecutionResult) -> None:
    outcome, corrections = after(subtask("output names at least one existing path", intent='find "todo.md"'), attempt)

    assert outcome is None
    assert len(corrections) == 1


def test_ctl_113_the_first_rule_that_fits_decides() -> None:
    stopped = shown(1, "run", {"command": "rm x"}, "[LAW1] rm x was not confirmed", "timed out")
    empty = shown(1, "search", {"query": "x"}, "")

    given_up, _ = after(LISTS, result(stopped, status="failed", uncertainty="gave up"))
    broken, _ = after(LISTS, result(stopped))
    not_empty, _ = after(LISTS, result(empty, status="uncertain", uncertainty="network error"))

    assert given_up is not None
    assert given_up.failure_reason == "gave up"
    assert broken is not None
    assert broken.failure_reason == "infrastructure: timed out"
    assert not_empty is not None
    assert not_empty.status == "failed"


def test_ctl_115_a_plausible_criterion_is_binary_in_each_attempt() -> None:
    task = subtask(criterion("the tone is 'kind'", "plausible"), 'output contains "z.txt"')
    kind = shown(1, "read", {"path": "a"}, "kind words")

    outcome, _ = after(task, result(kind), result(LS, attempt=2), result(kind, attempt=3))

    assert outcome is not None
    failed = [[one.criterion for one in point.failed_criteria] for point in outcome.gap_trajectory]
    assert [("the tone is 'kind'" in one) for one in failed] == [False, True, False]
    assert outcome.criteria_verdicts[0].verdict == "pass"
    assert outcome.criteria_verdicts[0].mode == "plausible"


def test_ctl_116_ctl_117_a_failure_has_a_class_and_a_pass_has_none() -> None:
    denied = shown(1, "read", {"path": "/x"}, "", "Permission denied")
    answer = {
        "verdicts": [{"criterion": "it is kind", "verdict": "fail", "failure_class": "logical", "evidence": "Permission denied"}]
    }

    outcome, corrections = after(
        subtask("it is kind", 'output contains "a.txt"'), *(result(LS, attempt=n) for n in (1, 2, 3)), mind=Judge(answer)
    )
    _, from_call = after(LISTS, result(denied))

    assert [one.failure_class for one in corrections] == ["environmental", "environmental"]
    assert outcome is not None
    assert [(one.verdict, one.failure_class) for one in outcome.criteria_verdicts] == [("fail", "environmental"), ("pass", None)]
    assert from_call[0].failure_class == "environmental"


def test_ctl_118_the_class_of_an_attempt_is_in_its_point() -> None:
    answer = {
        "verdicts": [
            {"criterion": "it is kind", "verdict": "fail", "failure_class": "environmental", "evidence": "the printer is off"},
            {"criterion": "it is short", "verdict": "fail", "failure_class": "logical", "evidence": "too long"},
        ]
    }

    mixed, _ = after(subtask("it is kind", "it is short"), result(LS), mind=Judge(answer), params=Params(max_retries=0))
    passed, _ = after(LISTS, result(LS))

    assert mixed is not None
    assert mixed.gap_trajectory[0].failure_class == "mixed"
    assert passed is not None
    assert (passed.gap_trajectory[0].failure_class, passed.gap_trajectory[0].score) == (None, 1.0)


def test_ctl_119_the_score_of_a_match_is_one_and_of_a_failure_none() -> None:
    matched, _ = after(LISTS, result(LS))
    failed, _ = after(LISTS, result(LS, status="failed"))

    assert matched is not None
    assert failed is not None
    assert (matched.gap_trajectory[0].score, failed.gap_trajectory[0].score) == (1.0, 0.0)


@pytest.mark.parametrize(
    "broken", [ModelFailed("no answer", fix="Try later."), {"verdicts": "fine"}, ["matched"]], ids=["raises", "wrong", "list"]
)
def test_ctl_124_a_judge_that_fails_is_never_a_match(broken: Any) -> None:
    outcome, corrections = after(subtask("it is kind"), result(LS), mind=Judge(broken))

    assert outcome is not None
    assert corrections == []
    assert outcome.status == "failed"
    assert "scoring error" in (outcome.failure_reason or "")
    assert [one.verdict for one in outcome.criteria_verdicts] == ["fail"]


def test_ctl_126_a_models_pass_without_a_call_of_this_attempt_fails() -> None:
    answer = {"verdicts": [{"criterion": "it is kind", "verdict": "pass", "event_ids": ["ev77"]}]}

    outcome, corrections = after(subtask("it is kind"), result(LS), mind=Judge(answer))

    assert outcome is None
    assert corrections[0].failure_class == "logical"


def test_ctl_048_a_verdict_keeps_the_mode_that_the_plan_gave() -> None:
    answer = {"verdicts": [{"criterion": "it is kind", "verdict": "pass", "mode": "plausible", "event_ids": ["ev1"]}]}

    outcome, corrections = after(subtask("it is kind"), result(LS), mind=Judge(answer), params=Params(max_retries=0))

    assert outcome is not None
    assert corrections == []
    assert (outcome.criteria_verdicts[0].verdict, outcome.criteria_verdicts[0].mode) == ("fail", "verifiable")


def test_ctl_127_a_model_is_asked_only_what_no_check_covers() -> None:
    answer = {"verdicts": [{"criterion": "it is kind", "verdict": "pass", "event_ids": ["ev1"]}]}
    judge, idle, absent = Judge(answer), Judge(answer), Judge(None)

    outcome, _ = after(subtask('output contains "a.txt"', "it is kind"), result(LS), mind=judge)
    after(LISTS, result(LS), mind=idle)
    _, corrections = after(subtask("it is kind"), result(LS), mind=absent)

    assert outcome is not None
    assert outcome.status == "matched"
    assert "it is kind" in judge.asked[0]["user"]
    assert "output contains" not in judge.asked[0]["user"]
    assert idle.asked == []
    assert corrections[0].what_was_wrong == "no mechanical check"


def test_ctl_054_ctl_295_the_judge_is_told_the_date_and_the_laws() -> None:
    judge = Judge({"verdicts": []})

    after(subtask("it is kind"), result(LS), mind=judge)

    assert '"2026-01-01"' in judge.asked[0]["user"]
    assert "Law 0" in judge.asked[0]["system"]
    assert "Law 3" in judge.asked[0]["system"]


def test_ctl_017_a_validator_needs_a_voice() -> None:
    with pytest.raises(BoundaryViolation):
        AgentValidator(None, LISTS, NO_FILE, None, DEFAULTS)  # type: ignore[arg-type]


def test_ctl_005_other_subtasks_and_a_stopped_validator_stay_silent() -> None:
    one, voice = validator(subtask('output contains "a.txt"', subtask_id="s2"))
    stopped, silent = validator(LISTS)

    one.hear(heard(result(LS)))
    stopped.stop()
    stopped.hear(heard(result(LS)))

    assert voice.log == []
    assert silent.log == []


def test_ctl_100_ctl_125_it_speaks_to_two_roles_and_imports_neither_tools_nor_memory() -> None:
    own = {kind for kind, (sender, _) in PATHS.items() if sender is Role.AGENT_VALIDATOR}
    tree = ast.parse(Path(agent_validator.__file__).read_text(encoding="utf-8"))
    imported = {node.module or "" for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)}

    assert own == {CORRECTION, OUTCOME}
    assert AgentValidator.hears == {MessageType.EXECUTION_RESULT}
    assert {name for name in imported if name.startswith(("hindbrain.services", "hindbrain.stores", "hindbrain.providers"))} == {
        "hindbrain.services.control.ports"
    }
    assert not {"hindbrain.engines.merging", "hindbrain.engines.gradient"} & imported
