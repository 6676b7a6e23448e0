"""Outcomes are prepared, rated, recorded and captured (MIND-331 to MIND-350, MIND-354)."""

import json
from itertools import product
from typing import Any

import pytest

from tests.adoption.outcomes import CARDS, a_card, seen
from tests.support.still import still
from tests.support.world import Actor, World

TRACKS = ("runtime_adoption", "card_context", "card_embedding", "evaluator", "research_adapter")
SIGNALS = ("used", "accepted", "rejected", "miss", "rollback", "contradiction", "neutral")
TOKEN = "ghp_" + "a1B2c3D4e5F6" * 3


@pytest.fixture
def actor(any_world: World) -> Actor:
    return any_world.at(any_world.brain("app"))


@pytest.fixture
def here(world: World) -> Actor:
    return world.at(world.brain("app"))


def kept(actor: Actor) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = actor.call("adoption.list", limit=1000)["events"]
    return found


@pytest.mark.req("MIND-331", "MIND-335")
def test_mind_335_one_outcome_is_kept_whole_and_the_ledger_says_only_its_kind(actor: Actor) -> None:
    told = {"query": "skill trigger", "note": "the card helped", "context_hash": "ab" * 32, "metadata": {"run": 3}}
    told |= {"evaluator_id": "ev1", "research_report_id": "report-1", "card_id": a_card(actor)}

    answer = actor.call("adoption.record", **CARDS, signal="accepted", **told)

    (event,) = kept(actor)
    assert event == answer["event"]
    assert {name: event[name] for name in (*CARDS, *told)} == CARDS | told
    assert (event["signal"], event["actor"], event["channel"]) == ("accepted", "codex:maker", "agent")
    assert event["id"].startswith("adoption_")
    assert event["created_at"].endswith("Z")
    assert answer["rendered"] == f"event_id={event['id']} created=true"
    (entry,) = actor.call("ledger.show", act="adoption.recorded")["entries"]
    assert entry["payload"] == {"track": "card_context", "signal": "accepted"}
    assert entry["subject"] == event["id"]
    assert "skill trigger" not in json.dumps(actor.call("ledger.show", limit=1000))
    assert actor.call("ledger.verify")["ok"]


@pytest.mark.req("MIND-335", "MIND-346")
def test_mind_335_the_low_way_is_not_blocked_by_a_warning(here: Actor) -> None:
    assert here.call("adoption.check", **CARDS, signal="accepted")["quality"] == "warning"
    assert here.call("adoption.record", **CARDS, signal="accepted")["writes"] is True
    assert len(kept(here)) == 1


@pytest.mark.parametrize(
    ("given", "named", "offered"),
    [
        pytest.param({"track": "misc"}, "misc", TRACKS, id="mind_332_tracks"),
        pytest.param({"signal": "liked"}, "liked", SIGNALS, id="mind_333_signals"),
    ],
)
@pytest.mark.parametrize("operation", ["adoption.record", "adoption.prepare", "adoption.check"])
def test_mind_332_mind_333_another_word_is_refused_with_those_there_are(
    here: Actor, operation: str, given: dict[str, str], named: str, offered: tuple[str, ...]
) -> None:
    answer = here.call(operation, **({"track": "runtime_adoption", "signal": "used", "feature": "f"} | given))

    assert answer["error"]["code"] == "invalid_params"
    assert named in answer["error"]["message"]
    assert [word for word in offered if word not in answer["error"]["fix"]] == []
    assert answer["error"]["fix"].count(",") == len(offered) - 1, "and no others"
    assert kept(here) == []


def test_mind_332_mind_333_every_track_takes_every_signal(here: Actor) -> None:
    pairs = list(product(TRACKS, SIGNALS))
    for track, signal in pairs:
        seen(here, signal, track=track, feature="f")
    assert sorted((event["track"], event["signal"]) for event in kept(here)) == sorted(pairs)


