"""Planning by rules: what sentences ask for, which way is gone, and which one after it."""

import pytest

from hindbrain.domain.task import TaskSpec
from hindbrain.engines.calibration import Calibration, Entry
from hindbrain.engines.goal_words import goal_of
from hindbrain.engines.plan_check import PlanRules, checked, fingerprint, remembered
from hindbrain.engines.planning import Proposal, Reputation, acts_to_ask, propose, request_of
from hindbrain.engines.transforming import TRANSFORMS
from hindbrain.engines.ways import ways_to
from hindbrain.engines.wording import parts_of, paths_in
from hindbrain.policy.checks import CHECKS
from hindbrain.policy.tools import TOOLS
from tests.support.planning import a_spec

CLASSES = {name: tool.class_ for name, tool in TOOLS.items()}

TEN = {
    "Find all Python files in src": [("glob", "src/**/*.py")],
    'Find files containing "TODO" in docs': [("search", "TODO")],
    "Count the lines in notes.txt": [("read", "notes.txt")],
    "How many markdown files are there?": [("glob", "*.md")],
    'Replace "foo" with "bar" in config.txt and save it as out.txt': [("read", "config.txt"), ("write", "out.txt")],
    "Sort and dedupe names.txt into sorted.txt": [("read", "names.txt"), ("write", "sorted.txt")],
    "Convert data.csv to data.json": [("read", "data.csv"), ("write", "data.json")],
    'Create hello.txt with content "hello world"': [("write", "hello.txt")],
    "Verify that hello.txt exists": [("glob", "hello.txt")],
    "Run the tests": [("run", "python -m pytest -q")],
}

MORE = (
    "list the files in docs",
    "show README.md",
    'count how often "error" occurs in app.log',
    'count the lines containing "ERR" in app.log',
    "count words in docs/a.md",
    "count the lines of all python files",
    'count the occurrences of "foo"',
    'how many files contain "x"?',
    "convert people.json to people.csv",
    "make a.txt uppercase into b.txt",
    "lowercase A.txt into a.txt",
    "reverse the lines of a.txt into b.txt",
    "remove duplicate lines from list.txt into uniq.txt",
    "concatenate a.txt and b.txt into c.txt",
    'check that a.txt contains "x y"',
    'verify that a.txt equals "one line"',
    "verify that a.txt and b.txt are identical",
    "verify the sha256 of a.txt",
    "run `make check`",
    "run python3 -c 'print(1)'",
    "build the project",
    "what do we know about caching?",
    "find the largest files",
)


def rules(spec: TaskSpec, **more: object) -> PlanRules:
    return PlanRules(intent=spec.intent, tools=CLASSES, **more)  # type: ignore[arg-type]


def proposed(
    text: str,
    *,
    before: Proposal | None = None,
    calibration: Calibration | None = None,
    reputation: Reputation | None = None,
    **more: object,
) -> Proposal:
    spec = a_spec(text)
    earlier = (remembered(before.plan),) if before is not None and before.plan is not None else ()
    return propose(
        request_of(spec),
        spec=spec,
        rules=rules(spec, earlier=earlier, **more),
        calibration=calibration or Calibration(),
        reputation=reputation or Reputation(),
        before=before.ways if before is not None else (),
    )


def acts(proposal: Proposal) -> list[tuple[str, object]]:
    fields = ("query", "command", "path")
    return [
        (step.tool, next((step.input[one] for one in fields if one in step.input), None))
        for way in proposal.ways
        for step in way.steps
    ]


# -- what a sentence asks for ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("text", TEN)
def test_ctl_082_ten_intents_each_give_a_plan_that_its_check_lets_through(text):
    found = proposed(text)
    assert found.plan is not None
    assert acts(found) == TEN[text]
    assert checked(found.plan, rules(a_spec(text))) == ()
    assert len(found.plan.subtasks) == 1
    assert all(one.mode == "verifiable" for one in found.plan.task_criteria)


@pytest.mark.parametrize("text", [*TEN, *MORE])
def test_ctl_082_every_way_to_every_goal_is_one_that_tools_and_checks_can_take(text):
    for goal in request_of(a_spec(text)).goals:
        for way in ways_to(goal):
            for step in way.steps:
                fields = TOOLS[step.tool].fields
                own = {key.removesuffix("_from") for key in step.input} - {"transform", "args", "then", "then_args"}
                assert own <= set(fields)
                assert {name for name, one in fields.items() if one.needed} <= own
                assert {step.input[key] for key in ("transform", "then") if key in step.input} <= set(TRANSFORMS)
    found = proposed(text)
    assert found.plan is not None
    for criterion in found.plan.task_criteria:
        check = criterion.x.check
        assert check is not None
        known = CHECKS[check.kind]
        assert set(known.needs) <= set(check.args) <= {*known.needs, *known.takes}


