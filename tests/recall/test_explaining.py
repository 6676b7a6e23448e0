"""North explained: why each row stands where it does, what was left out, and what it costs. A look, and no beat."""

from collections.abc import Iterator
from typing import Any

import pytest

from tests.support.world import Actor, World

TASK = "change how the worker retries a failed job"


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> Iterator[World]:
    made = World(tmp_path_factory.mktemp("explaining"), beat_rows_per_feed=2)
    root = made.brain("ferry", src__worker_py="def retry(job):\n    return job\n")
    agent = made.at(root, "claude:orchestrator")
    agent.memorize("Retry policy", "The worker retries a failed job three times.", state="verified")
    agent.memorize("Worker queue", "The worker takes a job from the queue.")
    agent.memorize("Failed job", "A failed job is written to the log.")
    agent.memorize("Harbour depth", "Nine metres; a job of the pilot, who likes to be asked and to tell of it at length.")
    agent.memorize("Retries cost", "Every retry of a job costs a second.", tier="medulla")
    assert agent.call("record", text="the worker retried the failed job four times tonight", source="night.log")["ok"]
    yield made
    made.close()


@pytest.fixture
def person(world: World) -> Actor:
    return world.human(str(world.place / "ferry"))


def beats(actor: Actor) -> tuple[int, int]:
    card: dict[str, Any] = next(one for one in actor.call("overview")["brains"] if one["display_name"] == "ferry")
    return card["beats"], card["queries"]


def test_explain_changes_nothing_of_the_answer_and_counts_as_no_beat(person: Actor) -> None:
    before = beats(person)
    explained = person.north(TASK, explain=True)
    assert beats(person) == before
    plain = person.north(TASK)

    assert "explain" not in plain
    assert {key: explained[key] for key in ("memory", "rendered", "evidence")} == {
        key: plain[key] for key in ("memory", "rendered", "evidence")
    }
    assert beats(person) != before


def test_explain_tells_of_each_row_how_it_was_found_and_what_it_costs(person: Actor) -> None:
    answer = person.north(TASK, explain=True)
    why = answer["explain"]
    claims = [row for row in why["rows"] if row["kind"] == "claim"]

    assert [row["rank"] for row in why["rows"]] == list(range(1, len(why["rows"]) + 1))
    assert [row["id"] for row in claims] == [row["slug"] for row in answer["memory"]]
    first = claims[0]
    assert (first["id"], first["score"], first["why"]) == ("retry-policy", answer["memory"][0]["score"], "task")
    assert first["ways"]["words"]["rank"] == 1
    assert first["parts"]["keyword"] > 0
    assert first["boosts"] == [{"name": "verified", "added": 0.05}]
    assert all(row["tokens"] > 0 for row in why["rows"])
    assert 0 < why["tokens"] <= why["budget"]
    assert [row["kind"] for row in why["rows"] if row["label"] == "night.log"] == ["evidence"]
    assert {one["brain"] for one in why["served"]} == {str(person.caller.root), "medulla"}


def test_explain_tells_why_the_rest_was_left_out(person: Actor) -> None:
    why = person.north(TASK, explain=True)["explain"]
    out = {row["id"]: row["why"] for row in why["left_out_rows"] if row["kind"] == "claim"}

    assert "over_limit" in out.values()
    assert out.get("harbour-depth") in ("below_floor", "over_limit")
    assert not set(out) & {row["id"] for row in why["rows"]}
    assert why["left_out"] >= len(out)


def test_explain_without_a_task_or_memory_is_empty(person: Actor, world: World) -> None:
    empty = world.human(world.brain("lamp")).north("anything at all", explain=True)["explain"]
    unasked = person.north(explain=True)["explain"]

    assert [row for row in empty["rows"] if row["brain"] != "medulla"] == []
    assert {row["why"] for row in unasked["rows"]} <= {"recent", "task", "pair"}
