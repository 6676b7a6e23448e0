"""Verified means supported: a claim is compared with the lines and runs that it cites."""

import json
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec
import pytest

from hindbrain.domain.mission import EvidenceClass, MissionClaim, MissionMode
from hindbrain.domain.mission_comparison import Comparison
from hindbrain.engines.claim_content import content_of, quoted
from hindbrain.engines.claim_support import Source, compared
from hindbrain.engines.claim_wording import says_it_fails
from hindbrain.engines.mission_evidence import Judgement, Resolved, judged, read_reference
from hindbrain.engines.mission_packet import packed, packet_bytes, verify_packet
from hindbrain.engines.moments import stamped
from hindbrain.engines.quantity import quantities, same_amount
from hindbrain.engines.source_statements import statements_of
from hindbrain.policy.proof import AS_COMPARED
from tests.support.claim_corpus import corpus
from tests.support.missions import chained, claimed, course, event
from tests.support.world import START_MS, Actor, World


def over(claim: str, text: str, line: int | None = None, path: str = "src/a.py") -> Comparison:
    """A claim compared with one line of a text, or with all of it."""
    return compared(claim, [Source(name=path, path=path, lines=tuple(text.split("\n")), cited=(line, line) if line else None)])


# -- the corpora -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["claims-tuned", "claims-held-out"])
def test_no_false_claim_is_verified_and_at_least_seven_of_ten_true_ones_are(name: str) -> None:
    claims = corpus(name)
    verified = [one for one in claims if not one.compared().reason]

    assert [one.claim for one in verified if one.truth != "true"] == []
    assert len(verified) / sum(one.truth == "true" for one in claims) >= 0.7


SWAPS = (
    *(("seconds", "minutes"), ("minutes", "hours"), ("hours", "days"), ("days", "hours"), ("MB", "GB"), ("ms", "seconds")),
    *(("greater than", "less than"), ("less than", "greater than"), ("older than", "younger than"), ("below", "above")),
    *(("at most", "at least"), ("at least", "at most"), ("is on", "is off"), ("is off", "is on"), ("enabled", "disabled")),
    *(
        (" is ", " is not "),
        (" are ", " are not "),
        (" returns ", " does not return "),
        (" when ", " unless "),
        (" if ", " unless "),
    ),
    *((" unless ", " if "), ("never ", ""), ("not ", ""), ("after ", "before "), ("before ", "after "), (" by default", "")),
    *(("returns ", "raises "), ("raises ", "returns "), ("increments ", "decrements "), ("True", "False"), ("only ", "never ")),
)
MORE = (" and logs it", " every time", " for admins", " except on Sundays", " and 7 others")


def changed(claim: str) -> Iterator[str]:
    """The claim with one thing changed: another unit, sign, number or polarity, or something more."""
    for old, new in SWAPS:
        if old in claim:
            yield claim.replace(old, new, 1)
    for found in re.finditer(r"\d+", claim):
        for value in (int(found[0]) + 1, int(found[0]) * 10 + 7):
            yield f"{claim[: found.start()]}{value}{claim[found.end() :]}"
    yield from (claim + more for more in MORE)
    yield f"only {claim}"


def test_a_verified_claim_with_one_thing_changed_is_not_verified() -> None:
    shown = [one for one in corpus("claims-held-out") if one.truth == "true" and not one.compared().reason]

    wrong = [text for one in shown for text in changed(one.claim) if not one.compared(text).reason]

    assert wrong == []


