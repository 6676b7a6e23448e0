"""What a hand-over holds, when it is refused, and what of it still holds for the one who takes it over."""

import hashlib
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import msgspec
import pytest

from hindbrain.domain.errors import HandoverBroken, InvalidParams, MissionClosed, UnknownMission
from hindbrain.domain.handover import Covered, Handoff, Inheritance
from hindbrain.domain.mission import EventType, Family, MissionEvent, MissionSpec, Outcome
from hindbrain.engines.course import Course, coursed
from hindbrain.engines.handover import covered_by, handed, handoff_digest, undigested
from hindbrain.engines.inheriting import (
    Facts,
    inherit,
    inherited_do_not,
    known_targets,
    rechecks_due,
    starter_focus,
)
from hindbrain.engines.mission_chain import first_break
from hindbrain.engines.mission_query import normal_query
from hindbrain.engines.mission_report import reported
from hindbrain.engines.mission_router import Facts as RouterFacts
from hindbrain.engines.mission_router import route
from hindbrain.engines.moments import stamped
from hindbrain.engines.repeats import Repeats, reduction, repeated_work
from hindbrain.services.missions.handing import Handing
from hindbrain.services.missions.log import Draft
from tests.support.missions import MissionDesk, chained, claimed, course, event, guard, spec
from tests.support.world import START_MS

HOUR = 3_600_000
MOVE: dict[str, Any] = {
    "move": {
        "type": "read_file",
        "tool": "read",
        "target": "src/next.py",
        "why": "it is the last one that calls it",
        "evidence_required": "direct_source",
    },
    "do_not": [{"item": "graph", "kind": "tool_family", "reason": "x", "source": "loop", "until": "a direct event"}],
    "soft_warning": None,
}


def sha(text: str) -> str:
    return "sha256:" + hashlib.sha256(text.encode()).hexdigest()


def read(path: str, text: str = "", **fields: Any) -> MissionEvent:
    return event("file_read", path, target_digest=sha(text or path), **fields)


def guarded(**changes: Any) -> MissionEvent:
    return event("context_guard", ".", payload={"guard": msgspec.to_builtins(guard(**changes))})


def worked() -> tuple[MissionEvent, ...]:
    """A morning's work: reads, a search, a test, a question to the graph, claims of each kind, a dead path, two suspicions."""
    first, second = read("src/a.py", payload={"range": [1, 40]}), read("src/b.py")
    suspicion = event("hypothesis", "src/c.py", payload={"text": "the cache is never emptied"})
    refuted = event("hypothesis", "src/d.py", payload={"text": "the lock is missing"})
    return (
        guarded(),
        event("graph_query", payload={"query": "who closes the file?", "graph_generation": 3}),
        event("literal_search", payload={"query": "close( FILE )", "scope": "src"}),
        first,
        read("src/a.py", payload={"range": [41, 80]}),
        second,
        event("test_run", "tests/test_a.py", payload={"command": "pytest  tests/test_a.py", "exit_status": 1}, outcome="failed"),
        event("dead_path", "src/parser.py", payload={"why": "it only reads, and never closes"}),
        read("src/e.py", outcome="ruled_out"),
        event("note", "src/f.py", payload={"text": "src/f.py looks like a dead path, ruled out"}),
        suspicion,
        refuted,
        event("hypothesis", outcome="hypothesis_refuted", payload={"refutes": refuted.event_id}),
        claimed("a.py leaks the handle", targets=("src/a.py",), evidence_refs=(first.event_id,)),
        claimed("b.py closes twice", targets=("src/b.py:7",), evidence_refs=(second.event_id,)),
        claimed("the tests pass", verdict="rejected", evidence_grade="direct", missing=("the run failed",)),
        claimed("g.py is slow", verdict="insufficient_evidence", evidence_grade="inferred", missing=("a direct event",)),
        claimed("h.py is unused", verify=False),
    )


def made(*events: MissionEvent, given: MissionSpec | None = None, at: int = START_MS, **more: Any) -> tuple[Course, Handoff]:
    asked = given or spec(non_claims=("nothing public",))
    told = chained(events or worked(), asked.mission_id)
    stood = coursed(asked, told)
    return stood, handed(stood, told, handoff_id="hnd_1", stamp=stamped(at), next_move=MOVE, **more)


