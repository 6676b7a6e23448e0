"""R4b: the gate of a task. It waits for all, lets through what is shown, and says the rest to the solver."""

import ast
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from hindbrain.domain.errors import BoundaryViolation, ConfigInvalid, ModelFailed
from hindbrain.domain.message import MessageType, Role
from hindbrain.domain.task import DispatchManifest, OutcomeSummary, Record, ReplanRequest, SubTaskOutcome
from hindbrain.policy.control import DEFAULTS, PATHS, Params
from hindbrain.services.control import meta_validator
from hindbrain.services.control.meta_validator import MetaValidator
from tests.support.attempts import checked, criterion, manifest, outcome, shown
from tests.support.judges import Judge
from tests.support.roles import RecordingVoice, heard

REPLAN, SUMMARY = MessageType.REPLAN_REQUEST, MessageType.OUTCOME_SUMMARY

A = shown(1, "run", {"command": "ls a"}, "a.txt")
B = shown(2, "read", {"path": "b.txt"}, "the words of b")
NAMES_A = criterion('output contains "a.txt"')


class Gate:
    """A meta-validator that hears one thing after the other, each at a second of its own."""

    def __init__(self, mind: Judge | None = None, params_of: Callable[[str], Params] = lambda name: DEFAULTS) -> None:
        self.voice = RecordingVoice(Role.META_VALIDATOR)
        self.role = MetaValidator(self.voice, mind, params_of)
        self._seq = 0

    def hears(self, record: Record, second: int = 0) -> None:
        self._seq += 1
        self.role.hear(heard(record, task_id="tsk_1", seq=self._seq, at=f"2026-01-01T00:{second // 60:02}:{second % 60:02}.000Z"))

    def round(self, *records: Record, second: int = 0) -> "Gate":
        for record in records:
            self.hears(record, second)
        return self

    @property
    def replan(self) -> ReplanRequest:
        found: ReplanRequest = self.voice.last(REPLAN)
        return found

    @property
    def summary(self) -> OutcomeSummary:
        found: OutcomeSummary = self.voice.last(SUMMARY)
        return found


def failed(subtask_id: str, reason: str | None = "it broke", attempts: int = 3) -> SubTaskOutcome:
    return outcome(subtask_id, B, status="failed", reason=reason, attempts=attempts, criteria=(criterion("x"),))


def test_ctl_128_nothing_is_said_before_all_outcomes_are_there() -> None:
    gate = Gate().round(manifest("s1", "s2", "s3", criteria=(NAMES_A,)), outcome("s1", A), failed("s2"))

    assert gate.voice.log == []

    gate.hears(outcome("s3", B))

    assert [one.type for one in gate.voice.log] == [REPLAN]


def test_ctl_129_an_outcome_that_came_twice_or_from_nowhere_counts_for_nothing() -> None:
    gate = Gate().round(manifest("s1", "s2", criteria=(NAMES_A,)), outcome("s1", A), outcome("s1", B), failed("s9"))
    stranger = Gate().round(outcome("s1", A))

    assert gate.voice.log == []
    assert stranger.voice.log == []

    gate.hears(outcome("s2", B))

    assert [one.output for one in gate.summary.outcomes] == [A.text, B.text]


def test_ctl_130_ctl_145_a_failed_subtask_is_reported_without_a_model() -> None:
    judge = Judge({"verdicts": [{"criterion": NAMES_A.criterion, "verdict": "pass", "event_ids": ["ev1"]}]})

    gate = Gate(judge).round(manifest("s1", "s2", criteria=(NAMES_A,)), outcome("s1", A), failed("s2"))

    assert judge.asked == []
    assert gate.replan.x.reason == "gate_failed"
    assert gate.replan.failed_subtasks == ("s2",)


def test_ctl_131_ctl_148_all_matched_outputs_are_merged_as_data() -> None:
    one = Gate().round(manifest("s1", criteria=(NAMES_A,)), outcome("s1", A, output=["a.txt"]))
    two = Gate().round(
        manifest("s1", "s2", criteria=(NAMES_A,)), outcome("s2", B, intent="read b.txt"), outcome("s1", A, intent="list a")
    )

    assert one.summary.merged_output == ["a.txt"]
    assert two.summary.merged_output == [
        {"intent": "list a", "output": A.text},
        {"intent": "read b.txt", "output": B.text},
    ]
    assert [verdict.verdict for verdict in two.summary.x.task_criteria_verdicts] == ["pass"]