# -- the comparison ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("claim", "text", "said"),
    [
        ("RETRIES is 9", "RETRIES = 3", "RETRIES = 3"),
        ("the worker retries nine hundred times", "RETRIES = 3", "nine hundred"),
        ("RETRIES is 9 and DELAY is 3", "RETRIES = 3\nDELAY = 9", "RETRIES = 3"),
        ("LEASE_S is five minutes", "LEASE_S = 5", "five minutes"),
        ("debug is on", "debug = False", "the claim the opposite"),
        ("run fails if n is less than 3", "def run(n):\n    if n > 3:\n        fail(n)", "n > 3"),
        ("run returns 1 if ready", "def run(ready):\n    if not ready:\n        return 1", "not ready"),
        ("the row is saved before it is scanned", "def go(row):\n    scan(row)\n    save(row)", "comes before"),
    ],
)
def test_another_value_or_the_opposite_is_a_contradiction(claim: str, text: str, said: str) -> None:
    found = over(claim, text, path="src/worker.py")

    assert found.reason == "contradicted_by_source", found
    assert said in found.contradicted[0]


@pytest.mark.parametrize(
    ("claim", "text"),
    [
        ("the port is 8081", "The port is 8080."),
        ("workers retry an order", "Workers never retry an order."),
        ("workers never retry an order", "Workers retry an order."),
    ],
)
def test_another_sentence_is_a_contradiction(claim: str, text: str) -> None:
    assert over(claim, text, path="README.md").reason == "contradicted_by_source"


CUT = "def cut(text, most):\n    return text if len(text) <= most else text[:most]"


@pytest.mark.parametrize(
    ("claim", "text", "lacks"),
    [
        ("LIMIT is 5 seconds", "LIMIT = 5", "the unit of 5 seconds"),  # a unit that nobody wrote
        ("the size is 8", "def keep(size=8):\n    pass", "that it is only the default"),
        ("BACKOFF is 1", "BACKOFF = (1, 5, 25)", "1"),  # one of several values
        ("run deletes rows", "def run():\n    # deletes rows\n    sweep()", "deletes"),  # a comment does nothing
        ("run deletes rows", 'def run():\n    log("deletes rows")', "deletes"),  # nor does a text that is printed
        ("run returns 0", "def run(n):\n    if n:\n        return 0", "that it happens only if n:"),
        ("run returns 0 if ready", "def run(n, ready):\n    if ready and n:\n        return 0", "that also n"),
        (
            "run fails if inside",
            'def run():\n    raise Fail("it is outside", fix="put it inside")',
            "inside",
        ),  # advice is no reason
        ("cut returns the text if it is longer than most", CUT, "which branch is meant"),
        ("run always returns 0", "def run():\n    return 0", "always"),
    ],
)
def test_what_a_statement_does_not_account_for_is_not_shown(claim: str, text: str, lacks: str) -> None:
    found = over(claim, text)

    assert found.reason == "not_shown_by_source", found
    assert lacks in found.not_shown


def test_a_name_that_gets_another_value_later_shows_neither() -> None:
    later = "\n".join(["SIZE = 3", *(f"other_{number} = {number}" for number in range(9)), "SIZE = 4"])

    assert over("SIZE is 3", later, 1).not_shown == ("src/a.py:11 sets SIZE to 4",)


def test_a_comment_shows_what_the_claim_says_of_the_comment() -> None:
    text = "RETRIES = 3\n# The worker retries five times."

    assert over("the comment says the worker retries five times", text, 2).reason == ""
    assert over("the worker retries five times", text, 2).reason != ""


def test_a_comparison_says_what_was_read_what_matched_and_what_was_not_looked_for() -> None:
    text = "def run(job):\n    for _ in range(RETRIES):\n        job()"
    found = over("run uses loops over range(RETRIES) and deletes the row", text, 2)

    assert found.reason == "not_shown_by_source"
    assert found.compared == ("src/a.py:2",)
    assert set(found.matched) >= {"run", "loops", "range", "RETRIES"}
    assert set(found.not_shown) >= {"deletes", "row"}
    assert found.not_checked == ("uses",)


@pytest.mark.parametrize("claim", ["it is so", "it works", "so it is"])
def test_a_claim_without_anything_to_look_for_cannot_be_compared(claim: str) -> None:
    assert over(claim, "def work():\n    return it", 2).reason == "nothing_checkable"


