"""The tool gateway: what is blocked is not done, what cannot be taken back waits for a person, and every call leaves a record."""

from pathlib import Path
from typing import Any

import pytest

from hindbrain.domain.task import Guards, MustNot
from hindbrain.engines.tool_record import cut_middle, parsed, totals
from hindbrain.policy.tools import TOOLS
from hindbrain.services.control.tools import Toolbox, ToolGateway, path_facts
from hindbrain.stores.command import Commands, Ran
from tests.support.plants import CONTAINED, Asked, box, plan


def gateway(place: Toolbox, asked: Asked | None = None, **subtask: Any) -> ToolGateway:
    return ToolGateway(place, plan(**subtask), asked or Asked())


def test_ctl_091_a_call_is_recorded_with_its_target_and_can_be_read_back(tmp_path: Path) -> None:
    tools = gateway(box(tmp_path, {"a.txt": "hello → world\n"}))

    call = tools.call("read", {"path": "a.txt"}).call

    assert (call.tool, call.input, call.target) == ("read", {"path": "a.txt"}, "a.txt")
    assert (call.output_snippet, call.error) == ("hello → world\n", None)
    assert call.event_id != call.call_id
    assert call.elapsed_ms >= 0
    assert call.rendered.startswith('read: {"path": "a.txt"} → hello')
    assert parsed(call.rendered) == ("read", {"path": "a.txt"}, "a.txt")
    assert tools.outputs == {call.call_id: "hello → world\n"}


@pytest.mark.parametrize(
    ("given", "target"),
    [
        ({"query": "q", "path": "p"}, "q"),
        ({"command": "c", "path": "p"}, "c"),
        ({"url": "u", "path": "p"}, "p"),
        ({"url": "u"}, "u"),
        ({"other": "x"}, None),
    ],
)
def test_ctl_091_the_target_is_the_first_field_of_four(tmp_path: Path, given: dict[str, Any], target: str | None) -> None:
    assert gateway(box(tmp_path)).call("read", given).call.target == target


def test_ctl_092_a_snippet_has_200_characters_and_an_error_80(tmp_path: Path) -> None:
    tools = gateway(box(tmp_path, {"long.txt": "x" * 1000}))

    long = tools.call("read", {"path": "long.txt"}).call
    wrong = tools.call("read", {"path": "missing-" + "y" * 150}).call

    assert long.output_snippet == "x" * 200
    assert wrong.error is not None
    assert len(wrong.error) == 80
    assert f"→ ERROR: {wrong.error}" in wrong.rendered


def test_ctl_093_a_long_text_keeps_its_first_third_and_its_last_two_thirds() -> None:
    text = "a" * 4000 + "b" * 5000

    cut = cut_middle(text, 4000)
    head, _, tail = cut.partition("\n…")

    assert head == "a" * 1333
    assert tail.endswith("…\n" + "b" * 2667)
    assert "5000 characters left out" in tail
    assert cut_middle("short", 4000) == "short"


def test_ctl_097_the_registry_goes_from_looking_to_the_shell() -> None:
    classes = [tool.class_ for tool in TOOLS.values()]
    order = ["search", "file", "application", "shell", "web"]

    assert classes == sorted(classes, key=order.index)
    assert set(TOOLS) >= {"glob", "search", "read", "write", "run", "ask_memory"}
    for name, tool in TOOLS.items():
        assert tool.name == name
        assert tool.target in tool.fields
    assert {name for name, tool in TOOLS.items() if tool.mutating} == {"write", "move", "delete", "run"}
    assert [name for name, tool in TOOLS.items() if not tool.offline] == ["run"]


