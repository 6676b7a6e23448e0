"""R2: what it asks of memory, what it sends, and what it never does."""

import uuid
from typing import Any

import msgspec
import pytest

from hindbrain.domain.control import GracefulFailureRequest, Loss
from hindbrain.domain.errors import BoundaryViolation, ModelFailed
from hindbrain.domain.experience import Level, Pair, Writer
from hindbrain.domain.message import MessageType, Role
from hindbrain.domain.notes import MegramNote, MemoryQuery, MemoryResponse, PotentialsNote
from hindbrain.domain.plan import Plan
from hindbrain.domain.task import Step
from hindbrain.engines.reply import first_value
from hindbrain.policy.experience import law_lines
from hindbrain.policy.planning import GUIDANCE
from hindbrain.policy.tools import TOOLS
from hindbrain.services.control.planner import Moves, Planner
from tests.support.experience import Lab, megram
from tests.support.planning import Desk, Spoken, a_directive, a_spec
from tests.support.rounds import a_call, a_fail, a_pass, an_outcome

MANIFEST, SUBTASK, FAILURE = MessageType.DISPATCH_MANIFEST, MessageType.SUB_TASK, MessageType.PLAN_FAILURE
QUERY, RECALL, NOTE = MessageType.MEMORY_QUERY, MessageType.MEMORY_RECALL, MessageType.GRACEFUL_FAILURE_NOTE
GOAL = "Count the lines in notes.txt"
PAIR = Pair(space="intent:count_the_lines", entity="env:local")


def a_plan(**more: Any) -> Plan:
    subtask = {
        "intent": "read the notes and number them",
        "success_criteria": ["the output is one number"],
        "tool_hints": ["read"],
        "steps": [{"tool": "read", "input": {"path": "notes.txt"}}],
        **more,
    }
    return msgspec.convert({"task_criteria": ["the output is one number"], "subtasks": [subtask]}, Plan)


def saying(action: str, space: str = PAIR.space) -> Any:
    def answer(query: MemoryQuery) -> MemoryResponse:
        told = PotentialsNote(attention=1.0, decision=0.5, action=action)  # type: ignore[arg-type]
        return MemoryResponse(query_id=query.query_id, potentials=told if query.kind == "MK" and query.space == space else None)

    return answer


def steps(desk: Desk) -> list[Step]:
    (only,) = desk.newest()
    return list(only.x.steps or ())


# -- what it is -----------------------------------------------------------------------------------------------------------


def test_ctl_017_a_planner_without_a_voice_is_not_made():
    with pytest.raises(BoundaryViolation):
        Planner(None, tools=TOOLS)  # type: ignore[arg-type]


def test_ctl_072_ctl_078_it_hears_no_outcome_and_no_end():
    assert Planner.hears == {MessageType.TASK_SPEC, MessageType.PLAN_DIRECTIVE, MessageType.GRACEFUL_FAILURE_REQUEST}
    desk = Desk()
    desk.plan(GOAL)
    said = len(desk.voice.log)
    desk.hear(an_outcome(a_pass("a")))
    assert len(desk.voice.log) == said


def test_ctl_080_it_writes_no_memory():
    lab = Lab()
    with pytest.raises(BoundaryViolation):
        lab.experience.write(lab.draft(), by=Role.PLANNER)
    assert lab.notes[0][0] == "boundary_violation"
    note = msgspec.convert(
        {
            "id": "m",
            "level": "M",
            "created_at": "",
            "space": "s",
            "entity": "e",
            "content": "c",
            "state": "accept",
            "f": 1,
            "sigma": 1,
            "k": 0,
        },
        MegramNote,
    )
    with pytest.raises(BoundaryViolation):
        Desk().voice.say(Role.MEMORY, note, task_id=None)


# -- a plan -------------------------------------------------------------------------------------------------------------------


