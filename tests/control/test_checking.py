"""Checks: what tool calls show, which check a sentence means, and how verdicts come to one."""

import time

import pytest

from hindbrain.domain.task import CheckSpec
from hindbrain.engines.checking import Evidence, Finding, PathFact, asked_paths, check
from hindbrain.engines.criteria import phrased
from hindbrain.engines.judging import Opinion, accepted, attempt_class, classed, judged, mechanical, not_shown
from hindbrain.engines.showing import Shown, proving
from hindbrain.engines.supporting import unsupported, untouched
from tests.support.attempts import checked, criterion, shown

LS = shown(1, "run", {"command": "ls"}, "a.txt\nb.txt\nc.txt")
READ = shown(2, "read", {"path": "notes.txt"}, "total 1,234 items\nratio 0.5\n3 left")
JSON = shown(3, "read", {"path": "data.json"}, '{"runs": [{"name": "one", "ok": true}], "n": 3, "odd key": null}')


def made(kind: str, *calls: Shown, paths: dict[str, PathFact] | None = None, **args: object) -> Finding:
    return check(CheckSpec(kind=kind, args=args), Evidence(shown=calls, paths=paths or {}))  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("sentence", "kind", "args"),
    [
        ("file report.md exists", "path_exists", {"path": "report.md"}),
        ("`out/a b.txt` exists and is not empty", "path_nonempty", {"path": "out/a b.txt"}),
        ("exit status is 2", "exit_status", {"equals": 2}),
        ("the tests pass", "exit_status", {"equals": 0}),
        ('the output contains "two words"', "contains", {"text": "two words"}),
        ("output matches /^v\\d+$/", "regex", {"pattern": "^v\\d+$"}),
        ("Output contains the number 42.", "number", {"equals": 42}),
        ("output lists at least three files", "count_at_least", {"n": 3, "of": "lines"}),
        ('output contains "x" at least 4 times', "count_at_least", {"n": 4, "of": "text", "text": "x"}),
        ("output names at least one existing path", "count_at_least", {"n": 1, "of": "paths"}),
        ("output is not empty", "count_at_least", {"n": 1, "of": "lines"}),
        ("JSON path $.runs[0].ok equals true", "json_path", {"path": "$.runs[0].ok", "equals": True}),
        ('the result does not contain "old"', "contains", {"text": "old", "absent": True}),
    ],
)
def test_ctl_127_a_sentence_means_a_check(sentence: str, kind: str, args: dict[str, object]) -> None:
    assert phrased(sentence) == CheckSpec(kind=kind, args=args)  # type: ignore[arg-type]


@pytest.mark.parametrize("sentence", ["the work is done well", "file exists and is not empty", "it is not empty"])
def test_ctl_127_a_sentence_that_names_nothing_means_no_check(sentence: str) -> None:
    assert phrased(sentence) is None