@CONTAINED
def test_ctl_097_every_tool_of_the_registry_does_its_work(tmp_path: Path) -> None:
    asked = Asked(True)
    tools = gateway(box(tmp_path, {"a.txt": "one\ntwo\nthree\n"}, memory=lambda query: f"remembered {query}"), asked)

    done = {
        "glob": tools.call("glob", {"query": "*.txt"}).output,
        "search": tools.call("search", {"query": "two"}).output,
        "read": tools.call("read", {"path": "a.txt", "start": 2, "lines": 1}).output,
        "write": tools.call("write", {"path": "b.txt", "content": "four"}).output,
        "move": tools.call("move", {"path": "b.txt", "to": "c.txt"}).output,
        "delete": tools.call("delete", {"path": "c.txt"}).output.split("/")[0],
        "ask_memory": tools.call("ask_memory", {"query": "ports"}).output,
        "run": tools.call("run", {"command": "wc -l < a.txt"}).output.strip(),
    }

    assert done == {
        "glob": "a.txt",
        "search": "a.txt:2: two",
        "read": "two\n",
        "write": "wrote 4 characters to b.txt",
        "move": "b.txt is now c.txt",
        "delete": "c.txt is now .hindbrain-trash",
        "ask_memory": "remembered ports",
        "run": "3",
    }
    assert set(done) == set(TOOLS)
    assert [call.error for call in tools.calls] == [None] * len(TOOLS)


@pytest.mark.parametrize(
    ("tool", "given", "wrong"),
    [
        ("paint", {}, "there is no tool"),
        ("read", {}, "lacks path"),
        ("read", {"path": "a", "mode": "w"}, "does not take mode"),
        ("read", {"path": 3}, "is to be str"),
        ("read", {"path": "a", "lines": True}, "is to be int"),
    ],
)
def test_ctl_090_a_call_that_cannot_be_read_is_refused_and_recorded(
    tmp_path: Path, tool: str, given: dict[str, Any], wrong: str
) -> None:
    result = gateway(box(tmp_path, {"a": "x"})).call(tool, given)

    assert result.error is not None
    assert wrong in result.error
    assert result.call.error


def test_ctl_075_ctl_101_a_blocked_tool_and_a_blocked_target_are_not_touched(tmp_path: Path) -> None:
    place = box(tmp_path, {"a.txt": "x", "b.txt": "y"})
    root = str(place.workspace.root)
    tools = gateway(place, must_not=MustNot(tools=("search",), targets=("a.txt", "echo  hi", f"{root}/out/c.txt")))

    blocked = [
        tools.call("search", {"query": "x"}),
        tools.call("read", {"path": "./a.txt"}),
        tools.call("read", {"path": f"{root}/a.txt"}),
        tools.call("move", {"path": "b.txt", "to": "a.txt"}),
        tools.call("run", {"command": " echo hi"}),
        tools.call("write", {"path": "out/../out/c.txt", "content": "z"}),
    ]
    free = tools.call("read", {"path": "b.txt"})

    assert all(result.text.startswith("[BLOCKED]") for result in blocked)
    assert all(str(result.call.error).startswith("[BLOCKED]") for result in blocked)
    assert tools.blocked == 6
    assert free.output == "y"
    assert place.workspace.changed().all == ()


def test_ctl_102_ctl_103_without_a_yes_nothing_that_was_there_is_written_over_or_taken_away(tmp_path: Path) -> None:
    place = box(tmp_path, {"old.txt": "keep"})
    asked = Asked(False, None, False, None)
    tools = gateway(place, asked)

    results = [
        tools.call("write", {"path": "old.txt", "content": "x"}),
        tools.call("delete", {"path": "old.txt"}),
        tools.call("run", {"command": "ls; rm old.txt"}),
        tools.call("run", {"command": "echo x > old.txt"}),
    ]

    assert [result.text.startswith("[LAW1]") for result in results] == [True] * 4
    assert "a person refused it" in results[0].text
    assert "nobody agreed in time" in results[1].text
    assert [question[0] for question in asked.questions] == ["write", "delete", "run", "run"]
    assert asked.questions[2][1] == "ls; rm old.txt"
    assert place.workspace.read("old.txt").text == "keep"
    assert place.workspace.changed().all == ()