def test_ctl_053_the_manifest_goes_to_the_gate_before_the_subtasks_and_names_them():
    desk = Desk()
    desk.plan("Count the lines in a.txt. Sort b.txt into c.txt.")
    manifest = desk.voice.last(MANIFEST)
    kinds = [one.type for one in desk.voice.log if one.type in (MANIFEST, SUBTASK)]
    assert kinds == [MANIFEST, SUBTASK, SUBTASK]
    assert manifest.subtask_ids == tuple(one.subtask_id for one in desk.voice.said(SUBTASK))
    assert manifest.task_spec == a_spec("Count the lines in a.txt. Sort b.txt into c.txt.")
    assert manifest.dispatched_at == "2026-01-02T00:00:00.000Z"
    assert [one.criterion for one in manifest.task_criteria] == [
        "the output is one number: lines in a.txt",
        "file c.txt exists and is not empty",
        "file c.txt has exactly the text of b.txt: sort lines",
    ]
    assert manifest.x.plan_fingerprint.startswith("sha256:")


def test_ctl_049_a_simple_operation_is_one_subtask_with_its_tool_and_checks():
    (only,) = Desk().plan(GOAL)
    assert only.x.tool_hints == ("read",)
    assert [(one.tool, one.input) for one in only.x.steps or ()] == [("read", {"path": "notes.txt", "then": "count_lines"})]
    assert all(one.mode == "verifiable" and one.x.check is not None for one in only.success_criteria)


def test_ctl_052_ids_of_a_model_are_thrown_away():
    one = {"subtask_id": "same", "intent": "read a", "success_criteria": ["a line is there"], "tool_hints": ["read"]}
    plan = msgspec.convert({"task_criteria": ["both lines are there"], "subtasks": [one, one | {"intent": "read b"}]}, Plan)
    desk = Desk(mind=Spoken(plan))
    desk.plan(GOAL)
    ids = [subtask.subtask_id for subtask in desk.voice.said(SUBTASK)]
    assert len(set(ids)) == 2
    assert all(str(uuid.UUID(one)) == one for one in ids)


def test_ctl_054_ctl_295_the_date_and_the_laws_are_in_the_prompt():
    mind = Spoken(a_plan())
    Desk(mind=mind).plan(GOAL)
    ((_, system, user),) = mind.asked
    assert "Today is 2026-01-02" in user
    assert all(line in system for line in law_lines())


def test_ctl_055_a_directive_is_applied_to_its_own_task():
    desk = Desk()
    desk.plan(GOAL, task_id="tsk_1")
    desk.plan("Sort b.txt into c.txt", task_id="tsk_2")
    desk.replan("change_path", task_id="tsk_1", targets=["notes.txt"])
    (again,) = desk.newest()
    assert again.parent_task_id == "tsk_1"
    assert "notes.txt" in again.context
    assert desk.voice.last(MANIFEST).x.round == 1
    desk.replan("change_path", task_id="tsk_9")
    assert desk.voice.last(FAILURE).task_id == "tsk_9"


def test_ctl_046_criteria_come_before_subtasks_and_a_plan_without_them_is_refused():
    empty = msgspec.convert({"subtasks": msgspec.to_builtins(a_plan())["subtasks"]}, Plan)
    desk = Desk(mind=Spoken(empty, a_plan()))
    desk.plan(GOAL)
    assert Plan.__struct_fields__ == ("task_criteria", "subtasks")
    assert desk.voice.last(MANIFEST).task_criteria
    assert desk.voice.said(FAILURE) == []


# -- memory ---------------------------------------------------------------------------------------------------------------