def test_ctl_082_criteria_come_from_the_verb():
    told = {text: [one.criterion for one in proposed(text).plan.task_criteria] for text in TEN}  # type: ignore[union-attr]
    assert told["Find all Python files in src"] == ["output names at least one existing path", "src exists"]
    assert told["Run the tests"] == ["exit status is 0: tests"]
    assert told['Create hello.txt with content "hello world"'] == [
        "file hello.txt exists and is not empty",
        "file hello.txt has exactly the given text",
    ]


def test_ctl_049_ctl_082_one_subtask_per_sentence_or_numbered_line_and_no_more():
    one = proposed("Count the lines in a.txt")
    two = proposed("1. Count the lines in a.txt\n2. Sort b.txt into c.txt")
    three = proposed("Sort b.txt into c.txt. Count the lines in c.txt, then verify that d.txt exists.")
    assert [len(found.plan.subtasks) for found in (one, two, three)] == [1, 2, 3]  # type: ignore[union-attr]
    assert [draft.sequence for draft in two.plan.subtasks] == [1, 1]  # type: ignore[union-attr]
    assert [draft.sequence for draft in three.plan.subtasks] == [1, 2, 3]  # type: ignore[union-attr]


def test_ctl_082_a_quotation_is_never_cut_and_no_path_is_read_out_of_it():
    assert parts_of('Create a.txt with content "One. Two; then three."\nCount the lines in a.txt.') == (
        'Create a.txt with content "One. Two; then three."',
        "Count the lines in a.txt.",
    )
    assert paths_in('find "see notes.txt for more" in docs/a.md') == ("docs/a.md",)
    goal = goal_of('Create a.txt with content "b.txt is gone. Really."')
    assert goal is not None
    assert (goal.files, goal.parts["content"]) == (("a.txt",), "b.txt is gone. Really.")


def test_ctl_082_what_no_rule_knows_is_said_and_not_guessed():
    found = proposed("clean up the recent stuff")
    assert found.plan is None
    assert "clean up the recent stuff" in found.findings[0]
    partly = proposed("Count the lines in a.txt. Make everything nicer.")
    assert partly.plan is None
    assert "Make everything nicer" in partly.findings[0]


def test_ctl_082_text_of_a_person_is_one_word_of_a_shell_line():
    found = proposed('find files containing "$(touch x)\'; ls"', blocked_tools=("search",))
    assert acts(found) == [("run", "grep -rn -F -- '$(touch x)'\\''; ls' .")]


# -- another way under a directive ---------------------------------------------------------------------------------------


def test_ctl_071_refine_keeps_the_tool_and_changes_its_input():
    first = proposed("count the lines in notes.txt")
    second = proposed("count the lines in notes.txt", before=first, directive="refine", blocked_targets=("notes.txt",))
    assert second.ways[0].main == first.ways[0].main == "read"
    assert second.ways[0].steps != first.ways[0].steps


def test_ctl_071_change_path_keeps_the_class_and_changes_the_target():
    text = "count the words of notes.txt"
    first = proposed(text)
    second = proposed(text, before=first, directive="change_path", blocked_targets=("notes.txt",))
    assert CLASSES[second.ways[0].main] == CLASSES[first.ways[0].main]
    assert acts(second)[0] == ("glob", "**/notes.txt")


@pytest.mark.parametrize("directive", ["change_approach", "break_symmetry"])
def test_ctl_071_another_approach_uses_none_of_the_blocked_tools_and_another_class(directive):
    first = proposed("count the lines in notes.txt")
    second = proposed("count the lines in notes.txt", before=first, directive=directive, blocked_tools=("read",))
    assert second.ways[0].main == "run"
    assert CLASSES[second.ways[0].main] != CLASSES[first.ways[0].main]


def test_ctl_071_a_part_that_did_not_fail_keeps_its_way():
    text = "Count the lines in a.txt. Count the words in b.txt."
    first = proposed(text)
    second = proposed(text, before=first, directive="change_path", blocked_targets=("b.txt",))
    assert second.ways[0] == first.ways[0]
    assert second.ways[1] != first.ways[1]