@pytest.mark.parametrize(
    ("kind", "args", "passes"),
    [
        ("contains", {"text": "b.txt"}, True),
        ("contains", {"text": "d.txt"}, False),
        ("contains", {"text": "b.txt", "target": "notes.txt"}, False),
        ("contains", {"text": "d.txt", "absent": True}, True),
        ("contains", {"text": "b.txt", "absent": True}, False),
        ("regex", {"pattern": "^c\\.txt$"}, True),
        ("regex", {"pattern": "^x"}, False),
        ("regex", {"pattern": "("}, False),
        ("number", {"equals": 1234}, True),
        ("number", {"equals": 0.5}, True),
        ("number", {"equals": 234}, False),
        ("number", {"equals": 0}, False),
        ("number", {"equals": "3"}, False),
        ("count_at_least", {"n": 3, "target": "ls"}, True),
        ("count_at_least", {"n": 4, "target": "ls"}, False),
        ("count_at_least", {"n": 3, "of": "items"}, True),
        ("count_at_least", {"n": 4, "of": "items"}, False),
        ("count_at_least", {"n": 3, "of": "text", "text": ".txt"}, True),
        ("count_at_least", {"n": 4, "of": "text", "text": ".txt"}, False),
        ("count_at_least", {"n": 1, "of": "moons"}, False),
        ("json_path", {"path": "$.runs[0].name", "equals": "one"}, True),
        ("json_path", {"path": "$.n", "equals": 3.0}, True),
        ("json_path", {"path": "$['odd key']", "equals": None}, True),
        ("json_path", {"path": "$.runs[0].ok", "equals": 1}, False),
        ("json_path", {"path": "$.runs[1].name", "equals": None}, False),
        ("json_path", {"path": "$..name", "equals": "one"}, False),
        ("exit_status", {"equals": 0}, True),
        ("exit_status", {"equals": 1}, False),
        ("claim_verified", {}, False),
        ("contains", {}, False),
        ("contains", {"text": "b.txt", "colour": "red"}, False),
    ],
)
def test_ctl_127_checks_by_what_the_calls_gave(kind: str, args: dict[str, object], passes: bool) -> None:
    found = made(kind, LS, READ, JSON, **args)

    assert found.passed is passes
    assert bool(found.event_ids) is passes
    assert found.evidence
    assert passes or found.remedy


def test_ctl_127_a_pattern_that_never_ends_is_stopped() -> None:
    endless = shown(1, "read", {"path": "a"}, "a" * 60 + "b")
    began = time.monotonic()

    found = made("regex", endless, pattern="^(a|a|aa)+$")

    assert not found.passed
    assert time.monotonic() - began < 30


def test_ctl_127_paths_are_checked_by_facts_that_were_looked_up() -> None:
    hits = shown(1, "search", {"query": "x"}, "src/a.py:3: x\nsrc/b.py:4: x\nnot a path")
    spec = CheckSpec(kind="count_at_least", args={"n": 2, "of": "paths"})
    asked = asked_paths(spec, (hits,))
    there = {path: PathFact(exists=path.endswith(".py"), size=1) for path in asked}

    assert asked == ("src/a.py", "src/b.py", "not a path")
    assert check(spec, Evidence(shown=(hits,), paths=there)).passed
    assert not check(spec, Evidence(shown=(hits,), paths=there | {"src/b.py": PathFact(exists=False)})).passed


@pytest.mark.parametrize(
    ("texts", "args", "passes"),
    [
        ({"o.txt": "a\n"}, {"text": "a\n"}, True),
        ({"o.txt": "a\n"}, {"text": "b\n"}, False),
        ({}, {"text": "a\n"}, False),
        ({"o.txt": "a\nb\n", "i.txt": "b\na\n"}, {"sources": ["i.txt"], "changes": [["sort_lines", {}]]}, True),
        ({"o.txt": "b\na\n", "i.txt": "b\na\n"}, {"sources": ["i.txt"], "changes": [["sort_lines", {}]]}, False),
        ({"o.txt": "ab", "i.txt": "a", "j.txt": "b"}, {"sources": ["i.txt", "j.txt"], "changes": []}, True),
        ({"o.txt": "a", "i.txt": "a", "j.txt": "b"}, {"sources": ["i.txt", "j.txt"], "changes": []}, False),
        ({"o.txt": "a", "i.txt": "a"}, {"sources": ["i.txt"], "changes": [["replace", {"old": "x", "new": "y"}]]}, False),
    ],
)
def test_ctl_127_a_file_that_was_made_is_compared_with_the_text_it_must_have(
    texts: dict[str, str], args: dict[str, object], passes: bool
) -> None:
    wrote = shown(2, "write", {"path": "o.txt"}, "wrote 2 characters to o.txt")
    evidence = Evidence(shown=(wrote,), paths={"o.txt": PathFact(exists=True, size=2)}, texts=texts)

    assert check(CheckSpec(kind="path_equals", args={"path": "o.txt", **args}), evidence).passed is passes