def unchanged(handoff: Handoff, **changes: Any) -> Facts:
    """The world as it was at the hand-over, but for what is said."""
    files = {one.subject: one.value for one in handoff.staleness_criteria if one.kind == "file_digest"}
    given: dict[str, Any] = {
        "files": {**files, **changes.pop("files", {})},
        "now": START_MS,
        "graph_generation": 3,
        "build": "build-1",
        "branch_head": "main@abc",
        **changes,
    }
    return Facts(**given)


# -- the fields ------------------------------------------------------------------------------------------------------


def test_aol_268_the_summary_says_the_work_and_stays_below_a_page() -> None:
    _, short = made(summary="Half of it is read.")
    _, long = made(*worked(), *(claimed(f"finding {number} " + "x" * 300) for number in range(9)), summary="y" * 2_000)

    assert short.mission_summary.startswith("Half of it is read.")
    assert (
        "3 files read, 1 tests run, 1 graph calls; 2 claims verified, 1 rejected, 2 open; 2 dead paths" in short.mission_summary
    )
    assert "verified: a.py leaks the handle" in short.mission_summary
    assert len(long.mission_summary) <= 1_200


def test_aol_034_aol_269_aol_270_aol_271_claims_stand_by_verdict_and_hypotheses_stay_open_until_refuted() -> None:
    stood, handoff = made()

    assert [one.claim for one in handoff.verified_claims] == ["a.py leaks the handle", "b.py closes twice"]
    assert handoff.verified_claims == stood.verified
    assert [(one.claim, one.missing) for one in handoff.rejected_claims] == [("the tests pass", ("the run failed",))]
    assert handoff.open_hypotheses == ("g.py is slow", "h.py is unused", "the cache is never emptied")


def test_aol_012_aol_272_dead_paths_come_from_events_that_say_so_and_from_no_words() -> None:
    _, handoff = made()

    dead = {one.target: one for one in handoff.dead_paths}
    assert set(dead) == {"src/parser.py", "src/e.py"}  # not src/f.py, of which a note only speaks
    assert dead["src/parser.py"].why_ruled_out == "it only reads, and never closes"
    assert len(dead["src/parser.py"].event_ids) == 1


def test_aol_272_an_explicit_dead_path_is_ruled_out_whatever_outcome_is_told() -> None:
    assert reported("dead_path", {"why": "no"}, {"target": "src/a.py", "outcome": "found"}).outcome is Outcome.RULED_OUT


def test_aol_012_aol_273_aol_274_aol_275_what_was_read_run_and_asked_is_listed_with_what_was_seen() -> None:
    _, handoff = made()

    files = {one.path: one for one in handoff.files_read}
    assert set(files) == {"src/a.py", "src/b.py", "src/e.py"}
    assert (files["src/a.py"].digest, files["src/a.py"].ranges, files["src/a.py"].times) == (
        sha("src/a.py"),
        ((1, 40), (41, 80)),
        2,
    )
    run = handoff.tests_run[0]
    assert (run.command, run.outcome, run.exit_status) == ("pytest  tests/test_a.py", "failed", 1)
    assert [(one.node_or_query, one.graph_generation) for one in handoff.graph_anchors] == [("who closes the file?", 3)]
    assert Covered(family=Family.LITERAL_SEARCH, item=normal_query("file CLOSE"), scope="src") in handoff.queries


def test_aol_267_aol_277_aol_287_a_hand_over_claims_no_orchestration() -> None:
    _, handoff = made()

    said = " ".join(handoff.non_claims)
    assert "nothing public" in handoff.non_claims
    assert "schedules" in said
    assert "no autonomous swarm" in said


def test_aol_034_aol_278_aol_279_a_hand_over_has_its_criteria_and_the_digest_of_what_was_done() -> None:
    stood, handoff = made()

    by_kind: dict[str, dict[str, str]] = {}
    for one in handoff.staleness_criteria:
        by_kind.setdefault(one.kind, {})[one.subject] = one.value
    assert by_kind["file_digest"] == {path: sha(path) for path in ("src/a.py", "src/b.py", "src/e.py")}
    assert by_kind["graph_generation"] == {"graph": "3"}
    assert by_kind["binary_version"] == {"1.0": "build-1"}
    assert by_kind["branch_head"] == {"HEAD": "main@abc"}
    assert by_kind["age_hours"] == {"hand-over": "72"}
    assert (handoff.event_digest, handoff.event_count) == (stood.head, 18)
    assert handoff.next_required_move == MOVE
    assert msgspec.json.decode(msgspec.json.encode(handoff), type=Handoff) == handoff


