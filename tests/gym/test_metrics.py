"""The ten metrics of the gym on hand-made streams with a known result."""

import msgspec
import pytest

from hindbrain.domain.gym import Injected, JudgeRuling
from hindbrain.domain.gym_fixture import Arm, GymFamily
from hindbrain.engines.gym_arms import armed, pooled
from hindbrain.engines.gym_metrics import adherence, measured
from hindbrain.engines.handover import covers
from tests.gym.streams import finding, key, lane, run, told
from tests.support.missions import chained, claimed, event, guard


def judged(verdict: str, **fields: object) -> object:
    return claimed(f"claim {verdict}", verdict=verdict, **fields)


# -- AOL-208 seeded recall -------------------------------------------------------------------------------------------


def test_aol_208_nine_of_ten_planted_defects_are_a_recall_of_0_9() -> None:
    scored = measured(key(10), run(findings=[finding(n) for n in range(1, 10)]))

    assert (scored.matched, scored.seeded, scored.seeded_recall) == (9, 10, 0.9)


def test_aol_208_a_defect_that_is_named_twice_counts_once_and_is_no_extra() -> None:
    scored = measured(key(4), run(findings=[finding(1), finding(1, name="again", line=11), finding(2)]))

    assert scored.seeded_recall == 0.5
    assert [one.standing for one in scored.findings] == ["seeded", "duplicate", "seeded"]
    assert scored.extra == 0


def test_aol_208_a_fixture_without_a_key_has_no_recall_rather_than_none_found() -> None:
    assert measured(key(0, GymFamily.REAL_AUDIT), run(findings=[finding(1)])).seeded_recall is None


def test_aol_208_an_arm_divides_all_that_was_matched_by_all_that_was_seeded_in_lanes_that_ended() -> None:
    ended = [lane((9, 10), 5), lane((3, 10), 5, fixture="y")]
    given_up = lane((10, 10), 5, fixture="z", completed=False)

    arm = pooled(Arm.MISSION_CONTROL, [*ended, given_up])

    assert (arm.matched, arm.seeded, arm.seeded_recall) == (12, 20, 0.6)
    assert (arm.lanes, arm.completed) == (3, 2)


def test_aol_222_a_lane_that_does_not_count_is_in_no_number_of_its_arm() -> None:
    arm = pooled(Arm.MISSION_CONTROL, [lane((2, 10), 5), lane((10, 10), 1, fixture="y", valid=False)])

    assert (arm.seeded_recall, arm.invalid, arm.first_good_finding_ms.median) == (0.2, 1, 5)


# -- AOL-209 first good finding --------------------------------------------------------------------------------------


def test_aol_209_the_time_runs_from_the_first_event_of_the_agent_to_the_first_finding_that_is_right() -> None:
    events = [told("context_guard", ".", at=0, actor="runtime"), told("file_read", "a", at=100), told("file_read", "b", at=900)]
    wrong, right, later = finding(5, at=200, line=400), finding(1, at=850), finding(2, at=1200)

    scored = measured(key(3), run(events, [wrong, later, right]))

    assert scored.first_good_finding_ms == 750


def test_aol_209_without_a_key_the_first_claim_that_is_verified_directly_counts() -> None:
    weak = claimed("weak", verdict="verified_for_mission", evidence_grade="graph_only")
    events = [
        told("file_read", "a", at=10),
        msgspec.structs.replace(weak, timestamp=told("note", at=20).timestamp),
        msgspec.structs.replace(claimed("strong"), timestamp=told("note", at=510).timestamp),
    ]

    assert measured(key(0, GymFamily.REAL_AUDIT), run(events)).first_good_finding_ms == 500


def test_aol_209_no_right_finding_is_no_time_and_the_arm_counts_how_often() -> None:
    scored = measured(key(3), run([told("file_read", "a")], [finding(9)]))
    arm = pooled(Arm.DIRECT, [scored, lane((1, 10), 40), lane((1, 10), 60), lane((1, 10), 500)])

    assert scored.first_good_finding_ms is None
    assert (arm.first_good_finding_ms.median, arm.first_good_finding_ms.measured, arm.first_good_finding_ms.missing) == (60, 3, 1)


def test_aol_209_a_finding_from_before_the_first_event_has_no_time() -> None:
    assert measured(key(3), run([told("file_read", "a", at=500)], [finding(1, at=20)])).first_good_finding_ms is None


# -- AOL-210 to AOL-212 counts ---------------------------------------------------------------------------------------


def test_aol_210_aol_211_direct_evidence_and_graph_calls_are_counted_apart() -> None:
    events = [
        told("file_read", "a.py"),
        told("file_read", "b.py", evidence_class="direct_unverified"),
        told("test_run", "pytest", evidence_class="direct_test"),
        told("semantic_search", "parse"),
        told("impact", "a.py"),
        told("hypothesis", "a.py"),
    ]

    scored = measured(key(), run(events))

    assert (scored.direct_evidence_count, scored.graph_call_count) == (2, 2)


