"""Reports and diffs are read as data: the protocol, and everything that is none."""

import time
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from hindbrain.engines.delegation import named_path, paths_in_diff
from hindbrain.engines.delegation_prompt import parse_report
from tests.support.delegation import CHILD, TASK, cherry
from tests.support.world import World, git


def test_med_216_a_report_by_the_protocol_is_read_back(world: World) -> None:
    _, mother = cherry(world)
    packet = mother.call("delegate", task=TASK)
    protocol = packet["prompt_markdown"].rpartition("## Your report")[2]
    assert f"[m1nd {packet['delegation_id']}]" in protocol
    assert "DEVIATIONS" in protocol
    assert "FINDINGS" in protocol

    report = f"[m1nd {packet['delegation_id']}]\nDEVIATIONS: src/ship.py, docs/a b.md\nFINDINGS: one | two\n\nAnd so on: none.\n"
    told = parse_report(report)
    answer = mother.call(
        "debrief", delegation_id=packet["delegation_id"], subagent_id=CHILD, outcome="partial", report_text=report
    )

    assert told.delegation_id == packet["delegation_id"]
    assert (told.deviations, told.findings) == (("src/ship.py", "docs/a b.md"), ("one", "two"))
    assert answer["conformance"]["outside"] == ["src/ship.py", "docs/a b.md"]
    assert len([one for one in answer["learned"]["memorized"] if one["slug"].startswith(("one", "two"))]) == 2


def test_med_216_other_shapes_of_a_report() -> None:
    listed = parse_report("[m1nd dlg_1_abcdef] done\n**DEVIATIONS**: none\n## FINDINGS\n- a, b\n2. c\n* d\n- e\n\ntext\n- f\n")
    assert (listed.deviations, listed.findings, listed.left_out) == ((), ("a, b", "c", "d"), 1)
    assert parse_report("findings - None.\ndeviations: n/a").findings == ()
    nothing = parse_report("All is well.")
    assert (nothing.delegation_id, nothing.deviations, nothing.findings) == (None, (), ())


def test_a_report_is_held_against_what_was_touched_and_against_its_packet(world: World) -> None:
    _, mother = cherry(world)
    packet = mother.call("delegate", task=TASK)
    given: dict[str, Any] = {"delegation_id": packet["delegation_id"], "subagent_id": CHILD, "outcome": "success"}

    silent = mother.call("debrief", **given, report_text="DEVIATIONS: none\nFINDINGS: none", touched_paths=["src/ship.py"])
    other = mother.call("debrief", **given, report_text="[m1nd dlg_1_abcdef]\nFINDINGS: x")

    assert silent["caveats"] == ["report_without_id", "deviations_not_reported"]
    assert other["error"]["code"] == "invalid_params"


def test_med_221_findings_of_the_report_are_kept_beside_those_that_were_given(world: World) -> None:
    _, mother = cherry(world)
    packet = mother.call("delegate", task=TASK)
    report = (
        f"[m1nd {packet['delegation_id']}]\nDEVIATIONS: none\nFINDINGS: a narwhal  holds the retry up | an otter holds it down"
    )

    answer = mother.call(
        "debrief",
        delegation_id=packet["delegation_id"],
        subagent_id=CHILD,
        outcome="partial",
        findings=["a narwhal holds the retry up"],
        report_text=report,
    )

    slugs = [one["slug"] for one in answer["learned"]["memorized"]]
    assert [sum(word in slug for slug in slugs) for word in ("narwhal", "otter")] == [1, 1], "each once, none dropped"


def test_a_real_diff_names_its_files(world: World) -> None:
    root = world.repository("r", a_py="one\n", old_py="x = 1\ny = 2\nz = 3\n", gone_py="g\n")
    git(root, "add", "-A")
    git(root, "commit", "-qm", "first")
    place = world.place / "r"
    (place / "a.py").write_text("one\n--- a/inside.py\n+++ b/inside.py\n")
    (place / "old.py").rename(place / "new.py")
    (place / "gone.py").unlink()
    (place / "grün weg.py").write_text("made\n")
    (place / 'quo"te.py').write_text("made\n")
    git(root, "add", "-A")

    diff = git(root, "diff", "--cached", "-M")

    assert set(paths_in_diff(diff)) == {"a.py", "old.py", "new.py", "gone.py", "grün weg.py", 'quo"te.py'}
    assert set(paths_in_diff(diff.replace("\n", "\r\n"))) >= {"a.py", "old.py", "new.py", "gone.py"}
    assert paths_in_diff("--- x.py\t2026-01-01\n+++ x.py\t2026-01-02\n@@ -1 +1 @@\n-a\n+b\n") == ("x.py",)


@given(st.text(max_size=300))
def test_no_text_breaks_a_reader(text: str) -> None:
    for shape in (
        text,
        f"FINDINGS: {text}",
        f"DEVIATIONS: {text}",
        f"diff --git a/{text} b/{text}",
        f'+++ "b/{text}"',
        f"@@ {text}",
    ):
        parse_report(shape)
        for path in paths_in_diff(shape):
            named = named_path(path)
            assert named is None or not named.startswith(("/", "../"))


def test_a_huge_line_is_read_in_no_time() -> None:
    started = time.thread_time()
    for line in (
        "diff --git a/" + " b/" * 300_000,
        "+++ " + '"\\' * 300_000,
        "FINDINGS" + " *_" * 20_000,
        "FINDINGS:" + "|" * 60_000,
    ):
        paths_in_diff(line)
        parse_report(line[:65_536])
    assert time.thread_time() - started < 5


def test_a_diff_is_read_with_the_prefixes_that_git_was_told_to_write(world: World) -> None:
    root = world.repository("r")
    place = world.place / "r"
    for name in ("a/x.py", "x b/y.py", "old.py"):
        (place / name).parent.mkdir(exist_ok=True)
        (place / name).write_text("one\ntwo\nthree\n")
    git(root, "add", "-A")
    git(root, "commit", "-qm", "first")
    for name in ("a/x.py", "x b/y.py"):
        (place / name).write_text("two\n")
    (place / "x b/y.py").chmod(0o755)
    (place / "empty.py").write_text("")
    git(root, "mv", "old.py", "new.py")
    git(root, "add", "-A")

    for told in ((), ("-c", "diff.mnemonicPrefix=true"), ("-c", "diff.noprefix=true")):
        diff = git(root, *told, "diff", "--cached", "-M")
        assert set(paths_in_diff(diff)) == {"a/x.py", "x b/y.py", "old.py", "new.py", "empty.py"}, told