def test_aol_278_a_file_that_was_edited_counts_as_it_is_when_it_is_handed_over() -> None:
    _, handoff = made(read("src/a.py"), event("file_edit", "src/a.py"), digests={"src/a.py": sha("edited")})

    assert handoff.files_read[0].digest == sha("edited")
    assert inherit(handoff, unchanged(handoff)).changes == ()


# -- taking over -----------------------------------------------------------------------------------------------------


def test_aol_281_a_child_inherits_claims_dead_paths_what_was_covered_and_where_to_look() -> None:
    _, handoff = made()

    taken = inherit(handoff, unchanged(handoff), parent_span_id="0" * 16)

    child = course(given=spec(mission_id="msn_child", inherited=msgspec.to_builtins(taken.inheritance)))
    assert taken.changes == ()
    assert [(one.verdict, one.evidence_grade, one.inherited_from) for one in child.claims.values()] == [
        ("inherited", "direct", "msn_01TEST"),
        ("inherited", "direct", "msn_01TEST"),
    ]
    assert child.verified == ()
    assert {(one.item, one.source) for one in inherited_do_not(taken.inheritance)} == {
        ("src/parser.py", "handoff"),
        ("src/e.py", "handoff"),
    }
    assert set(child.dead) == {"src/parser.py", "src/e.py"}
    items = {(one.family, one.item) for one in child.inherited.covered}
    assert {
        (Family.DIRECT_READ, "src/a.py"),
        (Family.TEST, "pytest tests/test_a.py"),
        (Family.GRAPH, normal_query("closes FILE the who")),
    } <= items
    assert taken.inheritance.next_required_move["move"]["target"] == "src/next.py"
    assert starter_focus(taken.inheritance) == ("who closes the file?",)


def test_aol_282_only_claims_on_a_file_that_changed_become_stale_and_it_is_read_next() -> None:
    _, handoff = made()

    taken = inherit(handoff, unchanged(handoff, files={"src/a.py": sha("other")}))

    child = course(given=spec(mission_id="msn_child", inherited=msgspec.to_builtins(taken.inheritance)))
    verdicts = {one.claim: (one.verdict, one.evidence_grade) for one in taken.inheritance.claims}
    assert verdicts == {"a.py leaks the handle": ("stale", "inferred"), "b.py closes twice": ("inherited", "direct")}
    stale = next(one for one in taken.inheritance.claims if one.verdict == "stale")
    assert stale.missing == ("src/a.py changed since the hand-over",)
    assert rechecks_due(child) == ("src/a.py",)
    move = taken.inheritance.next_required_move["move"]
    assert (move["type"], move["target"]) == ("read_file", "src/a.py")
    assert known_targets(taken.inheritance) == ("src/a.py",)
    assert "src/a.py" not in {one.path for one in taken.inheritance.files_read}

    again = course(read("src/a.py", "other"), given=child.spec)
    assert rechecks_due(again) == ()


@pytest.mark.parametrize(
    ("changes", "line"),
    [
        ({"files": {"src/b.py": None}}, "src/b.py is gone since the hand-over"),
        ({"graph_generation": 4}, "graph generation is 4, was 3"),
        ({"build": "build-2"}, "binary version is build-2, was build-1"),
        ({"branch_head": "main@def"}, "branch head is main@def, was main@abc"),
        ({"now": START_MS + 73 * HOUR}, "the hand-over is 73 hours old, over 72"),
    ],
)
def test_aol_278_each_criterion_that_changed_is_reported_by_itself(changes: dict[str, Any], line: str) -> None:
    _, handoff = made()

    assert inherit(handoff, unchanged(handoff, **changes)).warnings == (line,)


def test_aol_278_the_age_is_not_over_at_its_limit() -> None:
    _, handoff = made()

    assert inherit(handoff, unchanged(handoff, now=START_MS + 72 * HOUR)).changes == ()


def test_aol_282_what_a_changed_graph_or_branch_could_answer_otherwise_is_no_longer_covered() -> None:
    _, handoff = made()

    def families(**changes: Any) -> set[Family]:
        return {one.family for one in inherit(handoff, unchanged(handoff, **changes)).inheritance.covered}

    every = {Family.DIRECT_READ, Family.LITERAL_SEARCH, Family.TEST, Family.GRAPH}
    assert families() == every
    assert families(graph_generation=4) == every - {Family.GRAPH}
    assert families(branch_head="main@def") == every - {Family.TEST, Family.LITERAL_SEARCH}
    assert families(now=START_MS + 73 * HOUR) == {Family.DIRECT_READ}