def test_ctl_127_a_file_that_was_changed_in_its_place_is_compared_with_what_was_read_before() -> None:
    read = shown(1, "read", {"path": "o.txt"}, "b\na\n")
    wrote = shown(2, "write", {"path": "o.txt"}, "wrote 4 characters to o.txt")
    spec = CheckSpec(kind="path_equals", args={"path": "o.txt", "sources": ["o.txt"], "changes": [["sort_lines", {}]]})
    there = {"o.txt": PathFact(exists=True, size=4)}

    assert check(spec, Evidence(shown=(read, wrote), paths=there, texts={"o.txt": "a\nb\n"})).passed
    assert not check(spec, Evidence(shown=(read, wrote), paths=there, texts={"o.txt": "b\na\n"})).passed
    assert not check(spec, Evidence(shown=(wrote,), paths=there, texts={"o.txt": "a\nb\n"})).passed


def test_ctl_126_a_path_that_no_call_touched_proves_nothing() -> None:
    there = {"report.md": PathFact(exists=True, size=9), "empty.md": PathFact(exists=True), "gone.md": PathFact(exists=False)}
    write = shown(1, "write", {"path": "report.md", "content": "x"}, "written")
    empty = shown(2, "write", {"path": "empty.md", "content": ""}, "written")

    assert made("path_exists", write, paths=there, path="report.md").event_ids == ("ev1",)
    assert made("path_nonempty", write, paths=there, path="report.md").passed
    assert made("path_exists", empty, paths=there, path="empty.md").passed
    assert not made("path_nonempty", empty, paths=there, path="empty.md").passed
    assert not made("path_exists", LS, paths=there, path="report.md").passed
    assert not made("path_exists", write, paths=there, path="gone.md").passed


def test_ctl_112_a_look_after_a_failed_action_proves_nothing() -> None:
    download = shown(1, "run", {"command": "curl -o data.csv http://x"}, "", "exit status 7: could not connect")
    look = shown(2, "run", {"command": "ls -l data.csv"}, "data.csv")
    again = shown(3, "run", {"command": "wget -O data.csv http://x"}, "saved data.csv")
    there = {"data.csv": PathFact(exists=True, size=10)}

    assert not made("path_exists", download, look, paths=there, path="data.csv").passed
    assert not made("contains", download, look, text="data.csv").passed
    assert made("path_exists", download, again, look, paths=there, path="data.csv").passed
    assert [one.call.event_id for one in proving((download, look, again))] == ["ev3"]


def test_ctl_112_an_action_that_was_killed_failed_whatever_its_status_says() -> None:
    killed = shown(1, "run", {"command": "fetch data.csv"}, "Killed")
    look = shown(2, "glob", {"query": "data.csv"}, "data.csv")

    assert proving((killed, look)) == ()
    assert not made("path_exists", killed, look, paths={"data.csv": PathFact(exists=True, size=1)}, path="data.csv").passed


def test_ctl_127_the_status_is_how_the_program_ended_and_not_what_it_printed() -> None:
    fine = shown(1, "run", {"command": "make"}, "child: exit status 3")
    broke = shown(2, "run", {"command": "make"}, "exit status 0", "exit status 3: broke")
    endless = shown(3, "run", {"command": "make"}, "", "timed out after 30 s")

    assert made("exit_status", fine, equals=0).passed
    assert made("exit_status", broke, equals=3).passed
    assert not made("exit_status", broke, equals=0).passed
    assert "timed out" in made("exit_status", endless, equals=0).evidence
    assert not made("exit_status", shown(4, "read", {"path": "a"}, "x"), equals=0).passed


@pytest.mark.parametrize("word", ["[BLOCKED]", "[CAUTION]", "[LAW1]"])
def test_ctl_101_ctl_112_a_call_that_was_not_made_shows_nothing(word: str) -> None:
    refused = shown(1, "run", {"command": "make a.txt"}, f"{word} make a.txt")

    assert proving((refused, LS)) == ()
    assert not made("contains", refused, text="a.txt").passed


