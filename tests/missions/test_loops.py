"""Circles in a mission: each rule just below its condition, at it, and after it; what resets it; what a restart remembers."""

import time
from typing import Any

import msgspec
import pytest

from hindbrain.domain.handover import Covered, DeadPath, Inheritance
from hindbrain.domain.mission import EventType, Family, MissionEvent, MissionSpec, Route
from hindbrain.engines.course import coursed
from hindbrain.engines.mission_chain import sealed
from hindbrain.engines.mission_loops import Found, process_share
from hindbrain.services.missions.log import Draft
from tests.support.missions import MissionDesk, chained, claimed, event, guard, spec


class Watched:
    """A mission whose warnings are written down as the kernel does it: right after the event that completes a condition."""

    def __init__(self, given: MissionSpec | None = None) -> None:
        self.course = coursed(given or spec(route=Route.ARCHITECTURE_SURVEY))
        self.events: list[MissionEvent] = []

    def add(self, *events: MissionEvent) -> list[tuple[str, str]]:
        """The warnings that these events bring, as rule and action."""
        found: list[Found] = []
        for one in events:
            self._write(one)
            for warned in self.course.loops.look():
                found.append(warned)
                self._write(
                    event(
                        "loop_warning", warned.item, actor="runtime", failure_class=warned.failure_class, payload=warned.payload
                    )
                )
        return [(one.rule, one.action) for one in found]

    def _write(self, one: MissionEvent) -> None:
        made = sealed(
            msgspec.structs.replace(one, seq=self.course.seq + 1, mission_id=self.course.spec.mission_id), self.course.head
        )
        self.course.add(made)
        self.events.append(made)


def read(path: str = "src/a.py", lines: list[int] | None = None, digest: str = "sha256:1") -> MissionEvent:
    payload: dict[str, Any] = {} if lines is None else {"range": lines}
    return event("file_read", path, tool="read", target_digest=digest, payload=payload)


def search(query: str, **payload: Any) -> MissionEvent:
    return event("literal_search", query, tool="grep", payload={"query": query, **payload})


def seek(query: str) -> MissionEvent:
    return event("semantic_search", query, tool="seek", payload={"query": query})


def verified_again(claim: MissionEvent, *references: str) -> MissionEvent:
    judged = {**claim.payload["claim"], "verdict": "insufficient_evidence"}
    return event("verify", judged["claim_id"], payload={"claim": judged, "references": list(references)})


def rules(told: list[tuple[str, str]], rule: str) -> list[str]:
    return [action for name, action in told if name == rule]


# -- LW1 -----------------------------------------------------------------------------------------------------------------


def test_aol_123_the_same_call_twice_warns_a_third_time_blocks_and_then_it_is_known() -> None:
    mission = Watched()

    first = mission.add(event("command", "build", tool="make"))
    second = mission.add(event("command", "build", tool="make"))
    third = mission.add(event("command", "build", tool="make"))
    later = mission.add(*(event("command", "build", tool="make") for _ in range(1)))

    assert [rules(one, "LW1") for one in (first, second, third, later)] == [[], ["warn"], ["block"], []]
    assert [one.item for one in mission.course.loops.active() if one.rule == "LW1"] == ["build"]


def test_aol_123_something_else_in_between_clears_it() -> None:
    mission = Watched()
    mission.add(event("command", "build", tool="make"), event("command", "build", tool="make"))

    mission.add(read())

    assert [one.rule for one in mission.course.loops.active()] == []
    assert rules(mission.add(event("command", "build", tool="make")), "LW1") == []


def test_aol_123_arguments_make_a_call_another_one() -> None:
    mission = Watched()

    told = mission.add(
        event("command", "build", tool="make", payload={"arguments_digest": "a"}),
        event("command", "build", tool="make", payload={"arguments_digest": "b"}),
    )

    assert rules(told, "LW1") == []


# -- LW2 -----------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("again", "repeated"),
    [
        ("parse the date", True),
        ("DATE, the parse!", True),
        ("ｐａｒｓｅ the date", True),  # NFKC
        ("parse date the the", True),
        ("parse a date", False),  # two of four words
    ],
)
def test_aol_124_a_search_is_the_same_whatever_its_order_case_and_signs(again: str, repeated: bool) -> None:
    mission = Watched()
    mission.add(search("parse the date"), read())

    assert (rules(mission.add(search(again)), "LW2") == ["warn"]) is repeated
    assert mission.course.repeated_searches == int(repeated)


