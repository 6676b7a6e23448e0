"""The second reader: a model may doubt a claim that the comparison found shown, and can verify nothing."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.support.model_server import Answer, ModelServer, openai, serving, status
from tests.support.world import Actor, World

TRUE = "the worker retries three times"
FALSE = "the worker retries four times"


def says(verdict: str, why: str = "the line has it") -> Answer:
    return openai(json.dumps({"verdict": verdict, "why": why}))


@pytest.fixture
def reader() -> Iterator[ModelServer]:
    with serving() as server:
        yield server


@pytest.fixture
def world(tmp_path: Path, reader: ModelServer) -> Iterator[World]:
    made = World(tmp_path, model_provider="openai", model_base_url=f"{reader.url}/v1", model_name="judge-1")
    yield made
    made.close()


@pytest.fixture
def agent(world: World, monkeypatch: pytest.MonkeyPatch) -> Actor:
    root = world.brain("shop", **{"src/worker.py": "RETRIES = 3\n"})
    monkeypatch.chdir(root)
    actor = world.at(root)
    done(actor.call("mission.start", task="review the worker", mode="review", budget="deep"))
    return actor


def done(answer: dict[str, Any]) -> dict[str, Any]:
    assert answer["ok"], answer
    return answer


def verified(actor: Actor, claim: str) -> dict[str, Any]:
    refs = ["direct_source:src/worker.py:1"]
    return done(actor.call("mission.verify", claim=claim, evidence_class="direct_source", evidence_refs=refs))


def test_a_reader_that_agrees_is_in_the_packet_and_one_that_doubts_lowers_the_verdict(agent: Actor, reader: ModelServer) -> None:
    reader.give(says("supported"), says("not_shown", "nothing says that it is the worker"))

    agreed = verified(agent, TRUE)
    doubted = verified(agent, "RETRIES is three")
    closed = done(agent.call("mission.close", force=True, reason="a reader doubts"))

    assert agreed["verdict"] == "verified_for_mission"
    assert doubted["verdict"] == "insufficient_evidence"
    assert doubted["missing"] == ("doubted_by_second_reader: openai judge-1 says not_shown: nothing says that it is the worker",)
    question = reader.asked[0].body["messages"][-1]["content"]
    assert f"Claim: {TRUE}" in question
    assert "1: RETRIES = 3" in question
    (shown,), (refused,) = closed["proof"]["verified_claims"], closed["proof"]["rejected_claims"]
    assert shown["comparison"]["second_reading"] == {"verdict": "supported", "reader": "openai judge-1", "why": "the line has it"}
    assert refused["comparison"]["second_reading"]["verdict"] == "not_shown"
    assert done(agent.call("mission.verify_packet", file=closed["proof_file"]))["valid"]


def test_a_reader_never_raises_a_verdict_and_is_not_asked_about_what_is_not_shown(agent: Actor, reader: ModelServer) -> None:
    reader.give(says("supported"))

    assert verified(agent, FALSE)["verdict"] == "rejected"
    assert verified(agent, "the worker sends mail")["verdict"] == "insufficient_evidence"
    assert reader.asked == []


@pytest.mark.parametrize("answer", [status(500), openai("I cannot say.")])
def test_a_reader_that_fails_lowers_nothing_and_is_named(agent: Actor, reader: ModelServer, answer: Answer) -> None:
    reader.give(answer)

    found = verified(agent, TRUE)

    assert found["verdict"] == "verified_for_mission"
    reading = found["comparison"]["second_reading"]
    assert (reading["verdict"], reading["reader"]) == ("no_answer", "openai judge-1")
    assert reader.asked


def test_ctl_135_a_reader_that_would_be_weaker_than_the_planner_is_not_asked_and_named(
    agent: Actor, world: World, reader: ModelServer
) -> None:
    reader.give(says("not_shown"))
    world.restart(model_tiers="R4b=tool")

    found = verified(agent, TRUE)

    assert found["verdict"] == "verified_for_mission"
    assert "R4b" in found["comparison"]["second_reading"]["why"]
    assert reader.asked == []