def test_ctl_112_another_file_that_was_written_does_not_stand_for_one_that_was_not() -> None:
    there = {"a.md": PathFact(exists=True, size=1), "b.md": PathFact(exists=True, size=1)}
    refused = shown(1, "write", {"path": "a.md", "content": "x"}, "", "disk full")
    written = shown(2, "write", {"path": "b.md", "content": "x"}, "written")
    look = shown(3, "glob", {"query": "*.md"}, "a.md\nb.md")

    assert not made("path_exists", refused, written, look, paths=there, path="a.md").passed
    assert made("path_exists", refused, written, look, paths=there, path="b.md").passed


def test_ctl_109_ctl_110_every_criterion_alone_and_all_of_them_together() -> None:
    criteria = (criterion('output contains "a.txt"'), criterion('output contains "z"'), criterion("the count is at least 2"))
    evidence = Evidence(shown=(LS,))

    one = judged(mechanical(criteria, evidence, ""), (LS,))
    better = judged(mechanical((criteria[0], criteria[2]), evidence, ""), (LS,))

    assert [verdict.verdict for verdict in one.verdicts] == ["pass", "fail", "pass"]
    assert (one.verdict, one.score, one.failed and one.failed.criterion) == ("retry", 0.666666667, criteria[1].criterion)
    assert (better.verdict, better.score, better.failure_class) == ("matched", 1.0, None)


def test_ctl_110_nothing_to_judge_by_is_no_match() -> None:
    assert judged((), (LS,)).verdict == "failed"


def test_ctl_048_a_judge_cannot_change_a_mode() -> None:
    hard = criterion("the prose is clear")
    softer = Opinion(criterion=hard.criterion, verdict="pass", mode="plausible", event_ids=("ev1",))
    same = Opinion(criterion=hard.criterion, verdict="pass", mode="verifiable", event_ids=("ev1",))

    refused = accepted(hard, softer, ["ev1"]).verdict

    assert (refused.verdict, refused.mode) == ("fail", "verifiable")
    assert "mode" in refused.evidence
    assert accepted(hard, same, ["ev1"]).verdict.verdict == "pass"


def test_ctl_126_a_pass_rests_on_a_call_that_was_made() -> None:
    hard, soft = criterion("the prose is clear"), criterion("the prose is clear", "plausible")

    def said(*event_ids: str) -> Opinion:
        return Opinion(criterion=hard.criterion, verdict="pass", evidence="looks fine", event_ids=event_ids)

    for invented in (said(), said("ev9")):
        verdict = accepted(hard, invented, ["ev1"]).verdict
        assert (verdict.verdict, verdict.failure_class) == ("fail", "logical")
    assert accepted(hard, said("ev9", "ev1"), ["ev1"]).verdict.x.event_ids == ("ev1",)
    assert accepted(soft, said(), ["ev1"]).verdict.verdict == "pass"


@pytest.mark.parametrize(
    "text",
    [
        "bash: Permission denied",
        "cat: x: No such file or directory",
        "404 Not Found",
        "it does not exist",
        "Connection refused",
        "operation timed out",
        "a time out",
        "Network error",
        "sh: foo: command not found",
        'exec: "foo": executable file not found',
        "[LAW1] not done",
    ],
)
def test_ctl_117_what_the_surroundings_did_is_never_called_logical(text: str) -> None:
    failure = not_shown(criterion("x"), "wrong", "logical")

    assert classed(not_shown(criterion("x"), text, "logical"), []).failure_class == "environmental"
    assert classed(failure, ["fine", text]).failure_class == "environmental"
    assert classed(failure, ["fine"]).failure_class == "logical"
    assert classed(not_shown(criterion("x"), "clean", "environmental"), ["fine"]).failure_class == "environmental"