def test_ctl_132_the_criteria_are_those_of_the_manifest() -> None:
    """The intent asks for something else than the criteria do: the criteria decide, and nothing is derived from it again."""
    sent = manifest("s1", criteria=(NAMES_A,), request="list at least nine files")

    gate = Gate().round(sent, outcome("s1", A))

    assert [verdict.criterion for verdict in gate.summary.x.task_criteria_verdicts] == [NAMES_A.criterion]


def test_ctl_132_a_task_spec_that_changes_after_the_dispatch_has_no_effect() -> None:
    sent = manifest("s1", criteria=(NAMES_A,))
    gate = Gate().round(sent)

    assert sent.task_spec is not None
    changed = manifest("s1", criteria=(NAMES_A,), request='list "z.txt"').task_spec
    assert changed is not None
    gate.hears(changed)
    gate.hears(outcome("s1", A))

    assert gate.voice.said(REPLAN) == []
    assert gate.summary.intent == sent.task_spec.intent


@pytest.mark.parametrize("verdict", ["unclear", "fail"])
def test_ctl_133_what_is_not_positively_shown_is_rejected(verdict: str) -> None:
    answer = {"verdicts": [{"criterion": "it is kind", "verdict": verdict, "event_ids": ["ev1"], "evidence": "hard to tell"}]}
    criteria = (NAMES_A, criterion("it is kind"))

    gate = Gate(Judge(answer)).round(manifest("s1", criteria=criteria), outcome("s1", A))

    assert gate.voice.said(SUMMARY) == []
    assert gate.replan.x.reason == "criteria_rejected"
    assert [one.verdict for one in gate.replan.x.task_criteria_verdicts] == ["pass", "fail"]
    assert "it is kind" in gate.replan.gap_summary
    assert "hard to tell" in gate.replan.gap_summary


def test_ctl_133_a_model_that_leaves_a_criterion_out_has_not_shown_it() -> None:
    gate = Gate(Judge({"verdicts": []})).round(manifest("s1", criteria=(criterion("it is kind"),)), outcome("s1", A))

    assert gate.replan.x.reason == "criteria_rejected"


def test_ctl_133_a_plan_without_criteria_or_subtasks_is_rejected_not_accepted() -> None:
    bare = Gate().round(manifest("s1", criteria=()), outcome("s1", A))
    empty = Gate().round(manifest(criteria=(NAMES_A,)))

    assert bare.replan.x.reason == "criteria_rejected"
    assert empty.replan.x.reason == "criteria_rejected"


def test_ctl_134_the_letter_of_the_criteria_is_not_enough() -> None:
    sent = manifest("s1", criteria=(NAMES_A,), request="list what is in report.md")

    gate = Gate().round(sent, outcome("s1", A))

    assert gate.voice.said(SUMMARY) == []
    assert "intent drift" in gate.replan.gap_summary
    assert "report.md" in gate.replan.gap_summary
    # Not diluted by criteria that passed: they were not those of the request.
    assert [one.verdict for one in gate.replan.x.task_criteria_verdicts] == ["fail"]


def test_ctl_134_a_name_that_a_call_or_a_criterion_takes_up_is_no_drift() -> None:
    by_call = Gate().round(manifest("s1", criteria=(NAMES_A,), request="is b.txt beside a.txt?"), outcome("s1", A, B))

    assert by_call.summary.intent == "is b.txt beside a.txt?"


def test_ctl_134_a_model_may_see_drift_too() -> None:
    gate = Gate(Judge({"verdicts": [], "drift": "they asked for sizes"})).round(
        manifest("s1", criteria=(NAMES_A,)), outcome("s1", A)
    )

    assert gate.replan.gap_summary == "intent drift: they asked for sizes"


def test_ctl_135_what_judges_is_not_weaker_than_what_plans() -> None:
    voice = RecordingVoice(Role.META_VALIDATOR)

    def with_tiers(planner: int, gate: int) -> MetaValidator:
        mind = Judge(None, tiers={Role.PLANNER: planner, Role.META_VALIDATOR: gate})
        return MetaValidator(voice, mind, lambda name: DEFAULTS)

    with pytest.raises(ConfigInvalid, match="tier 1"):
        with_tiers(2, 1)
    assert with_tiers(0, 0)
    assert with_tiers(1, 2)
    assert with_tiers(2, 2)


