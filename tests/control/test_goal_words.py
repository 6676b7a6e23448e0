"""Done means what was asked: no word of a goal is dropped, and no criterion is weaker than its words."""

from pathlib import Path
from typing import Any

import pytest

from hindbrain.domain.task import Clarification, TaskSpec, TaskSpecMore
from hindbrain.engines.goal_words import Refusal, read
from hindbrain.engines.goals import Goal
from hindbrain.engines.planning import request_of
from hindbrain.policy.goal_words import FORMS
from tests.support.goals import lay
from tests.support.world import World

# Goals that rules cannot reach, each with words that a plan by rules would drop.
LEFT_OUT = {
    "write a sorting function in sort.py with tests": ("sorting", "function", "tests"),
    "create config.json with the keys a and b": ("keys", "b"),
    "Sort data/people.csv by age and write it to sorted.csv": ("by", "age"),
    "Count the python files longer than 100 lines": ("longer", "than", "100"),
    "Count the lines and words of a.txt": ("lines",),
    'count the words containing "x" in a.txt': ("containing", '"x"'),
    "Count the lines of each python file": ("each",),
    "Convert a.txt to uppercase and b.txt to lowercase": ("b.txt",),
    'Create a.txt and b.txt with "x"': ("b.txt",),
    "Print the first 3 lines of a.txt": ("first", "3", "lines"),
    "Read a.txt and summarize it": ("summarize",),
    "Build a website": ("website",),
    "Test the login flow": ("login", "flow"),
    "Run 'ls' and check that the output has no errors": ("output", "has", "no", "errors"),
    "Run the tests in tests/test_x.py and fix what fails": ("fix", "what", "fails"),
    "Find the folders": ("folders",),
    "Find python or markdown files": ("python", "or"),
    "Find the config files": ("config",),
    "search for bugs in src": ("bugs",),
    'write "x" to the end of notes.txt': ("end",),
    "Create poem.txt saying something nice": ("something", "nice"),
    "remember that the port is 8080": ("remember", "port", "8080"),
    "delete everything in /etc": ("delete", "everything", "etc"),
}


@pytest.mark.parametrize("sentence", LEFT_OUT)
def test_ctl_082_a_goal_with_a_word_that_no_rule_accounts_for_is_refused_with_that_word(sentence: str) -> None:
    found = read(sentence)

    assert isinstance(found, Refusal)
    assert found.words == LEFT_OUT[sentence]


def test_ctl_082_every_form_that_a_refusal_suggests_is_one_that_rules_can_plan() -> None:
    filled = {"NEW_FILE": "new.txt", "OTHER_FILE": "other.txt", "FILE": "a.txt", "DIRECTORY": "src", "COMMAND": "ls"}
    for kind, form in FORMS.items():
        for sentence in form.split(", or: "):
            for word, value in filled.items():
                sentence = sentence.replace(word, value)
            found = read(sentence)
            assert isinstance(found, Goal), found
            assert found.kind == kind


def test_ctl_082_no_sentence_of_an_answer_and_no_word_of_the_request_is_dropped_by_a_shorter_intent() -> None:
    answered = TaskSpec(
        task_id="t",
        intent="Count the python files.",
        raw_input="?",
        x=TaskSpecMore(clarifications=(Clarification(q="What?", a="Count the python files. Knit a scarf."),)),
    )
    shortened = TaskSpec(task_id="t", intent="Count the python files", raw_input="Count the python files by size")

    assert [one.sentence for one in request_of(answered).refused] == ["Knit a scarf."]
    assert [one.words for one in request_of(shortened).refused] == [("by", "size")]


def _text(work: Path, name: str) -> str:
    return (work / name).read_text(encoding="utf-8")


def _out(shown: dict[str, Any]) -> str:
    return str(shown["final"]["output"]).strip()


