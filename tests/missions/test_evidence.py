"""What references come to: how they are read, what they prove, and what is missing."""

from typing import Any

import pytest

from hindbrain.domain.mission import EventType, EvidenceClass, MissionClaim, MissionEvent, MissionMode
from hindbrain.engines.claim_support import Source
from hindbrain.engines.claim_wording import says_it_passes
from hindbrain.engines.mission_evidence import Judgement, Reference, Resolved, judged, read_reference
from hindbrain.engines.moments import stamped
from hindbrain.policy.missions import GRADES
from tests.support.missions import event
from tests.support.world import START_MS

C = EvidenceClass
NOW = stamped(START_MS)


def claim(text: str = "b.py loses a row", **fields: Any) -> MissionClaim:
    return MissionClaim(claim_id="clm_1", claim=text, created_at=NOW, **fields)


def to_event(one: MissionEvent, *lines: str) -> Resolved:
    """An event, and what its file says: by default all that `claim` claims."""
    text = Source(name=one.target or "", path=one.target or "", lines=lines or ("loses(row)",))
    sources = (text,) if one.event_type is EventType.FILE_READ else ()
    return Resolved(reference=read_reference(one.event_id), event=one, sources=sources)


def to_nothing(text: str, why: str = "there is no such file") -> Resolved:
    return Resolved(reference=read_reference(text), why=why)


def judge(asked: MissionClaim, *resolved: Resolved, label: EvidenceClass = C.DIRECT_SOURCE, **more: Any) -> Judgement:
    return judged(asked, resolved, label=label, mode=more.pop("mode", MissionMode.REVIEW), **more)


READ = event("file_read", "src/b.py")
OTHER = event("file_read", "src/a.py")
TOLD = event("test_run", "tests/test_b.py", evidence_class="direct_unverified")
GRAPH = event("semantic_search", "rows that get lost")
NOTE = event("note", "src/b.py")
FAILED = event("test_run", "tests/test_b.py", outcome="failed", payload={"command": "pytest", "exit_status": 1})
PASSED = event("test_run", "tests/test_b.py", outcome="passed", seq=2, payload={"command": "pytest", "exit_status": 0})


@pytest.mark.parametrize(
    ("text", "event_id", "label", "path", "line", "column"),
    [
        ("evt_01AB", "evt_01AB", None, None, None, None),
        ("event:evt_01AB", "evt_01AB", None, None, None, None),
        ("direct_source:src/a.py", None, C.DIRECT_SOURCE, "src/a.py", None, None),
        ("file_read:src/a.py:12", None, C.DIRECT_SOURCE, "src/a.py", 12, None),
        ("direct_search:src/a.py:12:4", None, C.DIRECT_SEARCH, "src/a.py", 12, 4),
        ("direct_source src/my file.py", None, C.DIRECT_SOURCE, "src/my file.py", None, None),
        ("graph_query:Parser", None, C.GRAPH_ORIENTATION, "Parser", None, None),
        ("direct_test:evt_7", "evt_7", C.DIRECT_TEST, None, None, None),
        ("direct_source:a:b.py:3", None, C.DIRECT_SOURCE, "a:b.py", 3, None),
        ("review_note:src/a.py", None, None, "review_note:src/a.py", None, None),
        ("I looked at it", None, None, None, None, None),
        ("", None, None, None, None, None),
    ],
)
def test_aol_097_references_are_read_in_their_forms(
    text: str, event_id: str | None, label: Any, path: str | None, line: int | None, column: int | None
) -> None:
    found = read_reference(text)

    assert found == Reference(raw=text, event_id=event_id, label=label, path=path, line=line, column=column)