def test_mind_334_nothing_that_is_offered_changes_or_deletes_an_outcome(here: Actor) -> None:
    seen(here, "accepted", note="first")
    before = kept(here)
    here.call("adoption.record", **CARDS, signal="rejected", id=before[0]["id"], note="second")
    for operation in ("adoption.review", "adoption.analytics", "adoption.stats", "memory.reindex", "consolidate"):
        here.call(operation)
    assert kept(here) == before


@pytest.mark.req("MIND-336")
def test_mind_336_a_blank_feature_is_refused(here: Actor) -> None:
    answer = here.call("adoption.record", track="runtime_adoption", signal="used", feature="  ")
    assert answer["error"]["code"] == "invalid_params"
    assert kept(here) == []


@pytest.mark.req("MIND-337", "MIND-017")
def test_mind_337_an_id_is_made_for_each_call_and_a_given_one_is_taken_once(actor: Actor) -> None:
    seen(actor, "used", 2)
    first = actor.call("adoption.record", **CARDS, signal="used", id="adoption_1")
    again = actor.call("adoption.record", **CARDS, signal="used", id="adoption_1")
    odd = actor.call("adoption.record", **CARDS, signal="used", id="my words")

    assert first["event_id"] == "adoption_1"
    assert again["error"]["code"] == odd["error"]["code"] == "invalid_params"
    assert "adoption_1" in again["error"]["message"]
    assert len({event["id"] for event in kept(actor)}) == len(kept(actor)) == 3


@pytest.mark.req("MIND-338")
def test_mind_338_a_card_that_is_not_there_is_refused(world: World) -> None:
    app, other = world.at(world.brain("app")), world.at(world.brain("other"))
    theirs, mine = a_card(other, "Queues are bounded."), a_card(app)

    unknown = app.call("adoption.record", **CARDS, signal="used", card_id="card_x")
    foreign = app.call("adoption.record", **CARDS, signal="used", card_id=theirs)

    assert unknown["error"]["code"] == foreign["error"]["code"] == "invalid_params"
    assert "card_x" in unknown["error"]["message"]
    assert kept(app) == []
    assert app.call("adoption.record", **CARDS, signal="used", card_id=mine)["event"]["card_id"] == mine


@pytest.mark.req("MIND-339")
def test_mind_339_outcomes_are_found_by_the_pack_they_are_about(here: Actor) -> None:
    seen(here, "accepted", context_hash="aa" * 32)
    seen(here, "rejected", context_hash="bb" * 32)
    found = here.call("adoption.list", context_hash="aa" * 32)["events"]
    assert [event["signal"] for event in found] == ["accepted"]


@pytest.mark.req("MIND-340")
def test_mind_340_a_list_is_newest_first_and_bounded(world: World) -> None:
    here = world.at(world.brain("app"))
    for number in range(60):
        world.clock.forward(1000)
        seen(here, "used", track="evaluator" if number % 20 == 0 else "runtime_adoption", feature="f", note=str(number))

    with still(world.place):
        whole = here.call("adoption.list")
        some = here.call("adoption.list", track="evaluator", limit=2)

    assert [event["note"] for event in whole["events"]] == [str(number) for number in range(59, 9, -1)]
    assert whole["truncated"] is True
    assert [(event["track"], event["note"]) for event in some["events"]] == [("evaluator", "40"), ("evaluator", "20")]
    assert here.call("adoption.list", feature="other")["events"] == []


@pytest.mark.req("MIND-342", "MIND-343", "MIND-344")
def test_mind_342_mind_343_guidance_says_when_without_any_brain(world: World) -> None:
    answer = world.at(world.directory("nowhere")).call("adoption.guidance")

    assert answer["version"] == 1
    assert answer["required_fields"] == ["track", "signal", "feature"]
    assert answer["recording_rule"]
    assert set(answer["optional_fields"]) == {
        *("id", "query", "context_hash", "card_id", "evaluator_id", "research_report_id", "note", "metadata")
    }
    assert [one["signal"] for one in answer["signals"]] == list(SIGNALS)
    assert all(one["when"] for one in (*answer["signals"], *answer["tracks"]))
    assert {one["track"]: one["feature_examples"] for one in answer["tracks"]} == {
        "runtime_adoption": ["context_pack", "skill_selection"],
        "card_context": ["include_cards"],
        "card_embedding": ["card_statement_recall"],
        "evaluator": ["advisory_gate"],
        "research_adapter": ["research_validate_plan", "research_ingest_plan"],
    }
    for words in ("version=1", "signal=used", "track=card_context"):
        assert words in answer["rendered"]
    assert list(world.place.rglob("*.db")) == []