@pytest.mark.parametrize(
    ("first", "second", "repeated"),
    [
        ("one two three four", "one two three four five", True),  # 4/5
        ("one two three", "one two three four", False),  # 3/4
        ("a b c d e f g h i", "a b c d e f g h j", True),  # 8/10
        ("a b c d e f g h", "a b c d e f g j", False),  # 7/9
        ("a b c d e f g h i j", "a b c d e f g h", True),  # 8/10
    ],
)
def test_aol_124_four_words_of_five_make_it_the_same_search(first: str, second: str, repeated: bool) -> None:
    mission = Watched()
    mission.add(search(first), read())

    assert (rules(mission.add(search(second)), "LW2") == ["warn"]) is repeated


def test_aol_124_aol_132_five_repeats_warn_once_and_then_the_query_is_forbidden() -> None:
    mission = Watched()
    told: list[tuple[str, str]] = []
    for number in range(6):
        told += mission.add(search("retry policy"), read(f"src/{number}.py"))

    assert rules(told, "LW2") == ["warn", "do_not"]
    assert mission.course.repeated_searches == 5
    assert [one.item for one in mission.course.loops.closed()] == ["retry policy"]


@pytest.mark.parametrize(
    "change",
    [
        event("file_edit", "src/a.py", tool="edit"),
        event("graph_ingest", "src", tool="ingest"),
        event("graph_ingest", None, tool="ingest"),
    ],
    ids=["edit inside", "ingest above", "ingest of all"],
)
def test_aol_124_a_change_inside_the_scope_makes_it_a_new_search(change: MissionEvent) -> None:
    mission = Watched()
    mission.add(search("retry policy", scope="src"), read("docs/x.md"), search("retry policy", scope="src"))
    mission.add(read("docs/y.md"), search("retry policy", scope="src"))
    assert mission.course.loops.closed()

    mission.add(change)

    assert mission.course.loops.closed() == ()
    assert rules(mission.add(search("retry policy", scope="src")), "LW2") == []
    assert rules(mission.add(read("docs/z.md"), search("retry policy", scope="src")), "LW2") == ["warn"]


def test_aol_124_a_change_elsewhere_or_another_scope_is_none() -> None:
    mission = Watched()
    mission.add(search("retry policy", scope="src"), event("file_edit", "srcs/a.py", tool="edit"))

    assert rules(mission.add(search("retry policy", scope="docs")), "LW2") == []
    assert rules(mission.add(search("retry policy", scope="src")), "LW2") == ["warn"]


def test_aol_124_another_branch_is_a_change_of_everything() -> None:
    mission = Watched()
    here, there = (msgspec.to_builtins(guard(branch_head=head)) for head in ("main@abc", "other@def"))
    mission.add(event("context_guard", ".", actor="runtime", payload={"guard": here}), search("retry policy"))

    mission.add(event("context_guard", ".", actor="runtime", payload={"guard": here}))
    same = mission.add(search("retry policy"))
    mission.add(event("context_guard", ".", actor="runtime", payload={"guard": there}))

    assert rules(same, "LW2") == ["warn"]
    assert rules(mission.add(search("retry policy")), "LW2") == []


def test_aol_124_what_a_mission_before_asked_is_a_repeat_here() -> None:
    brought = Inheritance(covered=(Covered(family=Family.LITERAL_SEARCH, item="policy retry"),))
    mission = Watched(spec(route=Route.BALANCED, inherited=msgspec.to_builtins(brought)))

    assert rules(mission.add(search("retry policy")), "LW2") == ["warn"]


def test_aol_124_the_files_may_be_asked_what_the_graph_was_asked() -> None:
    mission = Watched()

    assert rules(mission.add(seek("retry policy"), search("retry policy")), "LW2") == []


# -- LW3 -----------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("route", "limit"),
    [
        (Route.SHORT_AUDIT, 1),
        (Route.DOCS_BINDING, 1),
        (Route.RELEASE_PREFLIGHT, 1),
        (Route.TRAINED_AUDIT, 2),
        (Route.RISK_FIRST, 2),
        (Route.BALANCED, 2),
        (Route.ARCHITECTURE_SURVEY, 4),
    ],
)
def test_aol_125_graph_calls_up_to_the_limit_of_the_route(route: Route, limit: int) -> None:
    mission = Watched(spec(route=route))

    told = [rules(mission.add(seek(f"question {number}")), "LW3") for number in range(limit + 1)]

    assert told == [[]] * (limit - 1) + [["do_not"], []]
    assert "LW3" in [one.rule for one in mission.course.loops.active()]
    mission.add(read())
    assert mission.course.loops.active() == ()


