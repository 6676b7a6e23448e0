"""The check of plans: one rule, one offending plan."""

from typing import Any

import pytest
from msgspec import convert

from hindbrain.domain.plan import Plan, criteria_of
from hindbrain.domain.task import Criterion
from hindbrain.engines.plan_check import EarlierPlan, Forbidden, PlanRules, checked, fingerprint, remembered, similarity
from hindbrain.policy.tools import TOOLS

INTENT = "count the lines of notes"
CLASSES = {name: tool.class_ for name, tool in TOOLS.items()}


def subtask(**more: Any) -> dict[str, Any]:
    return {
        "intent": "read the notes and number them",
        "success_criteria": ["the output is one number"],
        "tool_hints": ["read"],
        "steps": [{"tool": "read", "input": {"path": "notes.txt"}}],
    } | more


def plan(*subtasks: dict[str, Any], criteria: Any = ("the output is one number",)) -> Plan:
    return convert({"task_criteria": criteria, "subtasks": subtasks or (subtask(),)}, Plan)


def rules(**more: Any) -> PlanRules:
    return PlanRules(intent=INTENT, tools=CLASSES, **more)


def test_ctl_074_a_good_plan_has_no_findings():
    assert checked(plan(), rules()) == ()


@pytest.mark.parametrize(
    ("offending", "more", "says"),
    [
        (plan(), {"blocked_tools": ("read",)}, "blocked tool 'read'"),
        (plan(), {"blocked_targets": ("./notes.txt",)}, "blocked target 'notes.txt'"),
        (
            plan(),
            {"forbidden": (Forbidden(tool="read", target="notes.txt", why="it failed"),)},
            "memory says it must not: it failed",
        ),
        (plan(), {"earlier": (remembered(plan()),)}, "the same as an earlier one"),
        (plan(criteria=()), {}, "no criteria for the task"),
        (plan(criteria=("  ",)), {}, "empty criterion"),
        (plan(criteria=("Lines of notes: COUNT the",)), {}, "only repeats the intent"),
        (plan(criteria=("All subtasks completed",)), {}, "nothing that can be false"),
        (plan(subtask(success_criteria=[])), {}, "subtask 1 has no criteria"),
        (plan(subtask(success_criteria=["number them and read the notes"])), {}, "only repeats the intent"),
        (plan(subtask(sequence=0)), {}, "sequence 0"),
        (plan(subtask(tool_hints=["teleport"])), {}, "'teleport', which is no tool"),
        (plan(subtask(tool_hints=[], steps=None)), {}, "names no tool"),
        (convert({"task_criteria": ["a file is there"], "subtasks": []}, Plan), {}, "no subtasks"),
    ],
)
def test_ctl_074_ctl_046_ctl_047_each_rule_refuses_its_offender(offending, more, says):
    assert any(says in one for one in checked(offending, rules(**more))), checked(offending, rules(**more))


def test_ctl_075_a_blocked_tool_is_found_in_hints_without_steps():
    hinted = plan(subtask(tool_hints=["search"], steps=None))
    assert any("blocked tool 'search'" in one for one in checked(hinted, rules(blocked_tools=("search",))))
    assert checked(hinted, rules(blocked_tools=("read",))) == ()


def test_ctl_070_a_memory_of_one_target_leaves_the_others():
    against = (Forbidden(tool="run", target="ls X", why="it failed twice"),)
    on_x = plan(subtask(tool_hints=["run"], steps=[{"tool": "run", "input": {"command": "ls  X"}}]))
    on_y = plan(subtask(tool_hints=["run"], steps=[{"tool": "run", "input": {"command": "ls Y"}}]))
    assert checked(on_x, rules(forbidden=against))
    assert checked(on_y, rules(forbidden=against)) == ()


def test_ctl_074_two_plans_with_the_same_steps_are_one_plan_whatever_they_say():
    assert fingerprint(plan(subtask(intent="something else entirely"))) == fingerprint(plan())
    assert fingerprint(plan(subtask(steps=[{"tool": "read", "input": {"path": "other"}}]))) != fingerprint(plan())
    assert fingerprint(plan(subtask(sequence=2))) != fingerprint(plan())


def _words(count: int) -> frozenset[str]:
    return frozenset(f"w{number}" for number in range(count))


def test_ctl_077_nearly_the_same_plan_does_not_break_symmetry():
    def found(words: int, tools: set[str]) -> tuple[str, ...]:
        intent = " ".join(sorted(_words(words)))
        new = plan(subtask(intent=intent, tool_hints=["glob"], steps=None))
        before = EarlierPlan(fingerprint="sha256:0", tools=frozenset(tools), words=_words(100))
        return checked(new, rules(earlier=(before,), directive="break_symmetry"))

    assert similarity(_words(80), _words(100)) == 0.8
    assert any("nearly the same" in one for one in found(80, {"read"}))
    assert found(79, {"read"}) == ()
    assert any("same tools" in one for one in found(10, {"glob"}))


def test_ctl_077_without_the_directive_a_similar_plan_is_let_through():
    new = plan(subtask(tool_hints=["glob"], steps=None))
    before = EarlierPlan(fingerprint="sha256:0", tools=frozenset({"glob"}), words=remembered(new).words)
    assert checked(new, rules(earlier=(before,), directive="change_path")) == ()


def test_ctl_071_a_plan_that_strays_from_its_directive_is_refused():
    before = EarlierPlan(fingerprint="sha256:0", tools=frozenset({"read"}), words=frozenset())
    shell = plan(subtask(tool_hints=["run"], steps=None))
    looked_up = plan(subtask(tool_hints=["glob", "read"], steps=None))
    written = plan(subtask(tool_hints=["write"], steps=None))
    assert checked(shell, rules(earlier=(before,), directive="refine"))
    assert checked(written, rules(earlier=(before,), directive="refine"))
    assert checked(written, rules(earlier=(before,), directive="change_path")) == ()
    assert checked(shell, rules(earlier=(before,), directive="change_path"))
    assert checked(looked_up, rules(earlier=(before,), directive="refine")) == ()


def test_ctl_048_ctl_298_a_criterion_may_be_a_plain_text():
    given = convert({"task_criteria": ["a", {"criterion": "a"}, {"criterion": "b", "mode": "plausible"}]}, Plan).task_criteria
    first, second, third = criteria_of(given)
    assert first == second == Criterion(criterion="a", mode="verifiable")
    assert third.mode == "plausible"