def test_aol_212_searches_that_were_made_before_are_counted_for_lanes_with_and_without_a_mission() -> None:
    events = [
        told("literal_search", "parse date", payload={"query": "parse date"}),
        told("literal_search", "Date, parse!", payload={"query": "Date, parse!"}),
        told("literal_search", "format date", payload={"query": "format date"}),
        told("literal_search", "parse date", payload={"query": "parse date"}),
    ]

    assert measured(key(), run(events)).repeated_search_count == 2
    assert measured(key(), run(events, lane="mission", mission_id="msn_1")).repeated_search_count == 2


def test_aol_212_a_search_of_the_agent_before_is_a_repeat_only_where_it_was_handed_over() -> None:
    before = chained([told("literal_search", "parse date", payload={"query": "parse date"})])
    events = [told("literal_search", "parse date", payload={"query": "parse date"})]

    assert measured(key(), run(events, lane="mission", mission_id="m", parent_events=before)).repeated_search_count == 1
    assert measured(key(), run(events, parent_events=before)).repeated_search_count == 0


def test_aol_229_a_stream_is_given_its_tool_calls_by_kind_whenever_it_was_recorded() -> None:
    events = [told("file_read", "a"), told("file_read", "b"), told("literal_search", "x"), told("note", "n"), claimed("c")]
    stream = msgspec.json.decode(msgspec.json.encode(chained(events)), type=tuple[type(events[0]), ...])

    scored = measured(key(), run(()), lane_id="old")
    again = measured(key(), msgspec.structs.replace(run(findings=[finding(1, at=77)]), events=stream))

    assert (scored.tool_calls, scored.tool_calls_by_family) == (0, {})
    assert (again.tool_calls, again.tool_calls_by_family) == (3, {"direct_read": 2, "literal_search": 1})
    assert again.first_good_finding_ms == 77


# -- AOL-213 claim rejection -----------------------------------------------------------------------------------------


def test_aol_213_two_of_eight_verdicts_that_fail_are_a_quarter() -> None:
    verdicts = ["verified_for_mission"] * 5 + ["stale", "rejected", "insufficient_evidence"]

    scored = measured(key(), run([judged(one) for one in verdicts]))

    assert (scored.verdicts, scored.claim_rejection_rate) == (8, 0.25)
    assert measured(key(), run()).claim_rejection_rate is None


def test_aol_213_an_arm_pools_its_verdicts() -> None:
    many = measured(key(), run([judged("rejected"), *[judged("verified_for_mission")] * 9]))
    few = measured(key(), run([judged("rejected"), judged("rejected")]))

    assert pooled(Arm.DIRECT, [many, few]).claim_rejection_rate == 0.25


# -- AOL-214 false closes --------------------------------------------------------------------------------------------


def closing(*before: object, **payload: object) -> tuple[object, ...]:
    return (*before, told("close", "msn", payload={"status": "closed", **payload}))


def refuted(name: str) -> JudgeRuling:
    return JudgeRuling(lane_id="x.direct.1", finding_id=name, verdict="refuted", judge="human", why="it is documented so")


def test_aol_214_a_close_on_a_claim_that_was_judged_wrong_is_false() -> None:
    wrong = finding(50, name="w", statement="the date is parsed twice")
    events = closing(claimed("the date is parsed twice"))

    before = measured(key(), run(events, [wrong], lane="mission", mission_id="m"))
    after = measured(key(), run(events, [wrong], lane="mission", mission_id="m"), rulings=[refuted("w")])

    assert (before.closes, before.false_close_rate) == (1, 0.0)
    assert (after.false_closes, after.false_close_rate) == (1, 1.0)
    assert "judged wrong" in after.false_close_reasons[0]


def test_aol_214_a_wrong_finding_that_the_mission_never_verified_closes_nothing_falsely() -> None:
    wrong = finding(50, name="w", statement="the date is parsed twice")
    rejected = claimed("the date is parsed twice", verdict="rejected")

    scored = measured(key(), run(closing(rejected), [wrong], lane="mission", mission_id="m"), rulings=[refuted("w")])

    assert scored.false_close_rate == 0.0


def test_aol_214_a_required_step_that_was_skipped_makes_a_close_false_unless_there_was_dissent() -> None:
    dissent = told("dissent", "close", payload={"why": "no calls left", "chosen_tool": "close", "evidence_required": "sweep"})

    silent = measured(key(), run(closing(open=["coverage_sweep: due"])))
    said = measured(key(), run(closing(dissent, open=["coverage_sweep: due"])))

    assert (silent.false_close_rate, said.false_close_rate) == (1.0, 0.0)
    assert "coverage_sweep" in silent.false_close_reasons[0]


def test_aol_214_a_criterion_that_is_reported_met_needs_a_direct_event() -> None:
    read, asked = told("file_read", "a.py"), told("semantic_search", "a")
    claim = {"criteria_refs": ("c1",)}

    by_graph = measured(key(), run(closing(asked, claimed("met", evidence_refs=(asked.event_id,), **claim))))
    by_file = measured(key(), run(closing(read, claimed("met", evidence_refs=(read.event_id,), **claim))))

    assert (by_graph.false_close_rate, by_file.false_close_rate) == (1.0, 0.0)