def test_aol_125_direct_proof_allows_no_graph_call_at_all() -> None:
    mission = Watched(spec(route=Route.DIRECT_PROOF))

    assert [one.item for one in mission.course.loops.active()] == ["graph"]
    assert mission.course.loops.look() == ()  # nothing was done yet, so nothing is warned of
    assert rules(mission.add(seek("anything")), "LW3") == ["do_not"]


def test_aol_125_taking_files_into_the_graph_is_no_question_to_it() -> None:
    mission = Watched(spec(route=Route.SHORT_AUDIT))

    assert mission.add(event("graph_ingest", ".", tool="ingest")) == []
    assert mission.course.graph_calls == 0


# -- LW4 -----------------------------------------------------------------------------------------------------------------


def test_aol_126_two_places_in_turn_are_seen_at_the_fourth_step_once() -> None:
    mission = Watched()
    a, b = ("a.py", "b.py")

    below = mission.add(read(a), read(b), read(a))
    at = mission.add(read(b))
    after = mission.add(read(a))

    assert (rules(below, "LW4"), rules(at, "LW4"), rules(after, "LW4")) == ([], ["warn"], [])
    mission.add(read("c.py"))
    assert "LW4" not in [one.rule for one in mission.course.loops.active()]


def test_aol_126_editing_and_testing_in_turn_is_work() -> None:
    mission = Watched()
    turn = (event("file_edit", "a.py", tool="edit"), event("test_run", "tests/test_a.py", tool="mission.run"))

    assert rules(mission.add(*turn, *turn, *turn), "LW4") == []


# -- LW5 -----------------------------------------------------------------------------------------------------------------


def _idle(times: int) -> list[MissionEvent]:
    return [event("dir_list", "src", tool=f"list{number}") for number in range(times)]


def test_aol_127_five_calls_without_anything_new_warn_once() -> None:
    mission = Watched()
    mission.add(*_idle(1))  # the place is new here

    below = mission.add(*_idle(4))
    at = mission.add(*_idle(1))
    after = mission.add(*_idle(3))

    assert (rules(below, "LW5"), rules(at, "LW5"), rules(after, "LW5")) == ([], ["warn"], [])


@pytest.mark.parametrize(
    "news",
    [event("dir_list", "lib", tool="list"), read("src"), claimed("it is here", verify=False)],
    ids=["a new place", "direct evidence", "a claim"],
)
def test_aol_127_anything_new_starts_the_count_again(news: MissionEvent) -> None:
    mission = Watched()
    mission.add(*_idle(5))

    assert rules(mission.add(news, *_idle(4)), "LW5") == []
    assert rules(mission.add(*_idle(1)), "LW5") == ["warn"]


def test_aol_127_the_same_text_read_again_is_nothing_new() -> None:
    mission = Watched()
    mission.add(read("a.py"), read("b.py"))

    told = mission.add(*(read(path) for path in ("a.py", "b.py", "b.py", "a.py", "a.py")))

    assert rules(told, "LW5") == ["warn"]


# -- LW6 -----------------------------------------------------------------------------------------------------------------


def test_aol_128_the_third_read_of_the_same_lines_warns_once_and_bars_them() -> None:
    mission = Watched()

    below = mission.add(read(lines=[1, 40]), read("b.py"), read(lines=[30, 60]))
    at = mission.add(read("c.py"), read(lines=[35, 50]))
    after = mission.add(read("d.py"), read(lines=[35, 50]))

    assert (rules(below, "LW6"), rules(at, "LW6"), rules(after, "LW6")) == ([], ["warn"], [])
    assert [one.item for one in mission.course.loops.closed()] == ["src/a.py:35-50"]


def test_aol_128_other_lines_and_another_text_are_not_the_same() -> None:
    mission = Watched()

    told = mission.add(read(lines=[1, 10]), read("x.py"), read(lines=[11, 20]), read("y.py"), read(lines=[21, 30]), read("z.py"))
    told += mission.add(*(one for number in range(3) for one in (read(digest=f"sha256:{number}x"), read(f"{number}.py"))))

    assert rules(told, "LW6") == []