def test_the_name_of_a_place_shows_nothing_of_what_stands_there() -> None:
    assert over("src/worker.py", "RETRIES = 3", 1, "src/worker.py").reason == "not_shown_by_source"


def test_words_of_two_statements_do_not_show_a_claim_together() -> None:
    for claim in ("RETRIES is 900", "the timeout of retries is 900"):
        assert over(claim, "RETRIES = 3\nTIMEOUT = 900").reason != ""


def test_quantities_are_read_in_digits_words_products_and_units() -> None:
    values = {one.value for one in quantities("5 * 60 nine hundred 1_000 0x10 sha256 at 03:30")}
    (five,) = quantities("older than five minutes", claim=True)

    assert values == {300.0, 900.0, 1000.0, 16.0}
    assert same_amount(five, quantities("300")[0], "s") is True
    assert same_amount(five, quantities("300 ms")[0]) is False
    assert same_amount(five, quantities("300")[0]) is None
    assert same_amount(five, quantities("5 * time.Minute")[0]) is True
    assert [one.kind for one in content_of("see line 12").items] == ["word"]


@pytest.mark.parametrize("text", ["a `b` c", 'a "b" c', 'a `b` "c"', "}", "# a comment"])
def test_a_text_is_quoted_in_marks_that_are_not_in_it_and_found_again(text: str) -> None:
    assert [one.text for one in content_of(f"it holds {quoted(text)}").items] == [text]
    assert over(f"src/a.py holds {quoted(text)}", f"first\n{text}\nlast", 2).reason == ""


@pytest.mark.parametrize(
    ("path", "text", "wanted"),
    [
        ("a.js", "function f(x) {\n  return x > 1 ? 'a' : 'b';\n}", [("return 'a';", False), ("return 'b';", True)]),
        (
            "a.go",
            "func F() int {\n\tif x {\n\t\treturn 1\n\t} else {\n\t\treturn 2\n\t}\n}",
            [("return 1", False), ("return 2", True)],
        ),
        ("a.py", "if x:\n    a()\nelse:\n    b()", [("a()", False), ("b()", True)]),
    ],
)
def test_both_branches_are_statements_under_a_condition_and_its_opposite(
    path: str, text: str, wanted: list[tuple[str, bool]]
) -> None:
    found = [
        (one.text, one.enclosing[-1].negated)
        for one in statements_of(path, tuple(text.split("\n")))
        if one.kind == "code" and one.enclosing and one.enclosing[-1].role == "guard"
    ]

    assert found == wanted


# -- the judgement -----------------------------------------------------------------------------------------------------


def judge(text: str, *resolved: Resolved, **fields: Any) -> Judgement:
    asked = MissionClaim(claim_id="clm_1", claim=text, created_at=stamped(START_MS), **fields)
    return judged(asked, resolved, label=EvidenceClass.DIRECT_TEST, mode=MissionMode.REVIEW)


def run(outcome: str, command: str = "pytest -q", output: str = "", kind: str = "test_run") -> Resolved:
    payload = {"command": command, "exit_status": 0 if outcome == "passed" else 1, "output": output}
    made = event(kind, command, outcome=outcome, payload=payload)
    return Resolved(reference=read_reference(made.event_id), event=made)