def test_aol_282_a_claim_that_only_a_run_shows_is_run_again_when_anything_changed() -> None:
    run = event("test_run", "make test", payload={"command": "make test", "exit_status": 0}, outcome="passed")
    _, handoff = made(guarded(), read("src/a.py"), run, claimed("the tests pass", evidence_refs=(run.event_id,)))

    still = inherit(handoff, unchanged(handoff)).inheritance
    moved = inherit(handoff, unchanged(handoff, branch_head="main@def")).inheritance

    assert still.claims[0].verdict == "inherited"
    assert moved.claims[0].verdict == "stale"
    routed = course(given=spec(mission_id="msn_child", inherited=msgspec.to_builtins(moved)))
    move = route(RouterFacts(course=routed, now=START_MS)).move
    assert (move.type, move.target) == ("run_test", "make test")
    assert moved.next_required_move["move"]["target"] == "make test"


def test_aol_282_a_dead_path_whose_file_changed_is_looked_at_again_and_no_longer_forbidden() -> None:
    stood, handoff = made(digests={"src/parser.py": sha("parser")})

    taken = inherit(handoff, unchanged(handoff, files={"src/parser.py": sha("other")})).inheritance

    assert "src/parser.py" in undigested(stood, ())
    assert [one.target for one in taken.dead_paths] == ["src/e.py"]
    assert taken.rechecks == ("src/parser.py",)


def test_aol_286_covered_work_and_dead_paths_accumulate_over_three_generations() -> None:
    _, first = made()
    second = spec(mission_id="msn_second", inherited=msgspec.to_builtins(inherit(first, unchanged(first)).inheritance))
    own = (
        guarded(),
        read("src/k.py"),
        event("literal_search", payload={"query": "retry"}),
        event("dead_path", "src/retry.py", payload={"why": "never called"}),
        claimed("k.py retries for ever", targets=("src/k.py",)),
    )
    told = chained(own, "msn_second")
    handed_on = handed(coursed(second, told), told, handoff_id="hnd_2", stamp=stamped(START_MS), next_move=MOVE)

    third = inherit(handed_on, unchanged(handed_on, files={"src/b.py": sha("other")})).inheritance

    assert third.handoff_ids == ("hnd_1", "hnd_2")
    assert {one.target for one in third.dead_paths} == {"src/parser.py", "src/e.py", "src/retry.py"}
    assert {"src/a.py", "src/e.py", "src/k.py"} == {one.path for one in third.files_read}
    assert {(one.claim, one.verdict, one.inherited_from) for one in third.claims} == {
        ("a.py leaks the handle", "inherited", "msn_01TEST"),
        ("b.py closes twice", "stale", "msn_01TEST"),
        ("k.py retries for ever", "inherited", "msn_second"),
    }
    assert {one.item for one in third.covered if one.family is Family.GRAPH} == {normal_query("who closes the file?")}


# -- repeated work ---------------------------------------------------------------------------------------------------


def test_aol_284_twelve_counted_and_three_covered_is_a_quarter() -> None:
    _, handoff = made()
    child = (
        read("src/a.py"),  # covered
        event("literal_search", payload={"query": "CLOSE, file!", "scope": "src"}),  # covered: the same words
        event("test_run", payload={"command": "pytest tests/test_a.py"}),  # covered
        read("src/b.py", "other"),  # changed since
        event("literal_search", payload={"query": "close file", "scope": "tests"}),  # elsewhere
        event("graph_query", payload={"query": "who opens the file?"}),
        *(read(f"src/new{number}.py") for number in range(6)),
        event("hypothesis", payload={"text": "no action"}),
        event("file_edit", "src/a.py"),
    )

    checked = msgspec.structs.replace(read("src/a.py"), actor="runtime")  # the runtime's own look at a cited file

    found = repeated_work(covered_by(handoff), (*child, checked))

    assert (found.counted, found.covered, found.share) == (12, 3, 0.25)


def test_aol_284_a_recheck_that_was_asked_for_is_not_counted_and_only_once() -> None:
    _, handoff = made()

    found = repeated_work(covered_by(handoff), (read("src/a.py"), read("src/a.py")), rechecks=("src/a.py",))

    assert (found.counted, found.covered) == (1, 1)