def test_ctl_056_ctl_060_ctl_061_exp_095_memory_is_asked_before_each_plan_in_order_without_a_model():
    mind = Spoken(a_plan(), a_plan(steps=[{"tool": "read", "input": {"path": "other.txt"}}]))
    desk = Desk(mind=mind)
    desk.plan(GOAL)
    queries = [one for one in desk.voice.said(QUERY) if one.kind in ("C", "MK") and not one.space.startswith("tool:")]
    assert [(one.kind, one.space, one.entity) for one in queries] == [
        ("C", "intent:count_the_lines", "env:local"),
        ("MK", "intent:count_the_lines", "env:local"),
        ("C", "intent:count_lines_notestxt", "env:local"),
        ("MK", "intent:count_lines_notestxt", "env:local"),
        ("C", "global:user", "env:local"),
        ("MK", "global:user", "env:local"),
    ]
    assert len(mind.asked) == 1
    before = len(desk.voice.said(QUERY))
    desk.replan("change_path", targets=["notes.txt"])
    assert len(desk.voice.said(QUERY)) > before
    assert len(mind.asked) == 2
    assert set(desk.voice.timeouts) == {0.25}


def test_ctl_031_what_is_read_is_said_questions_first_then_one_summary():
    desk = Desk()
    desk.plan(GOAL)
    kinds = [one.type for one in desk.voice.log]
    assert kinds.count(RECALL) == 1
    assert kinds[0] is QUERY
    assert kinds.index(RECALL) < kinds.index(MANIFEST)
    assert all(one.asked for one in desk.voice.log if one.type is QUERY)
    assert desk.voice.last(MANIFEST).x.memory_recall_id == next(one.id for one in desk.voice.log if one.type is RECALL)


@pytest.mark.parametrize(
    ("more", "error"),
    [
        ({"answer": lambda query: None}, "no answer within 250 ms"),
        ({"answer": lambda query: MemoryResponse(query_id=query.query_id, error="disk full")}, "disk full"),
        ({"memory": False}, "memory is off"),
    ],
)
def test_ctl_057_exp_051_without_memory_a_plan_goes_out_and_the_recall_says_why(more, error):
    desk = Desk(**more)
    desk.plan(GOAL)
    assert error in desk.voice.last(RECALL).x.error
    assert desk.voice.last(RECALL).constraints == ""
    assert len(desk.newest()) == 1


def test_ctl_063_what_is_ignored_leaves_the_prompt_as_without_memory():
    prompts = []
    for more in ({"answer": saying("Ignore")}, {"memory": False}):
        mind = Spoken(a_plan())
        Desk(mind=mind, **more).plan(GOAL)
        prompts.append(mind.asked[0][1:])
    assert prompts[0] == prompts[1]


def test_ctl_050_ctl_066_ctl_067_constraints_reach_the_context_and_caution_the_guards():
    desk = Desk(answer=saying("Caution"))
    (first,) = desk.plan(GOAL)
    assert first.x.guards.caution
    desk.replan("change_path", targets=["notes.txt"])
    (second,) = desk.newest()
    assert "MUST NOT:\n- use the target notes.txt" in second.context
    assert second.x.must_not.targets == ("notes.txt",)
    (other,) = Desk(answer=saying("Exploit")).plan(GOAL)
    assert "SHOULD PREFER" in other.context
    assert not other.x.guards.caution


def test_ctl_070_two_failures_on_one_target_forbid_it_and_leave_the_others():
    lab = Lab()
    lab.times(2, "change_approach", pair=Pair(space="tool:run", entity="path:ls X"))
    on_x = a_plan(tool_hints=["run"], steps=[{"tool": "run", "input": {"command": "ls X"}}])
    on_y = a_plan(tool_hints=["run"], steps=[{"tool": "run", "input": {"command": "ls Y"}}])
    refused, let = Desk(mind=Spoken(on_x), reader=lab.experience), Desk(mind=Spoken(on_y), reader=lab.experience)
    refused.plan(GOAL)
    let.plan(GOAL)
    assert "memory says it must not" in refused.voice.last(FAILURE).validator_findings[0]
    assert steps(let)[0].input == {"command": "ls Y"}
    asked = {(one.space, one.entity) for one in let.voice.said(QUERY)}
    assert {("tool:run", "path:ls Y"), ("tool:run", "")} <= asked