@pytest.mark.parametrize(
    ("resolved", "label", "grade", "verdict"),
    [
        ((to_event(READ),), C.DIRECT_SOURCE, "direct", "verified_for_mission"),
        ((to_event(READ),), C.INFERRED, "direct", "verified_for_mission"),  # what is recorded counts, not what it is called
        ((to_event(GRAPH), to_event(READ)), C.GRAPH_ORIENTATION, "direct", "verified_for_mission"),
        ((to_event(OTHER),), C.DIRECT_SOURCE, "inferred", "insufficient_evidence"),
        ((to_event(OTHER), to_event(GRAPH)), C.DIRECT_SOURCE, "graph_only", "insufficient_evidence"),
        ((to_nothing("direct_source:src/no.py"),), C.DIRECT_SOURCE, "direct_unverified", "insufficient_evidence"),
        ((to_event(TOLD),), C.DIRECT_TEST, "direct_unverified", "insufficient_evidence"),
        ((to_event(GRAPH),), C.DIRECT_SOURCE, "graph_only", "insufficient_evidence"),
        ((to_event(NOTE),), C.AGENT_TESTIMONY, "inferred", "insufficient_evidence"),
        ((), C.DIRECT_SOURCE, "direct_unverified", "insufficient_evidence"),
        ((), C.GRAPH_STRUCTURAL, "graph_only", "insufficient_evidence"),
        ((), C.INFERRED, "inferred", "insufficient_evidence"),
    ],
)
def test_aol_011_aol_031_aol_094_grades_follow_the_rules_in_their_order(
    resolved: tuple[Resolved, ...], label: EvidenceClass, grade: str, verdict: str
) -> None:
    found = judge(claim(targets=("src/b.py:7",)), *resolved, label=label)

    assert (found.grade, found.verdict) == (grade, verdict)
    assert bool(found.missing) == (verdict != "verified_for_mission")
    assert bool(found.evidence_refs) == (grade == "direct")


def test_aol_031_aol_093_graph_evidence_never_closes_a_claim_however_much_there_is() -> None:
    many = [to_event(event(kind, "src/b.py")) for kind in ("semantic_search", "graph_query", "audit", "impact", "recall")] * 5

    found = judge(claim(targets=("src/b.py",)), *many, label=C.GRAPH_STRUCTURAL, reported=0.99)

    assert (found.verdict, found.grade, found.confidence) == ("insufficient_evidence", "graph_only", 0.5)
    assert any("direct evidence is needed" in line for line in found.missing)
    assert {GRADES[one] for one in found.classes} == {"graph_only"}


def test_aol_095_a_direct_event_on_another_target_proves_nothing_and_is_named() -> None:
    found = judge(claim(targets=("src/b.py",)), to_event(OTHER))

    assert found.grade == "inferred"
    assert found.evidence_refs == ()
    assert any(OTHER.event_id in line and "src/a.py" in line for line in found.missing)


def test_aol_095_files_that_the_runtime_saw_a_command_touch_count_as_its_targets() -> None:
    ran = event("test_run", "pytest -q", outcome="failed", payload={"targets": ["tests/test_b.py", "src/b.py"]})

    assert judge(claim(targets=("src/b.py",)), to_event(ran)).grade == "direct"
    assert judge(claim(targets=("src/c.py",)), to_event(ran)).grade == "inferred"


def test_aol_096_a_label_that_nothing_backs_is_unverified_and_half_sure_at_most() -> None:
    found = judge(claim(), to_nothing("direct_source:src/no.py:3"), reported=0.99)
    kept = found.applied(claim(), stamp=NOW, reported=0.99)

    assert (kept.verdict, kept.evidence_grade) == ("insufficient_evidence", "direct_unverified")
    assert (kept.confidence, kept.confidence_reported) == (0.5, 0.99)
    assert kept.evidence_classes == (C.DIRECT_UNVERIFIED,)
    assert any("src/no.py" in line and "no such file" in line for line in kept.missing)


def test_aol_096_a_proven_claim_keeps_the_confidence_that_was_reported() -> None:
    assert judge(claim(), to_event(READ), reported=0.99).confidence == 0.99
    assert judge(claim(), to_event(READ)).confidence is None


def test_aol_032_aol_098_a_failing_test_rejects_a_claim_that_it_passes() -> None:
    found = judge(claim("All 12 tests pass."), to_event(FAILED), label=C.DIRECT_TEST)

    assert found.verdict == "rejected"
    assert found.missing == (f"event {FAILED.event_id} failed with exit status 1",)
    assert found.confidence is None


def test_aol_098_an_event_that_refutes_rejects_and_a_failing_test_may_support() -> None:
    refuting = event("file_read", "src/b.py", outcome="hypothesis_refuted")

    assert judge(claim(), to_event(READ), to_event(refuting)).verdict == "rejected"
    lost = event("test_run", "tests/test_b.py", outcome="failed", payload={"output": "AssertionError: a row gets lost"})
    assert judge(claim("in test_b a row gets lost"), to_event(lost)).verdict == "verified_for_mission"


def test_aol_098_of_two_runs_of_one_command_the_last_one_counts() -> None:
    again = event("test_run", "tests/test_b.py", outcome="failed", seq=3, payload={"command": "pytest", "exit_status": 1})

    assert judge(claim("the tests pass"), to_event(FAILED), to_event(PASSED)).verdict == "verified_for_mission"
    assert judge(claim("the tests pass"), to_event(PASSED), to_event(again)).verdict == "rejected"