def test_ctl_117_what_was_asked_of_a_tool_is_not_what_it_said() -> None:
    looked = shown(1, "search", {"query": "permission denied", "path": "docs"}, "a.md:1: nothing of it")

    one = judged(mechanical((criterion('output contains "b.md"'),), Evidence(shown=(looked,)), ""), (looked,))

    assert one.failure_class == "logical"


def test_ctl_116_ctl_118_the_class_of_an_attempt_is_that_of_its_failures() -> None:
    logical = not_shown(criterion("a"), "wrong", "logical")
    environmental = not_shown(criterion("b"), "gone", "environmental")
    passed = accepted(criterion("c"), Opinion(criterion="c", verdict="pass", event_ids=("e",)), ["e"]).verdict

    assert attempt_class([passed, logical]) == "logical"
    assert attempt_class([environmental]) == "environmental"
    assert attempt_class([logical, passed, environmental]) == "mixed"
    assert attempt_class([passed]) is None
    assert passed.failure_class is None


def test_ctl_127_without_a_check_only_word_for_word_and_only_for_what_is_plausible() -> None:
    read = shown(1, "read", {"path": "a.md"}, "The tone is friendly throughout.")
    evidence = Evidence(shown=(read,))

    def one(text: str, mode: str) -> tuple[str, str | None, str]:
        verdict = mechanical((criterion(text, mode),), evidence, "")[0].verdict
        return verdict.verdict, verdict.failure_class, verdict.evidence

    assert one("the tone is friendly", "verifiable") == ("fail", "logical", "no mechanical check")
    assert one("the tone is friendly", "plausible")[0] == "pass"
    assert one("a reader meets the word 'friendly'", "plausible")[0] == "pass"
    assert one("the tone is sharp", "plausible") == ("fail", "logical", "no mechanical check")


def test_ctl_291_a_claim_says_only_what_tools_gave() -> None:
    listed = ["a.txt\nb.txt\nc.txt"]

    assert unsupported("3 files, among them a.txt", listed, []) == ()
    assert unsupported("17 files, among them d.txt", listed, []) == ("17", "d.txt")
    assert unsupported("wrote 'hello' to out.md", ["ok"], ["put 'hello' into out.md"]) == ()
    assert unsupported({"n": 5, "file": "a.txt"}, ["n=5", *listed], []) == ()


def test_ctl_291_where_a_text_was_shortened_nothing_is_claimed() -> None:
    assert unsupported("a.txt\n… 777 characters left out …\nb.txt", ["a.txt", "b.txt"], []) == ()


def test_ctl_134_names_of_a_request_that_nothing_takes_up() -> None:
    assert untouched("count the words of b.txt and/or 'total', e.g. all", ["a.txt has 3", "'total' is named"]) == ("b.txt",)
    assert untouched("what is in ./docs/ and *.py?", [{"query": "docs/**/*.py"}]) == ()
    assert untouched("it's what they don't say", []) == ()


def test_ctl_134_a_word_that_was_changed_away_is_no_drift_and_a_file_that_was_only_spoken_of_is() -> None:
    request = "replace 'old' by 'new' in a.txt"
    wrote = [{"path": "a.txt", "content": "new"}]

    assert untouched(request, wrote, ["the old text"]) == ()
    assert untouched(request, wrote) == ("old",)
    assert untouched(request, [{"path": "b.txt", "content": "new"}], ["change the old a.txt"]) == ("a.txt",)


def test_ctl_113_checked_criteria_keep_their_demand_when_a_search_is_empty() -> None:
    empty = shown(1, "search", {"query": "x"}, "")
    evidence = Evidence(shown=(empty,))
    wanted = checked("at least two", "count_at_least", n=2, of="lines")
    named = checked("names a.txt", "contains", text="a.txt")
    any_ = checked("names a path", "count_at_least", n=1, of="paths")

    found = mechanical((wanted, named, any_), evidence, "look for x")

    assert [one.verdict.verdict for one in found] == ["fail", "fail", "pass"]
    assert found[2].verdict.x.event_ids == ("ev1",)