def test_ctl_136_ctl_143_ctl_147_it_speaks_to_the_solver_only_and_decides_no_direction() -> None:
    own = {kind: to for kind, (sender, to) in PATHS.items() if sender is Role.META_VALIDATOR}
    tree = ast.parse(Path(meta_validator.__file__).read_text(encoding="utf-8"))
    imported = {node.module or "" for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)}
    ours = {name for name in imported if name.startswith(("hindbrain.services", "hindbrain.stores", "hindbrain.providers"))}

    assert own == {REPLAN: Role.SOLVER, SUMMARY: Role.SOLVER}
    assert ours == {"hindbrain.services.control.ports"}
    assert not {name for name in imported if name.endswith((".gradient", ".directive", ".solving", ".imprint"))}


def test_ctl_136_ctl_143_every_way_through_the_gate_ends_at_the_solver_and_writes_no_memory() -> None:
    ways = (
        (manifest("s1", criteria=(NAMES_A,)), outcome("s1", A)),
        (manifest("s1", criteria=(NAMES_A,)), outcome("s1", B)),
        (manifest("s1", criteria=(NAMES_A,)), failed("s1")),
    )

    for way in ways:
        gate = Gate().round(*way)

        assert [(one.to, one.task_id) for one in gate.voice.log] == [(Role.SOLVER, "tsk_1")]
        assert gate.voice.said(MessageType.MEGRAM) == []


def test_ctl_137_ctl_138_ctl_139_a_request_carries_the_whole_round() -> None:
    gate = Gate().round(
        manifest("s1", "s2", "s3", criteria=(NAMES_A,)),
        failed("s1", "no such table", attempts=3),
        outcome("s2", A, attempts=1),
        failed("s3", None, attempts=1),
    )

    assert (gate.replan.task_id, gate.replan.intent) == ("tsk_1", "list the files")
    assert gate.replan.gap_summary == "no such table; s3"
    assert gate.replan.failed_subtasks == ("s1", "s3")
    assert gate.replan.correction_count == 2
    assert [one.subtask_id for one in gate.replan.outcomes] == ["s1", "s2", "s3"]
    assert gate.replan.recommendation == "replan"
    assert gate.replan.x.task_class == "list_files"


def test_ctl_139_a_skipped_subtask_was_not_corrected() -> None:
    gate = Gate().round(
        manifest("s1", "s2", criteria=(NAMES_A,)), failed("s1", attempts=2), outcome("s2", status="failed", attempts=0)
    )

    assert gate.replan.correction_count == 1


def test_ctl_140_ctl_146_time_runs_on_and_outcomes_do_not() -> None:
    gate = Gate().round(manifest("s1", "s2", criteria=(NAMES_A,)), outcome("s1", A))
    gate.hears(failed("s2"), second=30)
    gate.hears(manifest("s1", "s3", criteria=(NAMES_A,)), second=40)
    gate.hears(failed("s3"), second=50)

    assert len(gate.voice.log) == 1

    gate.hears(outcome("s1", A), second=60)

    assert [one.elapsed_ms for one in gate.voice.said(REPLAN)] == [30_000, 60_000]
    assert [one.subtask_id for one in gate.replan.outcomes] == ["s1", "s3"]


def test_ctl_141_only_a_request_above_the_limit_recommends_to_give_up() -> None:
    gate = Gate()
    for _ in range(4):
        gate.round(manifest("s1", criteria=(NAMES_A,)), failed("s1"))
    short = Gate(params_of=lambda name: Params(max_replans=1 if name == "list_files" else 9))
    for _ in range(2):
        short.round(manifest("s1", criteria=(NAMES_A,)), failed("s1"))

    assert [one.recommendation for one in gate.voice.said(REPLAN)] == ["replan", "replan", "replan", "abandon"]
    assert [one.x.round for one in gate.voice.said(REPLAN)] == [1, 2, 3, 4]
    assert [one.recommendation for one in short.voice.said(REPLAN)] == ["replan", "abandon"]


def test_ctl_142_a_summary_carries_the_result_and_its_proof() -> None:
    gate = Gate().round(manifest("s1", criteria=(NAMES_A,)))
    gate.hears(outcome("s1", A), second=12)

    assert (gate.summary.task_id, gate.summary.intent, gate.summary.elapsed_ms) == ("tsk_1", "list the files", 12_000)
    assert gate.summary.summary
    assert gate.summary.merged_output == A.text
    assert len(gate.summary.outcomes) == 1
    assert gate.summary.x.task_criteria_verdicts[0].x.event_ids == ("ev1",)