def test_aol_283_aol_285_entries_of_dead_paths_and_the_reduction_are_measured() -> None:
    _, handoff = made()
    dead = tuple(one.target for one in handoff.dead_paths)

    assert repeated_work((), (read("src/parser.py"), read("src/k.py")), dead=dead).dead == 1
    assert reduction(Repeats(counted=10, covered=1), Repeats(counted=20, covered=10)) == 0.8
    assert reduction(Repeats(counted=10, covered=0), Repeats(counted=20, covered=0)) is None


# -- the log ---------------------------------------------------------------------------------------------------------


@pytest.fixture
def desk(tmp_path: Path) -> Any:
    made_desk = MissionDesk(tmp_path)
    yield made_desk
    made_desk.close()


def handing(desk: MissionDesk) -> Handing:
    def digest(repo: str, path: str) -> str | None:
        found = Path(repo, path)
        return sha(found.read_text(encoding="utf-8")) if found.is_file() else None

    return Handing(desk.log, digest, lambda _opened, _course, _now: MOVE, lambda event_id: sha(event_id)[7:23])


def given(desk: MissionDesk, *, leave: bool = True, mission_id: str = "msn_01TEST", agent: str = "a1") -> Handoff:
    with desk.log.turn(desk.opened, desk.caller(agent), mission_id) as turn:
        return handing(desk).handoff(turn, leave=leave)


def test_aol_279_a_hand_over_that_was_changed_is_refused_also_with_a_digest_of_its_own(desk: MissionDesk) -> None:
    desk.begin()
    desk.add("msn_01TEST", "dead_path", "src/a.py", payload={"why": "no"})
    kept = given(desk)
    forged = msgspec.structs.replace(kept, dead_paths=())
    whole = msgspec.structs.replace(forged, handoff_digest=handoff_digest(forged))
    elsewhere = msgspec.structs.replace(kept, event_digest=sha("x"))
    sealed = msgspec.structs.replace(elsewhere, handoff_digest=handoff_digest(elsewhere))

    assert handing(desk).given(desk.opened, kept.handoff_id, told=kept) == kept
    for told in (forged, whole, sealed):
        with pytest.raises(HandoverBroken):
            handing(desk).given(desk.opened, kept.handoff_id, told=told)
    with pytest.raises(UnknownMission):
        handing(desk).given(desk.opened, "hnd_nothing")


def test_aol_038_aol_039_links_are_set_in_both_and_form_a_tree(desk: MissionDesk) -> None:
    desk.begin()
    desk.begin("msn_child", agent="a2", parent_mission_id="msn_01TEST")

    with desk.log.reading(desk.opened, "msn_01TEST") as parent:
        assert list(parent.children) == ["msn_child"]
    with desk.log.reading(desk.opened, "msn_child") as child:
        assert child.spec.parent_mission_id == "msn_01TEST"
    with pytest.raises(UnknownMission, match="msn_nobody"):
        desk.begin("msn_other", parent_mission_id="msn_nobody")
    with pytest.raises((InvalidParams, UnknownMission)):
        desk.begin("msn_loop", parent_mission_id="msn_loop")
    assert desk.opened.store.mission("msn_other") is None
    assert desk.opened.store.mission("msn_loop") is None


def test_aol_039_a_ring_of_parents_is_refused_not_walked_for_ever(desk: MissionDesk) -> None:
    desk.begin()
    head = desk.opened.store.mission("msn_01TEST")
    assert head is not None
    with desk.opened.store.writing() as writer:  # as a damaged file could have it
        for name, parent in (("msn_x", "msn_y"), ("msn_y", "msn_x")):
            changed = {"mission_id": name, "parent_id": parent}
            writer.put_mission(type(head)(**{**{key: getattr(head, key) for key in head.__slots__}, **changed}))

    with pytest.raises(InvalidParams, match="come from itself"):
        desk.begin("msn_new", parent_mission_id="msn_x")


def test_aol_038_a_link_is_written_with_the_child_or_not_at_all(desk: MissionDesk) -> None:
    desk.begin()
    asked = spec(mission_id="msn_child", parent_mission_id="msn_01TEST")

    with pytest.raises(ZeroDivisionError), desk.log.begin(desk.opened, desk.caller(), asked):
        raise ZeroDivisionError

    assert desk.opened.store.mission("msn_child") is None
    with desk.log.reading(desk.opened, "msn_01TEST") as parent:
        assert (parent.seq, list(parent.children)) == (0, [])