@pytest.mark.req("MIND-345")
def test_mind_345_a_plan_is_a_command_and_a_call_that_work_as_they_stand(world: World) -> None:
    here = world.at(world.brain("app"))

    with still(world.place):
        plan = here.call("adoption.prepare", **CARDS, signal="accepted", query="  skill trigger ", metadata={"run": 3})

    assert plan["writes"] is False
    assert plan["record_command"][:3] == ["hindbrain", "adoption", "record"]
    assert plan["record_command"][plan["record_command"].index("--query") + 1] == "skill trigger"
    assert plan["record_payload"] == {
        "action": "record", **CARDS, "signal": "accepted", "query": "skill trigger", "metadata": {"run": 3}
    }  # fmt: skip
    assert kept(here) == []
    call = plan["record_call"]
    assert here.call(call["operation"], **call["arguments"])["event"]["query"] == "skill trigger"
    assert here.call("adoption.prepare", **CARDS, signal="accepted", id="adoption_7")["record_payload"]["id"] == "adoption_7"


RUN, CARD, VECTORS = "runtime_adoption", "card_context", "card_embedding"
RATED: tuple[tuple[str, str, str, dict[str, str], str, int], ...] = (
    (RUN, "used", "  ", {}, "invalid", 0),
    (CARD, "accepted", "include_cards", {"query": "q", "card_id": "card_1"}, "ready", 0),
    (CARD, "accepted", "include_cards", {}, "warning", 2),
    (RUN, "used", "context_pack", {}, "ready", 0),
    (RUN, "neutral", "context_pack", {}, "ready", 0),
    (RUN, "rollback", "context_pack", {}, "warning", 1),
    (RUN, "rejected", "context_pack", {"note": "n"}, "ready", 0),
    (RUN, "contradiction", "context_pack", {"note": "  "}, "warning", 1),
    (VECTORS, "miss", "card_statement_recall", {"query": "q"}, "warning", 1),
    (VECTORS, "miss", "card_statement_recall", {"query": "q", "card_id": "card_1"}, "ready", 0),
    ("evaluator", "used", "advisory_gate", {}, "warning", 1),
    ("evaluator", "used", "advisory_gate", {"evaluator_id": "e"}, "ready", 0),
    ("research_adapter", "used", "research_ingest_plan", {}, "warning", 1),
    ("research_adapter", "used", "research_ingest_plan", {"research_report_id": "r"}, "ready", 0),
)


@pytest.mark.req("MIND-346", "MIND-347")
@pytest.mark.parametrize(("track", "signal", "feature", "more", "quality", "warnings"), RATED)
def test_mind_346_mind_347_a_record_is_rated_before_it_is_written(
    world: World, track: str, signal: str, feature: str, more: dict[str, str], quality: str, warnings: int
) -> None:
    answer = world.at(world.directory("nowhere")).call("adoption.check", track=track, signal=signal, feature=feature, **more)

    assert (answer["ok"], answer["writes"]) == (True, False)
    assert (answer["quality"], answer["valid"]) == (quality, quality != "invalid")
    assert len(answer["warnings"]) == warnings
    assert bool(answer["errors"]) == (quality == "invalid")
    assert list(world.place.rglob("*.db")) == []