@pytest.mark.parametrize(
    ("text", "ran", "verdict"),
    [
        ("the tests pass", run("passed"), "verified_for_mission"),
        ("all 12 tests pass", run("passed", output="12 passed in 0.1s"), "verified_for_mission"),
        ("all 12 tests pass", run("passed", output="3 passed in 0.1s"), "insufficient_evidence"),
        ("the tests of the parser pass", run("passed", "pytest tests/test_parser.py"), "verified_for_mission"),
        ("the tests of the parser pass", run("passed", "pytest tests/test_queue.py"), "insufficient_evidence"),
        ("the tests fail", run("failed"), "verified_for_mission"),
        ("the tests fail", run("passed"), "rejected"),
        ("the tests do not pass", run("passed"), "rejected"),
        ("the queue loses a job", run("passed", "echo hello", "hello", "command"), "insufficient_evidence"),
        ("the queue loses a job", run("failed", "pytest", "E  the queue loses a job"), "verified_for_mission"),
        ("it exits with status 1", run("failed", "./it", kind="command"), "verified_for_mission"),
        ("the exit status is 1", run("failed", "./it", kind="command"), "verified_for_mission"),
        ("the exit status is 0", run("failed", "./it", kind="command"), "rejected"),
    ],
)
def test_a_run_shows_only_what_its_end_its_tests_and_its_output_say(text: str, ran: Resolved, verdict: str) -> None:
    assert judge(text, ran).verdict == verdict


def test_a_claim_that_cannot_be_compared_needs_a_test_that_it_names_or_a_person() -> None:
    by_person = event("human_statement", payload={"text": "It is so. I looked."}, actor="operator")
    linked = event("test_run", "tests/test_b.py", outcome="passed", payload={"command": "pytest tests/test_b.py"})
    named = Resolved(reference=read_reference(linked.event_id), event=linked)

    person = judge("it is so", Resolved(reference=read_reference(by_person.event_id), event=by_person))
    other = judge("the moon is cheese", Resolved(reference=read_reference(by_person.event_id), event=by_person))

    assert (person.verdict, other.verdict) == ("verified_for_mission", "insufficient_evidence")
    assert judge("it is so", named, targets=("tests/test_b.py",)).verdict == "verified_for_mission"
    unnamed = judge("it is so", named)
    assert unnamed.verdict == "insufficient_evidence"
    assert unnamed.missing[0].startswith("nothing_checkable: ")


@pytest.mark.parametrize(
    ("text", "said"),
    [("the tests fail", True), ("the build is broken", True), ("the tests pass", False), ("if tests fail", False)],
)
def test_what_says_that_a_run_fails(text: str, said: bool) -> None:
    assert says_it_fails(text) is said


# -- through the operations --------------------------------------------------------------------------------------------


@pytest.fixture
def world(tmp_path: Path) -> Iterator[World]:
    made = World(tmp_path)
    yield made
    made.close()


@pytest.fixture
def agent(world: World, monkeypatch: pytest.MonkeyPatch) -> Actor:
    root = world.brain("shop", **{"src/worker.py": "RETRIES = 3\n", "README.md": "# Shop\n\nIt sells ships.\n"})
    monkeypatch.chdir(root)
    actor = world.at(root)
    done(actor.call("mission.start", task="review the worker", mode="review", budget="deep"))
    return actor


def done(answer: dict[str, Any]) -> dict[str, Any]:
    assert answer["ok"], answer
    return answer


def verified(actor: Actor, claim: str, *refs: str) -> dict[str, Any]:
    return done(actor.call("mission.verify", claim=claim, evidence_class="direct_source", evidence_refs=list(refs)))


def test_aol_032_a_claim_that_its_line_contradicts_is_rejected_and_one_that_it_shows_is_verified(agent: Actor) -> None:
    false = verified(agent, "the worker retries nine hundred times and deletes the job", "direct_source:src/worker.py:1")
    half = verified(agent, "the worker retries three times and deletes the job", "direct_source:src/worker.py:1")
    moon = verified(agent, "README.md says the moon is cheese", "direct_source:README.md:1")
    true = verified(agent, "the worker retries three times", "direct_source:src/worker.py:1")

    assert (false["verdict"], half["verdict"]) == ("rejected", "insufficient_evidence")
    assert "RETRIES = 3" in false["missing"][0]
    assert false["comparison"]["reason"] == "contradicted_by_source"
    assert half["missing"][0].startswith("not_shown_by_source: src/worker.py:1")
    assert half["missing"][0].endswith("does not show: deletes, job")
    assert (moon["verdict"], moon["comparison"]["reason"]) == ("insufficient_evidence", "not_shown_by_source")
    assert (true["verdict"], true["comparison"]["reason"], true["missing"]) == ("verified_for_mission", "", ())
    assert AS_COMPARED in true["non_claims"]