def test_ctl_070_the_rules_take_another_step_where_memory_says_avoid():
    lab = Lab()
    lab.times(2, "change_approach", pair=Pair(space="tool:read", entity="path:notes.txt"))
    desk = Desk(reader=lab.experience)
    desk.plan(GOAL)
    assert [one.tool for one in steps(desk)] == ["glob", "read"]


def test_exp_063_a_rule_that_hardened_puts_its_way_in_front():
    lab = Lab()
    lab.times(6, "accept", pair=PAIR, content="Succeeded. Tools: run wc -l < notes.txt. Result: 3")
    lab.dreamer.cycle()
    assert lab.rules(PAIR)
    desk = Desk(reader=lab.experience)
    desk.plan(GOAL)
    assert steps(desk)[0].input == {"command": "wc -l < notes.txt"}
    assert desk.voice.last(MANIFEST).x.sops_used == (lab.rules(PAIR)[0].megram.id,)


def test_exp_006_exp_106_a_rule_that_newer_episodes_outweigh_is_named_in_the_manifest():
    lab = Lab()
    (rule,) = lab.put(
        megram(
            "best_practice", pair=PAIR, content="Prefer: read notes.txt", f=1.0, sigma=1.0, level=Level.C, writer=Writer.DREAMER
        )
    )
    lab.times(2, "abandon", pair=PAIR, content="Failed. Tools tried: read notes.txt. Gap: not there")
    desk = Desk(reader=lab.experience)
    desk.plan(GOAL)
    assert [(one.id, one.space, one.sigma) for one in desk.voice.last(MANIFEST).x.overridden] == [(rule, PAIR.space, 1.0)]
    assert "Prefer: read notes.txt" not in desk.voice.last(RECALL).constraints
    assert "MUST NOT:\n- Failed. Tools tried: read notes.txt" in desk.voice.last(RECALL).constraints
    assert steps(desk)[0].input != {"path": "notes.txt", "then": "count_lines"}


# -- directives and refusals ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", ["environmental", "logical", "mixed"])
def test_ctl_073_the_class_of_a_failure_guides_the_next_plan(kind):
    mind = Spoken(a_plan(), a_plan(tool_hints=["run"], steps=[{"tool": "run", "input": {"command": "wc -l notes.txt"}}]))
    desk = Desk(mind=mind)
    desk.plan(GOAL)
    desk.replan("change_approach", tools=["read"], failure_class=kind)
    assert GUIDANCE[kind] in mind.asked[1][2]
    by_rules = Desk()
    by_rules.plan(GOAL)
    (again,) = by_rules.replan("change_approach", tools=["read"], failure_class=kind)
    assert GUIDANCE[kind] in again.context


def test_ctl_071_each_directive_is_followed_by_the_rules():
    tools = {}
    for kind, blocked in (
        ("refine", {"targets": ["notes.txt"]}),
        ("change_approach", {"tools": ["read"]}),
        ("break_symmetry", {"tools": ["read"]}),
    ):
        desk = Desk()
        desk.plan(GOAL)
        desk.replan(kind, **blocked)
        tools[kind] = [one.tool for one in steps(desk)]
    assert tools == {"refine": ["glob", "read"], "change_approach": ["run"], "break_symmetry": ["run"]}


def test_ctl_075_ctl_076_a_plan_that_offends_is_made_three_times_and_then_given_up():
    mind = Spoken(a_plan())
    desk = Desk(mind=mind)
    desk.plan(GOAL)
    desk.replan("change_approach", tools=["read"])
    assert len(mind.asked) == 1 + 3
    failure = desk.voice.last(FAILURE)
    assert (failure.round, failure.reason) == (1, "no plan passed its check")
    assert any("blocked tool 'read'" in one for one in failure.validator_findings)
    assert "Your last plan was refused" in mind.asked[2][2]
    assert "blocked tool 'read'" in mind.asked[3][2]
    assert desk.newest() == []