@pytest.mark.req("MIND-348", "MIND-015")
def test_mind_348_a_checked_record_is_written_when_it_is_good_enough(here: Actor) -> None:
    ready: dict[str, Any] = {"track": RUN, "signal": "used", "feature": "context_pack"}
    warning = CARDS | {"signal": "accepted"}
    invalid = ready | {"feature": " "}

    answers = [
        here.call("adoption.record", **ready, checked=True),
        here.call("adoption.record", **warning, checked=True),
        here.call("adoption.record", **warning, checked=True, allow_warnings=True),
        here.call("adoption.record", **invalid, checked=True, allow_warnings=True),
    ]

    assert [answer["writes"] for answer in answers] == [True, False, True, False]
    assert [answer["blocked"] for answer in answers] == [False, True, False, True]
    assert [answer["record_quality"]["quality"] for answer in answers] == ["ready", "warning", "warning", "invalid"]
    assert [answer["event"] is None for answer in answers] == [False, True, False, True]
    assert all(answer["ok"] and "exit_code" not in answer for answer in answers)
    assert len(kept(here)) == 2


@pytest.mark.req("MIND-015")
def test_mind_015_a_blocked_report_fails_only_where_that_was_asked_for(here: Actor) -> None:
    blocked = here.call("adoption.record", **CARDS, signal="accepted", checked=True, fail_on_block=True)
    captured = here.call("adoption.capture", surface="card-context", outcome="accepted", execute=True, fail_on_block=True)
    written = here.call("adoption.record", track=RUN, signal="used", feature="f", checked=True, fail_on_block=True)
    planned = here.call("adoption.capture", surface="card-context", outcome="accepted", fail_on_block=True)
    closed = here.call("adoption.gate", candidate="evaluator-api", fail_on_block=True)
    unready = here.call("adoption.readiness", candidate="card-context", fail_on_block=True)
    proposed = here.call("defaults.propose", candidate="card-context", fail_on_block=True)

    for answer in (blocked, captured, closed, unready, proposed):
        assert (answer["ok"], answer["exit_code"]) == (False, 3)
        assert answer["error"]["code"] == "check_failed"
    assert written["ok"]
    assert planned["ok"]


SURFACES = {
    "card-context": ("card_context", "include_cards"),
    "card-embedding": ("card_embedding", "card_statement_recall"),
    "research-adapter": ("research_adapter", "research_ingest_plan"),
    "evaluator": ("evaluator", "advisory_gate"),
    "runtime-context": ("runtime_adoption", "context_pack"),
    "skill-selection": ("runtime_adoption", "skill_selection"),
}


@pytest.mark.req("MIND-350")
def test_mind_350_a_surface_says_track_and_feature_in_both_spellings(here: Actor) -> None:
    for surface, (track, feature) in SURFACES.items():
        for spelling in (surface, surface.replace("-", "_")):
            answer = here.call("adoption.capture", surface=spelling, outcome="used")
            payload = answer["record_plan"]["record_payload"]
            assert (payload["track"], payload["feature"], payload["signal"]) == (track, feature, "used")
            assert (answer["surface"], answer["outcome"]) == (surface, "used")
    for given in ({"surface": "ui", "outcome": "used"}, {"surface": "evaluator", "outcome": "liked"}):
        answer = here.call("adoption.capture", **given)
        assert answer["error"]["code"] == "invalid_params"
        assert any(word in answer["error"]["message"] for word in ("ui", "liked"))
    assert kept(here) == []


@pytest.mark.req("MIND-349", "MIND-012")
def test_mind_349_a_capture_is_planned_first_and_written_by_the_checked_way(world: World) -> None:
    here = world.at(world.brain("app"))
    good = {"surface": "context", "outcome": "accepted", "query": "skill trigger", "card_id": a_card(here)}
    lacking = {"surface": "context", "outcome": "accepted"}

    with still(world.place):
        dry = here.call("adoption.capture", **good)
    assert (dry["writes"], dry["execute"], dry["record_checked"], dry["refusal"]) == (False, False, None, None)
    assert dry["record_quality"]["quality"] == "ready"
    assert kept(here) == []

    done = here.call("adoption.capture", **good, execute=True)
    blocked = here.call("adoption.capture", **lacking, execute=True)
    allowed = here.call("adoption.capture", **lacking, execute=True, allow_warnings=True)

    assert [answer["writes"] for answer in (done, blocked, allowed)] == [True, False, True]
    assert [answer["record_checked"]["blocked"] for answer in (done, blocked, allowed)] == [False, True, False]
    assert [event["metadata"] for event in kept(here)] == [{"outcome": "accepted", "surface": "card-context"}] * 2