def test_aol_098_that_tests_pass_is_shown_by_a_run_and_by_nothing_else() -> None:
    shell = event("command", "pytest | tail", outcome="passed", payload={"command": "pytest | tail", "exit_status": 0})

    for other in (READ, shell):
        found = judge(claim("the tests pass"), to_event(other))
        assert (found.verdict, found.grade) == ("insufficient_evidence", "direct")
        assert "mission run" in found.missing[0]
    assert judge(claim("the tests pass"), to_event(PASSED)).verdict == "verified_for_mission"


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("tests pass", True),
        ("All tests are passing now.", True),
        ("The bug is not in a.py; the test suite passes after the change", True),
        ("it compiles without warnings", True),
        ("the tests do not pass", False),
        ("not all tests pass", False),
        ("the tests should pass", False),
        ("the test passes None to close()", False),
        ("password checks are skipped", False),
    ],
)
def test_aol_098_what_says_that_something_passes(text: str, said: bool) -> None:
    assert says_it_passes(text) is said


@pytest.mark.parametrize("outcome", ["error", "blocked"])
def test_aol_095_an_event_that_came_to_nothing_proves_nothing(outcome: str) -> None:
    found = judge(claim(), to_event(event("file_read", "src/b.py", outcome=outcome)))

    assert found.verdict == "insufficient_evidence"
    assert any(outcome in line for line in found.missing)


def test_aol_032_an_inherited_claim_is_stale_when_its_file_changed_and_fresh_evidence_mends_it() -> None:
    had = claim(targets=("src/b.py",), inherited_from="msn_0", verdict="inherited", evidence_grade="direct")

    unchanged = judge(had, changed=("src/z.py",))
    stale = judge(had, changed=("src/b.py",))
    mended = judge(had, to_event(READ), changed=("src/b.py",))

    assert (unchanged.verdict, unchanged.grade) == ("inherited", "direct")
    assert stale.verdict == "stale"
    assert "src/b.py" in stale.missing[0]
    assert stale.next_required_move["target"] == "src/b.py"
    assert mended.verdict == "verified_for_mission"


@pytest.mark.parametrize("state", [C.DOC_STALE, C.DOC_BOUND])
def test_aol_178_a_document_closes_nothing_and_a_stale_one_is_inferred(state: EvidenceClass) -> None:
    reference = read_reference("doc_bound:docs/strategy.light.md")

    found = judge(claim(), Resolved(reference=reference, established=state, why="said so"), label=C.DOC_BOUND)

    assert found.verdict == "insufficient_evidence"
    assert found.grade == ("inferred" if state is C.DOC_STALE else "graph_only")
    assert found.classes == (state,)


def test_aol_033_a_verdict_comes_with_the_move_it_asks_for() -> None:
    asked = claim(targets=("src/b.py",))

    hunt = judge(asked, to_event(READ), mode=MissionMode.BUG_HUNT).next_required_move
    other = judge(asked, to_event(READ)).next_required_move
    short = judge(asked, to_event(GRAPH)).next_required_move
    tests = judge(claim("the tests pass")).next_required_move

    assert hunt["tool"] == "mission_next"
    assert (other["tool"], other["or"]) == ("mission_claim", "mission_close")
    assert (short["type"], short["target"], short["evidence_required"]) == ("read_file", "src/b.py", "direct_source")
    assert (tests["type"], tests["evidence_required"]) == ("run_test", "direct_test")


def test_aol_013_a_claim_that_failed_says_what_was_missing_and_counts_looks_without_anything_new() -> None:
    first = judge(claim(), to_event(GRAPH)).applied(claim(), stamp=NOW)
    second = judge(first, to_event(GRAPH)).applied(first, stamp=NOW)
    third = judge(second, to_event(READ)).applied(second, stamp=NOW)

    assert first.missing
    assert (first.judged, second.judged, third.judged) == (1, 2, 0)
    assert third.evidence_refs == (READ.event_id,)


def test_aol_091_every_class_has_a_grade_and_every_direct_one_is_direct() -> None:
    assert set(GRADES) == set(EvidenceClass)
    direct = {one for one, grade in GRADES.items() if grade == "direct"}
    assert direct == {one for one in EvidenceClass if one.startswith("direct_")} - {C.DIRECT_UNVERIFIED} | {C.HOST_HANDSHAKE}