def test_ctl_076_a_better_second_plan_is_sent():
    desk = Desk(mind=Spoken(a_plan(sequence=0), a_plan()))
    desk.plan(GOAL)
    assert len(desk.newest()) == 1


def test_ctl_076_a_model_that_fails_fails_the_plan_and_no_model_lets_the_rules_plan():
    failed = Desk(mind=Spoken(ModelFailed))
    failed.plan(GOAL)
    assert "no model answered" in failed.voice.last(FAILURE).validator_findings[0]
    silent = Desk(mind=Spoken(None))
    silent.plan(GOAL)
    assert [one.tool for one in steps(silent)] == ["read"]


def test_ctl_082_what_no_rule_can_plan_is_a_plan_failure():
    desk = Desk()
    desk.plan("make everything nicer")
    assert desk.voice.last(FAILURE).validator_findings == (
        "without a model, no rule handles everything, nicer in: make everything nicer",
    )


def test_ctl_079_a_plan_is_read_out_of_whatever_a_model_puts_around_it():
    told = msgspec.json.encode(a_plan()).decode()
    dirty = (
        told,
        f"<think>maybe {{}}</think>\n{told}",
        f"```json\n{told}\n```",
        f"Here is the plan:\n{told}\nI hope it helps.",
        f"{told}\n<think>was that right",
    )
    assert {fp for text in dirty for fp in [msgspec.json.encode(msgspec.convert(first_value(text, dict), Plan))]} == {
        msgspec.json.encode(a_plan())
    }


# -- giving up ------------------------------------------------------------------------------------------------------------


def _given_up() -> GracefulFailureRequest:
    done = msgspec.structs.replace(an_outcome(a_pass("a"), output="3"), intent="count lines from the text of a.txt")
    failed = an_outcome(
        a_fail("b", failure_class="environmental"),
        status="failed",
        failure_reason="missing.txt: no such file",
        tool_calls=(a_call("read", "missing.txt", error="no such file"),),
    )
    return GracefulFailureRequest(task_id="tsk_1", outcomes=(done, failed), loss=Loss(D=0.5, P=0.0, Omega=0.8, L=0.6))


def test_ctl_081_without_a_model_the_moves_come_from_what_was_tried():
    desk = Desk()
    desk.plan("Count the lines in a.txt. Count the lines in missing.txt.")
    desk.hear(_given_up())
    note = desk.voice.last(NOTE)
    assert note.partial == ("3",)
    assert 2 <= len(note.next_moves) <= 3
    assert "missing.txt" in note.next_moves[0]
    assert "count lines from the text of missing.txt" not in " ".join(note.next_moves)
    assert "look for a name like **/missing.txt" in note.next_moves[1]
    assert desk.voice.log[-1].correlation == f"cor_{desk._seq}"


def test_ctl_081_a_model_says_the_moves_where_it_says_enough_of_them():
    for moves, kept in ((("one", "two", "three", "four"), 3), (("one", "two"), 2), (("one",), None)):
        desk = Desk(mind=Spoken(a_plan(), Moves(next_moves=moves)))
        desk.plan(GOAL)
        desk.hear(_given_up())
        told = desk.voice.last(NOTE).next_moves
        assert told == (moves[:kept] if kept else told)
        assert 2 <= len(told) <= 3
    broken = Desk(mind=Spoken(a_plan(), ModelFailed))
    broken.plan(GOAL)
    broken.hear(_given_up())
    assert len(broken.voice.last(NOTE).next_moves) >= 2


def test_ctl_055_only_so_many_tasks_are_kept_and_the_oldest_goes():
    desk = Desk(memory=False)
    for number in range(257):
        desk.plan(GOAL, task_id=f"tsk_{number}")
    desk.hear(a_directive("change_path", task_id="tsk_0"))
    assert desk.voice.last(FAILURE).reason == "no such task is being planned"
    desk.hear(a_directive("change_path", task_id="tsk_256", targets=["notes.txt"]))
    assert desk.voice.last(MANIFEST).task_id == "tsk_256"