@CONTAINED
def test_ctl_102_what_this_run_made_itself_it_may_write_over(tmp_path: Path) -> None:
    asked = Asked()
    tools = gateway(box(tmp_path), asked)

    tools.call("write", {"path": "new.txt", "content": "1"})
    tools.call("write", {"path": "new.txt", "content": "2"})
    ran = tools.call("run", {"command": "cat new.txt > other.txt; cat other.txt"})
    again = tools.call("run", {"command": "echo 3 > other.txt"})

    assert ran.output == "2"
    assert again.error is None
    assert asked.questions == []


def test_ctl_292_a_yes_holds_for_one_action_only(tmp_path: Path) -> None:
    asked = Asked(True, None, True)
    tools = gateway(box(tmp_path, {"a.txt": "1"}), asked)

    first = tools.call("run", {"command": "rm a.txt"})
    (tools._box.workspace.root / "a.txt").write_text("2")  # somebody puts it back
    second = tools.call("run", {"command": "rm a.txt"})
    third = tools.call("delete", {"path": "a.txt"})

    assert first.error is None
    assert second.text.startswith("[LAW1]")
    assert third.error is None
    assert len(asked.questions) == 3


@CONTAINED
def test_ctl_066_under_caution_whatever_changes_something_waits_for_a_yes(tmp_path: Path) -> None:
    place = box(tmp_path, {"a.txt": "1"})
    asked = Asked(None, None, None, True)
    tools = gateway(place, asked, guards=Guards(caution=True))

    written = tools.call("write", {"path": "new.txt", "content": "x"})
    moved = tools.call("move", {"path": "a.txt", "to": "b.txt"})
    made = tools.call("run", {"command": "mkdir d"})
    looked = tools.call("run", {"command": "cat a.txt"})
    agreed = tools.call("write", {"path": "new.txt", "content": "x"})

    assert [one.text.startswith("[CAUTION]") for one in (written, moved, made)] == [True] * 3
    assert looked.output == "1"
    assert agreed.error is None
    assert place.workspace.changed().all == ("new.txt",)


@CONTAINED
def test_ctl_066_a_plan_can_name_single_tools_that_wait_for_a_yes(tmp_path: Path) -> None:
    tools = gateway(box(tmp_path), guards=Guards(confirm=("write",)))

    assert tools.call("write", {"path": "a.txt", "content": "x"}).text.startswith("[CAUTION]")
    assert tools.call("run", {"command": "mkdir d"}).error is None


def test_ctl_102_commands_of_a_run_that_an_agent_started_wait_for_a_person(tmp_path: Path) -> None:
    asked = Asked(True)
    tools = gateway(box(tmp_path, {"a.txt": "1"}, by_person=False), asked)

    agreed = tools.call("run", {"command": "cat a.txt"})
    refused = tools.call("run", {"command": "cat a.txt"})
    read = tools.call("read", {"path": "a.txt"})

    assert agreed.output == "1"
    assert refused.text.startswith("[LAW1]")
    assert read.output == "1"


def test_ctl_102_code_of_a_persons_directory_runs_unasked_only_as_the_person_left_it(tmp_path: Path) -> None:
    files = {"test_it.py": "import unittest\nclass T(unittest.TestCase):\n    def test_it(self): pass\n"}
    asked = Asked()
    tools = gateway(box(tmp_path, files, own=False), asked)

    before = tools.call("run", {"command": "python -m unittest"})
    tools.call("write", {"path": "helper.py", "content": "x = 1\n"})
    after = tools.call("run", {"command": "python -m unittest"})

    assert ("OK" in before.output) is tools._box.commands.contains
    assert after.text.startswith("[LAW1]")


class Watched(Commands):
    """Real commands that keep the limits they were given."""

    limits: list[float]
    connects: list[bool]

    def run(self, command: str, **given: Any) -> Ran:
        self.limits = [*getattr(self, "limits", []), given["timeout_s"]]
        self.connects = [*getattr(self, "connects", []), given["connect"]]
        return super().run(command, **given)