def test_ctl_074_no_plan_is_proposed_twice_though_nothing_is_blocked():
    first = proposed("count the lines in notes.txt")
    second = proposed("count the lines in notes.txt", before=first, directive="change_path")
    assert second.plan is not None
    assert first.plan is not None
    assert fingerprint(second.plan) != fingerprint(first.plan)


def test_ctl_071_when_no_way_is_left_there_is_no_plan():
    found = proposed("run `make check`", blocked_tools=("run",), directive="change_approach")
    assert found.plan is None
    assert "no way is left" in found.findings[0]


def test_ctl_071_what_is_blocked_stays_blocked_even_where_the_class_must_change():
    text = "sort names.txt into sorted.txt"
    first = proposed(text)
    second = proposed(text, before=first, directive="change_path", blocked_targets=("names.txt", "sorted.txt"))
    assert [step.tool for step in second.ways[0].steps] == ["run"]


# -- memory ------------------------------------------------------------------------------------------------------------


def told(text: str, *, prefer: bool) -> Calibration:
    return Calibration(entries=(Entry(id="m1", text=text, prefer=prefer),))


def test_ctl_063_what_worked_before_comes_first():
    text = "count the lines in notes.txt"
    usual = proposed(text)
    better = proposed(text, calibration=told("Succeeded. Tools: glob *note*, read docs/notes.txt. Result: 3", prefer=True))
    assert acts(usual) == [("read", "notes.txt")]
    assert acts(better)[0] == ("glob", "*note*")
    by_pair = proposed(text, reputation=Reputation(acts={("run", "wc -l < notes.txt"): "Exploit"}))
    assert acts(by_pair) == [("run", "wc -l < notes.txt")]


def test_ctl_070_what_memory_avoids_is_not_gone_while_another_way_is_left():
    found = proposed("count the lines in notes.txt", reputation=Reputation(acts={("read", "notes.txt"): "Avoid"}))
    assert acts(found)[0] == ("glob", "**/notes.txt")
    same = proposed("count the lines in notes.txt", calibration=told("Failed. Tools tried: read notes.txt. Gap: x", prefer=False))
    assert acts(same)[0] == ("glob", "**/notes.txt")
    other = proposed("count the lines in other.txt", reputation=Reputation(acts={("read", "notes.txt"): "Avoid"}))
    assert acts(other) == [("read", "other.txt")]


def test_ctl_070_a_tool_is_put_last_only_when_many_targets_speak_against_it():
    text = "count the lines in notes.txt"
    one_target = proposed(text, reputation=Reputation(tools={"read": (1.7, -1.7)}))
    assert acts(one_target) == [("read", "notes.txt")]
    many = proposed(text, reputation=Reputation(tools={"read": (5.1, -3.4)}))
    assert acts(many) == [("run", "wc -l < notes.txt")]


def test_exp_006_who_asks_anew_or_names_the_thing_outweighs_memory_where_no_other_way_is_left():
    from hindbrain.domain.task import OverriddenRule
    from hindbrain.engines.plan_check import Forbidden

    rule = OverriddenRule(id="r1", space="intent:run_make_check", entity="env:local", sigma=-1.0)
    memory = Calibration(entries=(Entry(id="r1", text="Do not: run make check", prefer=False, rule=rule),))
    against = (Forbidden(tool="run", target="make check", why="it failed"),)
    found = proposed("run `make check`", calibration=memory, forbidden=against)
    assert acts(found) == [("run", "make check")]
    assert found.yielded == (rule,)
    unnamed = Reputation(acts={("run", one): "Avoid" for one in ("make build", "make", "npm run build")})
    asked_anew = proposed("build the project", reputation=unnamed, forbidden=unnamed.forbidden())
    assert acts(asked_anew) == [("run", "make build")]
    refused = proposed("build the project", reputation=unnamed, forbidden=unnamed.forbidden(), directive="change_path")
    assert refused.plan is None
    assert "memory advises against every way" in refused.findings[0]


def test_ctl_070_memory_is_asked_about_the_acts_of_every_way_the_best_first():
    asked = acts_to_ask(request_of(a_spec("Count the lines in a.txt. Sort b.txt into c.txt.")))
    assert asked[:3] == (("read", "a.txt"), ("read", "b.txt"), ("write", "c.txt"))
    assert ("run", "wc -l < a.txt") in asked
    assert len(set(asked)) == len(asked)