def test_aol_041_children_begin_while_the_parent_works_and_nobody_waits_for_the_other_for_ever(desk: MissionDesk) -> None:
    desk.begin()

    def child(number: int) -> None:
        desk.begin(f"msn_child{number}", agent="a2", parent_mission_id="msn_01TEST")

    def parent(number: int) -> None:
        desk.add("msn_01TEST", "file_read", f"{number}.py")

    with ThreadPoolExecutor(4) as pool:
        doing = [pool.submit(act, number) for number in range(8) for act in (child, parent)]
        for one in doing:
            one.result(timeout=30)

    with desk.log.reading(desk.opened, "msn_01TEST") as course:
        assert (course.seq, len(course.children)) == (16, 8)
    events = [msgspec.to_builtins(one) for one in desk.log.events(desk.opened, "msn_01TEST")]
    assert first_break("msn_01TEST", events) is None


def test_aol_288_aol_289_a_parent_may_be_over_while_its_child_works_and_names_what_that_has_shown(desk: MissionDesk) -> None:
    desk.begin()
    kept = given(desk, leave=False)
    with desk.log.turn(desk.opened, desk.caller(), "msn_01TEST") as turn:
        turn.add(Draft(event_type=EventType.CLOSE, payload={"status": "closed"}))
    closed_with = desk.opened.store.mission("msn_01TEST")

    child = handing(desk).child(desk.opened, desk.caller("a2"), guard=guard(), parent_mission_id="msn_01TEST")
    desk.begin("msn_child", agent="a2", **child.changes)
    proof = desk.add("msn_child", "file_read", "src/a.py", agent="a2")

    assert child.handoff == kept
    assert desk.opened.store.mission("msn_01TEST") == closed_with  # its packet stays right
    assert handing(desk).children(desk.opened, "msn_01TEST") == ("msn_child",)
    proofs = handing(desk).proofs(desk.opened, "msn_01TEST")
    assert [(one.mission_id, one.event_digest) for one in proofs] == [("msn_child", proof.hash)]
    head = desk.opened.store.mission("msn_child")
    assert head is not None
    assert head.status == "active"


def test_aol_037_a_mission_whose_agent_is_gone_is_written_down_for_the_next(desk: MissionDesk) -> None:
    desk.begin()
    for name in ("a.py", "b.py", "c.py"):
        desk.add("msn_01TEST", "file_read", name, target_digest=sha(name))
    desk.again()  # the process was lost, and nothing was handed over

    child = handing(desk).child(desk.opened, desk.caller("a2"), guard=guard(), parent_mission_id="msn_01TEST")

    assert [one.path for one in child.handoff.files_read] == ["a.py", "b.py", "c.py"]
    assert child.changes["parent_mission_id"] == "msn_01TEST"
    again = handing(desk).child(desk.opened, desk.caller("a2"), guard=guard(), parent_mission_id="msn_01TEST")
    assert again.handoff == child.handoff  # nothing was done since
    desk.add("msn_01TEST", "file_read", "d.py")
    later = handing(desk).child(desk.opened, desk.caller("a2"), guard=guard(), parent_mission_id="msn_01TEST")
    assert [one.path for one in later.handoff.files_read] == ["a.py", "b.py", "c.py", "d.py"]


def test_aol_044_a_mission_that_is_over_is_not_taken_up_again(desk: MissionDesk) -> None:
    for status in ("closed", "abandoned"):
        name = f"msn_{status}"
        desk.begin(name)
        with desk.log.turn(desk.opened, desk.caller(), name) as turn:
            turn.add(Draft(event_type=EventType.CLOSE, payload={"status": status}))
        with (
            pytest.raises(MissionClosed, match=status),
            desk.log.turn(desk.opened, desk.caller(), name, over=True) as turn,
        ):
            handing(desk).reopen(turn, None)
        with pytest.raises(MissionClosed, match="left no hand-over"):
            handing(desk).child(desk.opened, desk.caller("a2"), guard=guard(), parent_mission_id=name)


def test_aol_120_a_child_goes_on_in_the_trace_of_its_parent(desk: MissionDesk) -> None:
    desk.begin()
    kept = given(desk)

    child = handing(desk).child(desk.opened, desk.caller("a2"), guard=guard(), handoff_id=kept.handoff_id)

    giving = desk.log.events(desk.opened, "msn_01TEST")[-1]
    assert giving.event_type is EventType.HANDOFF
    assert giving.outcome is Outcome.NOTED
    assert child.changes["trace_id"] == spec().trace_id
    assert msgspec.convert(child.changes["inherited"], Inheritance).parent_span_id == sha(giving.event_id)[7:23]