IN_REACH: dict[str, Any] = {
    "Count the lines of docs/meeting_notes.txt": lambda shown, work: _out(shown) == "4",
    'Create notes/plan.txt with the text "first: measure"': lambda shown, work: (
        _text(work, "notes/plan.txt") == "first: measure\n"
    ),
    "Remove duplicate lines from docs/meeting_notes.txt and write them to uniq.txt": lambda shown, work: (
        _text(work, "uniq.txt") == "pear\napple\nfig\n"
    ),
    'Find the lines that contain "TODO" in src': lambda shown, work: _out(shown) == "src/calc.py:4: # TODO: subtract",
    "Verify that notes.md exists and is not empty. Count the markdown files.": lambda shown, work: "'1'" in _out(shown),
    'Replace "timeout" with "limit" in deep/er/config_settings.ini and save it as limits.ini': lambda shown, work: (
        _text(work, "limits.ini") == "limit = 30\n"
    ),
}
OUT_OF_REACH = (
    "write a sorting function in sort.py with tests",
    "create config.json with the keys a and b",
    "Sort data/people.csv by age and write it to sorted.csv",
    'Replace "colour" with "color" in notes.md and save it as us.md',  # the word does not occur
    "Count the files in nowhere",  # there is no such directory
    "Delete everything in /etc",
)


@pytest.fixture(scope="module")
def ran(tmp_path_factory: pytest.TempPathFactory) -> Any:
    """Twelve goals, each to its end."""
    world = World(tmp_path_factory.mktemp("done"))
    root = world.repository("app")
    lay(Path(root))
    assert world.at(root).call("ingest", path=root, project_root=root)["ok"]
    world.clock.catch_up()
    person = world.human(root)
    yield person, {goal: person.call("run", goal=goal, wait_s=100) for goal in (*IN_REACH, *OUT_OF_REACH)}
    world.close()


def test_ctl_304_of_twelve_goals_those_in_reach_are_done_and_no_other_is(ran: Any) -> None:
    _, shown = ran

    for goal, holds in IN_REACH.items():
        assert shown[goal]["directive"] == "accept", shown[goal]["rendered"]
        assert holds(shown[goal], Path(shown[goal]["workspace"])), shown[goal]["rendered"]
    for goal in OUT_OF_REACH:
        assert shown[goal]["directive"] == "abandon", shown[goal]["rendered"]
        assert "done" not in shown[goal]["rendered"].splitlines()
        assert shown[goal]["exit_code"] == 1


def test_ctl_246_a_refused_goal_names_the_words_and_what_would_handle_them(ran: Any) -> None:
    told = ran[1]["write a sorting function in sort.py with tests"]

    assert "no rule handles sorting, function, tests in" in told["rendered"]
    assert 'without sorting, function, tests. For example: Create FILE with the text "TEXT"' in told["rendered"]
    assert "hindbrain control models" in told["rendered"]
    assert told["changed"] == []


def test_exp_009_a_goal_that_was_not_reached_leaves_no_experience_of_success(ran: Any) -> None:
    person, _ = ran

    for space in ("intent:write_a_sorting", "intent:create_configjson_with", "intent:count_the_files"):
        found = person.call("experience.query", space=space)
        assert {one["state"] for one in found["recent"]} <= {"abandon"}
        assert found["action"] != "Exploit"


def test_ctl_082_a_file_of_a_similar_name_is_named_in_the_result(ran: Any) -> None:
    person, _ = ran

    told = person.call("run", goal="Count the words of meeting_nots.txt", wait_s=100)

    assert told["directive"] == "accept"
    assert "Used docs/meeting_notes.txt for meeting_nots.txt." in told["rendered"]


def test_ctl_082_a_count_of_a_part_is_no_count(ran: Any, tmp_path: Path) -> None:
    """A search shows a limited number of lines; what is beyond it counts as well."""
    person, _ = ran
    (tmp_path / "long.txt").write_text("x\n" * 30_000, encoding="utf-8")

    told = person.call("run", goal="Count the lines of all text files", workspace=str(tmp_path), wait_s=100)

    assert (told["directive"], _out(told)) == ("accept", "30000"), told["rendered"]