def test_aol_214_one_false_close_of_four_is_a_quarter_of_the_arm_and_giving_up_is_no_close() -> None:
    fine = [measured(key(), run(closing())) for _ in range(3)]
    false = measured(key(), run(closing(open=["x: y"])))
    gone = measured(key(), run([told("close", "msn", payload={"status": "abandoned", "open": ["x: y"]})]))

    assert gone.false_close_rate is None
    assert pooled(Arm.DIRECT, [*fine, false, gone]).false_close_rate == 0.25


# -- AOL-215 wrong bindings ------------------------------------------------------------------------------------------


def wrongly_bound(*, guarded: str | None, cited_first: bool = False) -> Injected:
    seen = told("semantic_search", "parse")
    used = claimed("it is there", evidence_refs=(seen.event_id,))
    payload = {"guard": msgspec.to_builtins(guard(classification="wrong_workspace_binding", workspace_match=False))}
    if guarded == "drift":
        payload = {"guard": msgspec.to_builtins(guard()), "warnings": ["context_drift: another branch"]}
    looked = event("context_guard", ".", payload=payload) if guarded else None
    order = [seen, used, looked] if cited_first else [looked, seen, used]
    return Injected(wrong="a for b", events=chained(one for one in order if one is not None))


def test_aol_215_a_wrong_binding_is_caught_by_a_guard_or_a_drift_warning_before_anything_of_it_is_evidence() -> None:
    put_in = [
        wrongly_bound(guarded="class"),
        wrongly_bound(guarded="drift"),
        wrongly_bound(guarded=None),
        wrongly_bound(guarded="class", cited_first=True),
    ]

    scored = measured(key(), run(), injected=put_in)

    assert (scored.injections, scored.injections_caught, scored.workspace_drift_catch_rate) == (4, 2, 0.5)
    assert measured(key(), run()).workspace_drift_catch_rate is None


# -- AOL-216 resumability --------------------------------------------------------------------------------------------


def test_aol_216_three_of_twelve_actions_done_again_and_completed_are_0_75() -> None:
    before = chained([told("file_read", f"src/{n}.py") for n in range(3)])
    after = [told("file_read", f"src/{n}.py") for n in range(12)]

    scored = measured(key(), run(after, parent_events=before))
    stopped = measured(key(), run(after, parent_events=before, completed=False))

    assert all(covers(one) is not None for one in after)
    assert (scored.child_actions, scored.child_repeats, scored.handoff_resumability) == (12, 3, 0.75)
    assert stopped.handoff_resumability == 0.0
    assert measured(key(), run(after)).handoff_resumability is None


# -- AOL-217 host recovery -------------------------------------------------------------------------------------------


def test_aol_217_a_host_state_is_right_with_its_diagnosis_its_step_and_no_forbidden_claim() -> None:
    expected = {"diagnosis": "dead", "required": "hindbrain stop", "forbidden": ["rebound"]}
    states = dict.fromkeys(("a", "b", "c", "d"), expected)
    right = {"diagnosis": "dead", "plan": ["hindbrain stop"], "claims": []}
    answer = {
        "states": {
            "a": right,
            "b": right | {"diagnosis": "alive"},
            "c": right | {"plan": []},
            "d": right | {"claims": ["rebound"]},
        }
    }

    scored = measured(key(0, GymFamily.HOST_RECOVERY, expects={"states": states}), run(answer=answer))

    assert (scored.states, scored.states_right, scored.host_recovery_correctness) == (4, 1, 0.25)


# -- AOL-224, AOL-225 ------------------------------------------------------------------------------------------------


def test_aol_224_a_lane_without_an_event_of_its_agent_is_marked_as_missing_capture() -> None:
    assert measured(key(), run()).missing_capture
    assert measured(key(), run([told("context_guard", ".", actor="runtime")])).missing_capture
    assert not measured(key(), run([told("file_read", "a")])).missing_capture


def test_aol_225_four_of_five_steps_are_0_8() -> None:
    walked = ("close", "event", "next", "start")

    scored = measured(key(), run(lane="mission", steps=walked))

    assert scored.adherence == 0.8
    assert adherence(("start", "event", "next", "verify", "close"), walked) == 0.8


def test_aol_225_a_hand_over_is_a_step_where_one_is_due_and_lanes_without_a_loop_have_no_adherence() -> None:
    walked = ("close", "event", "next", "start", "verify")
    before = chained([told("file_read", "a")])

    assert measured(key(), run(lane="mission", steps=walked)).adherence == 1.0
    assert measured(key(), run(lane="mission", steps=walked, parent_events=before)).adherence == pytest.approx(5 / 6)
    assert measured(key(), run(steps=walked)).adherence is None


def test_aol_219_lanes_of_two_arms_are_never_put_together() -> None:
    arms = armed([lane((1, 10), 5, name="direct"), lane((9, 10), 5, name="mission"), lane((8, 10), 5, name="trained")])

    assert [(one.arm.value, one.seeded_recall) for one in arms] == [
        ("direct", 0.1),
        ("hindbrain-trained", 0.8),
        ("hindbrain-mission-control", 0.9),
    ]