@pytest.mark.req("MIND-349")
def test_mind_349_a_plan_says_what_writing_it_would_be_refused_for(world: World) -> None:
    here, nowhere = world.at(world.brain("app")), world.at(world.directory("nowhere"))
    unknown = here.call("adoption.capture", surface="context", outcome="used", card_id="card_x")
    brainless = nowhere.call("adoption.capture", surface="context", outcome="used")

    assert unknown["refusal"]["code"] == "invalid_params"
    assert brainless["refusal"]["code"] == "brainless_root"
    assert nowhere.call("adoption.capture", surface="context", outcome="used", execute=True)["error"]["code"] == "brainless_root"


@pytest.mark.req("MIND-354")
def test_mind_354_working_with_memory_records_nothing_by_itself(world: World) -> None:
    here = world.at(world.brain("app", src__a_py="a = 1\n"))
    here.call("record", text="the retry budget is three")
    for _ in range(20):
        for operation, words in (
            ("memory.search", {"query": "retry"}),
            ("north", {"task": "retry"}),
            ("seek", {"query": "retry"}),
        ):
            here.call(operation, **words)
        here.call("adoption.prepare", **CARDS, signal="used")
        here.call("adoption.capture", surface="context", outcome="used")
    assert here.call("adoption.stats")["total"] == 0


@pytest.mark.parametrize(
    "given",
    [
        {"note": f"it printed {TOKEN}"},
        {"query": TOKEN},
        {"metadata": {"log": [TOKEN]}},
        {"evaluator_id": TOKEN},
        {"feature": TOKEN},
    ],
)
def test_a_secret_is_refused_wherever_it_stands_in_a_record(world: World, given: dict[str, Any]) -> None:
    here = world.at(world.brain("app"))
    answer = here.call("adoption.record", **({"track": RUN, "signal": "used", "feature": "f"} | given))

    assert answer["error"]["code"] == "hygiene"
    assert kept(here) == []
    assert not any(TOKEN.encode() in path.read_bytes() for path in world.place.rglob("*") if path.is_file())


@pytest.mark.parametrize(
    "given", [{"note": "n" * 4001}, {"query": "q" * 4001}, {"feature": "f" * 201}, {"metadata": {"a": "b" * 16_000}}]
)
def test_an_outcome_is_told_in_a_few_sentences(here: Actor, given: dict[str, Any]) -> None:
    answer = here.call("adoption.record", **({"track": RUN, "signal": "used", "feature": "f"} | given))
    assert answer["error"]["code"] == "invalid_params"
    assert kept(here) == []


def test_a_rejected_value_does_not_come_back_as_a_note(world: World) -> None:
    root = world.brain("app")
    here = world.at(root)
    here.memorize("Harbour", "the harbour opens at six in the morning")
    world.human(root).call("reject", claim="harbour", reason="wrong")

    answer = here.call("adoption.record", track=RUN, signal="used", feature="f", note="The harbour opens at SIX in the morning.")

    assert answer["error"]["code"] == "rejected_value"
    assert kept(here) == []


@pytest.mark.req("MIND-388")
def test_mind_388_switched_off_nothing_is_written_and_reports_work(world: World) -> None:
    root = world.brain("app")
    seen(world.at(root), "accepted")
    world.restart(adoption=False)
    here = world.at(root)

    for operation, words in (
        ("adoption.record", CARDS | {"signal": "used"}),
        ("adoption.record", CARDS | {"signal": "used", "checked": True, "allow_warnings": True}),
        ("adoption.capture", {"surface": "context", "outcome": "used", "execute": True, "allow_warnings": True}),
    ):
        answer = here.call(operation, **words)
        assert answer["error"]["code"] == "switched_off"
        assert "adoption" in answer["error"]["message"]
    assert here.call("adoption.capture", surface="context", outcome="used")["refusal"]["code"] == "switched_off"
    assert here.call("adoption.review")["total"] == 1