@CONTAINED
def test_ctl_105_a_command_has_30_seconds_and_says_when_they_are_over(tmp_path: Path) -> None:
    place = box(tmp_path)
    watched = Watched(place.workspace.root, temporary=tmp_path, path="/usr/bin:/bin")
    tools = gateway(Toolbox(workspace=place.workspace, commands=watched))

    tools.call("run", {"command": "true"})
    late = tools.call("run", {"command": "echo begun; sleep 60", "timeout_s": 1})
    tools.call("run", {"command": "true", "timeout_s": 100_000})

    assert watched.limits == [30.0, 1.0, 600.0]
    assert late.error == "timed out after 1 s"
    assert late.stops


def test_ctl_102_code_that_the_run_wrote_connects_to_nobody(tmp_path: Path) -> None:
    place = box(tmp_path)
    watched = Watched(place.workspace.root, temporary=tmp_path, path="/usr/bin:/bin")
    tools = gateway(Toolbox(workspace=place.workspace, commands=watched), Asked(True))

    tools.call("run", {"command": "git status"})
    tools.call("write", {"path": "conftest.py", "content": "x = 1"})
    tools.call("run", {"command": "git status"})
    tools.call("run", {"command": "ls"})
    tools.call("run", {"command": "curl --version"})  # asked about, and agreed to

    assert watched.connects == ([True, False, False, True] if watched.contains else [True])


@CONTAINED
def test_ctl_112_a_command_that_failed_says_its_exit_status(tmp_path: Path) -> None:
    tools = gateway(box(tmp_path))

    failed = tools.call("run", {"command": "echo why; false"})
    fine = tools.call("run", {"command": "true"})

    assert failed.call.error == "exit status 1: why"
    assert not failed.stops  # it gave a result, and the plan may go on
    assert fine.call.error is None
    assert [call.evidence_class for call in tools.calls] == ["direct_runtime", "direct_runtime"]


def test_ctl_104_a_bare_name_goes_to_the_output_directory_and_a_path_stays(tmp_path: Path) -> None:
    place = box(tmp_path, {"src/b.py": "x"}, output_directory="out")
    tools = gateway(place)

    for name in ("report.md", "./notes.md", "src/a.py"):
        tools.call("write", {"path": name, "content": "text"})
    found = tools.call("read", {"path": "report.md"})

    assert place.workspace.changed().made == ("out/notes.md", "out/report.md", "src/a.py")
    assert found.output == "text"


def test_ctl_013_ctl_014_calls_and_their_time_add_up_and_none_counts_twice(tmp_path: Path) -> None:
    times = iter([0.0, 0.25, 1.0, 1.5, 2.0, 2.125])
    tools = ToolGateway(box(tmp_path, {"a.txt": "x"}), plan(), Asked(), ticks=lambda: next(times))

    for _ in range(3):
        tools.call("read", {"path": "a.txt"})
    found = totals([*tools.calls, *tools.calls])

    assert [call.elapsed_ms for call in tools.calls] == [250, 500, 125]
    assert (found.calls, found.elapsed_ms) == (3, 875)


def test_ctl_091_the_text_of_a_written_file_is_kept_in_the_file_not_in_the_record(tmp_path: Path) -> None:
    call = gateway(box(tmp_path)).call("write", {"path": "a.txt", "content": "x" * 100_000}).call

    assert len(call.rendered) < 3_000
    assert call.target == "a.txt"


def test_ctl_112_what_lies_at_a_path_is_looked_up_inside_of_the_workspace_only(tmp_path: Path) -> None:
    facts = path_facts(box(tmp_path, {"a.txt": "123", "dir/b": "", "dir/c": ""}).workspace)
    (tmp_path / "outside.txt").write_text("x")

    assert (facts("a.txt").exists, facts("a.txt").size) == (True, 3)
    assert facts("dir").size == 2
    assert not facts("none").exists
    assert not facts("../outside.txt").exists