def test_a_file_that_changed_since_it_was_read_shows_nothing_by_that_event(agent: Actor) -> None:
    read = done(agent.call("mission.event", event_type="file_read", target="src/worker.py"))["event_id"]
    before = verified(agent, "RETRIES is 3", read)
    Path("src/worker.py").write_text("RETRIES = 4\n")

    after = verified(agent, "RETRIES is three", read)

    assert (before["verdict"], after["verdict"]) == ("verified_for_mission", "insufficient_evidence")
    assert "read it again" in after["missing"][0]
    assert verified(agent, "RETRIES is three", "direct_source:src/worker.py:1")["verdict"] == "rejected"


def test_a_search_and_a_run_are_compared_by_what_they_found(agent: Actor) -> None:
    hits = [{"path": "src/worker.py", "line": 1, "text": "RETRIES"}]
    search = {"event_type": "literal_search", "target": "RETRIES", "payload": {"query": "RETRIES", "hits": hits}}
    found = done(agent.call("mission.event", **search))["event_id"]
    ran = done(agent.call("mission.run", command=[sys.executable, "-c", "print('the queue holds 7 jobs')"]))["event_id"]

    assert verified(agent, "RETRIES is 3", found)["verdict"] == "verified_for_mission"
    assert verified(agent, "RETRIES is 5", found)["verdict"] == "rejected"
    assert verified(agent, "the queue holds 7 jobs", ran)["verdict"] == "verified_for_mission"
    assert verified(agent, "the queue holds 8 jobs", ran)["verdict"] == "rejected"
    assert verified(agent, "the moon is cheese", ran)["verdict"] == "insufficient_evidence"


def test_aol_101_the_packet_says_of_each_claim_what_was_compared_and_what_that_is_worth(agent: Actor, world: World) -> None:
    verified(agent, "the worker retries three times", "direct_source:src/worker.py:1")
    verified(agent, "the worker uses five retries", "direct_source:src/worker.py:1")

    closed = done(agent.call("mission.close", gaps=["the rest"]))
    packet = closed["proof"]

    (shown,), (refused,) = packet["verified_claims"], packet["rejected_claims"]
    assert shown["comparison"]["compared"] == ["src/worker.py:1"]
    assert set(shown["comparison"]["matched"]) == {"worker", "retries", "three times"}
    assert refused["comparison"]["contradicted"]
    assert refused["comparison"]["not_checked"] == ["uses"]
    assert AS_COMPARED in packet["non_claims"]
    proof = json.loads(Path(closed["proof_file"]).read_bytes())
    assert proof["verified_claims"][0]["comparison"]["matched"] == ["worker", "retries", "three times"]
    assert done(agent.call("mission.verify_packet", file=closed["proof_file"]))["valid"]


def test_a_comparison_in_a_packet_is_held_against_the_events_and_cut_with_the_rest() -> None:
    words = tuple(f"word{number}" for number in range(20))
    read = event("file_read", "a.py")
    told = [
        claimed(f"claim {number}", evidence_refs=(read.event_id,), comparison=Comparison(compared=words, matched=words))
        for number in range(40)
    ]
    events = chained((read, *told))

    made = packed(course(read, *told), events, stamp=stamped(START_MS))

    assert len(made.verified_claims[0].comparison.matched) == 3  # type: ignore[union-attr]
    assert len(packet_bytes(made)) <= 16 * 1024
    whole = [msgspec.to_builtins(one) for one in events]
    assert verify_packet(packet_bytes(made), whole) == ()
    for one in whole[1:]:
        one["payload"]["claim"]["comparison"]["matched"] = ("other",)
    assert verify_packet(packet_bytes(made), whole)