def test_aol_128_an_edit_starts_it_again() -> None:
    mission = Watched()
    mission.add(read(), read("b.py"), read(), read("c.py"), read())
    assert mission.course.loops.closed()

    mission.add(event("file_edit", "src/a.py", tool="edit"))

    assert mission.course.loops.closed() == ()
    assert rules(mission.add(read(), read("d.py"), read()), "LW6") == []
    assert rules(mission.add(read("e.py"), read()), "LW6") == ["warn"]


# -- LW7 -----------------------------------------------------------------------------------------------------------------


def test_aol_129_a_dead_path_is_blocked_with_its_reason_and_events() -> None:
    mission = Watched()
    dead = event("dead_path", "src/old.py", payload={"why": "it is generated"})
    assert mission.add(read("src/new.py"), dead) == []

    told = mission.add(read("src/old.py"))

    assert rules(told, "LW7") == ["block"]
    (found,) = mission.course.loops.active()
    assert (found.item, "it is generated" in found.message) == ("src/old.py", True)
    assert found.event_ids == (dead.event_id, mission.events[-2].event_id)
    assert rules(mission.add(read("src/new.py"), read("src/old.py")), "LW7") == []  # said once


def test_aol_129_what_was_ruled_out_by_its_outcome_or_as_a_question_is_dead_too() -> None:
    mission = Watched()
    mission.add(
        event("file_read", "a.py", outcome="ruled_out"), event("dead_path", "retry policy", payload={"why": "no such thing"})
    )

    assert rules(mission.add(read("a.py")), "LW7") == ["block"]
    assert rules(mission.add(search("policy, retry")), "LW7") == ["block"]


def test_aol_129_dissent_lifts_it_and_ancestors_have_dead_paths() -> None:
    brought = Inheritance(dead_paths=(DeadPath(target="src/old.py", why_ruled_out="dead", event_ids=("evt_before",)),))
    given = spec(route=Route.BALANCED, inherited=msgspec.to_builtins(brought))
    bold, timid = Watched(given), Watched(given)
    bold.add(event("dissent", "src/old.py", payload={"why": "it is read at start", "chosen_tool": "read"}))

    assert rules(timid.add(read("src/old.py")), "LW7") == ["block"]
    assert rules(bold.add(read("src/old.py")), "LW7") == []
    assert (timid.course.loops.dead_end("src/old.py") is None, bold.course.loops.dead_end("src/old.py") is None) == (False, True)


# -- LW8 -----------------------------------------------------------------------------------------------------------------


def test_aol_130_a_claim_verified_three_times_on_the_same_evidence_is_blocked_until_something_is_seen() -> None:
    mission = Watched()
    claim = claimed("it is here", verify=False)
    name = claim.payload["claim"]["claim_id"]
    shown = read()
    mission.add(shown, claim)

    below = mission.add(verified_again(claim, shown.event_id), verified_again(claim, shown.event_id))
    assert mission.course.loops.thrashed(name) is None
    at = mission.add(verified_again(claim, shown.event_id))
    after = mission.add(verified_again(claim, shown.event_id))

    assert (rules(below, "LW8"), rules(at, "LW8"), rules(after, "LW8")) == ([], ["block"], [])
    assert mission.course.loops.thrashed(name) is not None
    mission.add(read())  # the same text once more proves nothing new
    assert mission.course.loops.thrashed(name) is not None
    mission.add(read("src/b.py"))
    assert mission.course.loops.thrashed(name) is None


def test_aol_130_a_new_reference_is_a_new_try() -> None:
    mission = Watched()
    claim = claimed("it is here", verify=False)
    mission.add(claim, verified_again(claim, "a.py:1"), verified_again(claim, "a.py:1"))

    assert rules(mission.add(verified_again(claim, "a.py:1", "b.py:9")), "LW8") == []


# -- all of them -----------------------------------------------------------------------------------------------------------


def _tangled() -> Watched:
    mission = Watched(spec(route=Route.SHORT_AUDIT))
    for number in range(3):
        mission.add(search("retry policy"), read("a.py"), seek(f"question {number}"), *_idle(2))
    mission.add(event("dead_path", "old.py", payload={"why": "dead"}), read("old.py"), *_idle(6))
    return mission