@pytest.mark.parametrize(
    "broken", [ModelFailed("no answer", fix="Try later."), {"verdicts": 7}, "fine"], ids=["raises", "wrong", "text"]
)
def test_ctl_144_a_judge_that_fails_leaves_no_task_hanging(broken: Any) -> None:
    began = time.monotonic()

    gate = Gate(Judge(broken)).round(manifest("s1", criteria=(criterion("it is kind"),)), outcome("s1", A))

    assert gate.replan.x.reason == "validator_error"
    assert time.monotonic() - began < 10


def test_ctl_145_a_model_cannot_overrule_a_check() -> None:
    judge = Judge({"verdicts": [{"criterion": 'output contains "z"', "verdict": "pass", "event_ids": ["ev1"]}]})

    gate = Gate(judge).round(manifest("s1", criteria=(criterion('output contains "z"'),)), outcome("s1", A))

    assert gate.replan.x.reason == "criteria_rejected"


def test_ctl_148_without_a_model_only_what_a_check_shows_is_accepted() -> None:
    shown_by_a_subtask = checked("the file is there", "path_nonempty", path="out.md")
    wrote = shown(3, "write", {"path": "out.md", "content": "x"}, "written")
    accepted = Gate().round(
        manifest("s1", criteria=(criterion("out.md exists"),)), outcome("s1", wrote, criteria=(shown_by_a_subtask,))
    )
    unseen = Gate().round(manifest("s1", criteria=(criterion("other.md exists"),)), outcome("s1", wrote))
    unchecked = Gate().round(manifest("s1", criteria=(criterion("it is kind"),)), outcome("s1", A))

    assert accepted.summary.x.task_criteria_verdicts[0].x.event_ids == ("ev3",)
    assert unseen.replan.x.reason == "criteria_rejected"
    assert "no mechanical check" in unchecked.replan.gap_summary


def test_ctl_148_long_output_is_judged_whole() -> None:
    long = shown(1, "glob", {"query": "*.txt"}, "\n".join(f"f{n}.txt" for n in range(100)))

    gate = Gate().round(
        manifest("s1", criteria=(checked("all", "count_at_least", n=100, of="lines"),)),
        outcome("s1", long),
    )

    assert gate.summary.x.task_criteria_verdicts[0].verdict == "pass"


def test_ctl_291_values_that_no_call_shows_are_not_delivered() -> None:
    killed = shown(1, "run", {"command": "fetch a.txt"}, "Killed")
    lied = Gate().round(
        manifest("s1", criteria=(criterion('output contains "a.txt"'),)), outcome("s1", killed, output="a.txt got")
    )
    made_up = Gate().round(manifest("s1", criteria=(NAMES_A,)), outcome("s1", A, output="a.txt, 5120 bytes"))

    assert lied.replan.x.reason == "criteria_rejected"
    assert "5120" in made_up.replan.gap_summary


def test_ctl_291_the_words_of_a_model_are_used_only_where_the_result_holds_them() -> None:
    true = Gate(Judge({"verdicts": [], "summary": "There is one file, a.txt."})).round(
        manifest("s1", criteria=(NAMES_A,)), outcome("s1", A)
    )
    false = Gate(Judge({"verdicts": [], "summary": "There are 48 files."})).round(
        manifest("s1", criteria=(NAMES_A,)), outcome("s1", A)
    )

    assert true.summary.summary == "There is one file, a.txt."
    assert "48" not in false.summary.summary


def test_ctl_017_a_gate_needs_a_voice() -> None:
    with pytest.raises(BoundaryViolation):
        MetaValidator(None, None, lambda name: DEFAULTS)  # type: ignore[arg-type]


def test_ctl_055_two_tasks_at_once_do_not_mix() -> None:
    gate = Gate().round(manifest("s1", criteria=(NAMES_A,)))
    other = DispatchManifest(
        task_id="tsk_2", subtask_ids=("s1",), dispatched_at="2026-01-01T00:00:00.000Z", task_criteria=(NAMES_A,)
    )
    gate.hears(other)

    gate.hears(outcome("s1", A))

    assert [one.task_id for one in gate.voice.log] == ["tsk_1"]