def test_aol_131_aol_133_every_warning_is_counted_and_is_an_event_that_links_to_its_causes() -> None:
    mission = _tangled()

    warnings = [one for one in mission.events if one.event_type is EventType.LOOP_WARNING]

    assert mission.course.loop_warnings == len(warnings) >= 5
    assert {one.payload["rule"] for one in warnings} >= {"LW2", "LW3", "LW5", "LW7"}
    known: set[str] = set()
    for one in mission.events:
        if one.event_type is EventType.LOOP_WARNING:
            assert one.payload["event_ids"]
            assert set(one.payload["event_ids"]) <= known  # every cause stands before it in the chain
        known.add(one.event_id)


def test_aol_132_aol_318_a_restart_knows_what_was_warned_of() -> None:
    mission = _tangled()

    again = coursed(mission.course.spec, mission.events)

    assert again.loops.look() == ()
    assert (again.loops.active(), again.loops.closed()) == (mission.course.loops.active(), mission.course.loops.closed())
    assert (again.repeated_searches, again.loop_warnings) == (mission.course.repeated_searches, mission.course.loop_warnings)


def test_aol_133_a_warning_is_written_in_the_same_chain(tmp_path: Any) -> None:
    desk = MissionDesk(tmp_path)
    course = desk.begin("msn_loops", route=Route.BALANCED)
    for _ in range(2):
        with desk.log.turn(desk.opened, desk.caller(), course.spec.mission_id) as turn:
            turn.add(Draft(event_type=EventType.COMMAND, actor=turn.agent, source="agent", target="build", tool="make"))
            for found in turn.course.loops.look():
                turn.add(Draft(event_type=EventType.LOOP_WARNING, target=found.item, payload=found.payload))

    desk.again()

    stored = desk.log.events(desk.opened, "msn_loops")
    assert [one.event_type for one in stored] == [EventType.COMMAND, EventType.COMMAND, EventType.LOOP_WARNING]
    assert stored[-1].payload["event_ids"] == [stored[0].event_id, stored[1].event_id]
    with desk.log.reading(desk.opened, "msn_loops") as kept:
        assert (kept.loops.look(), kept.loop_warnings) == ((), 1)
    desk.close()


def test_aol_134_warnings_about_the_way_of_working_are_logical_failures_of_the_round() -> None:
    mission = Watched()
    mission.add(*_idle(6))
    mission.add(event("dir_list", "lib", tool="list"), *_idle(5))
    mission.add(event("command", "fetch", outcome="error", failure_class="environmental", tool="curl"))

    assert mission.course.round_failures == ["logical", "logical", "environmental"]
    assert process_share(mission.course.round_failures) == round(2 / 3, 9)


def test_aol_134_repeating_a_search_or_entering_a_dead_path_is_no_failure_of_that_kind() -> None:
    mission = Watched()
    mission.add(
        search("x y"), read(), search("x y"), read("b.py"), event("dead_path", "c.py", payload={"why": "no"}), read("c.py")
    )

    assert mission.course.loop_warnings == 2
    assert mission.course.round_failures == []


def test_aol_131_what_the_runtime_reads_to_check_a_claim_is_no_circle_of_the_agent() -> None:
    mission = Watched()

    told = mission.add(*(msgspec.structs.replace(read(), actor="runtime", source="runtime") for _ in range(6)))

    assert told == []
    assert mission.course.tool_calls == 0


@pytest.mark.parametrize(
    "asked",
    ["why does part {0} of the shop fail at night", "why does part {0} of shop {0}0 fail in town {0}1 at {0}2"],
    ids=["nearly equal", "with words in common"],
)
def test_must_5_one_more_event_costs_the_same_after_thousands(asked: str) -> None:
    """Questions that share most of their words: the case in which a look at all earlier ones would show."""
    course = coursed(spec(route=Route.ARCHITECTURE_SURVEY))
    events = chained(search(asked.format(number)) for number in range(3_000))
    spent: list[float] = []
    for one in events:
        began = time.thread_time()
        course.loops.note(one)
        spent.append(time.thread_time() - began)

    early, late = sorted(spent[200:500])[150], sorted(spent[-300:])[150]
    assert late < 0.005
    assert late < early * 4
