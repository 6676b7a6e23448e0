"""The bell: what a brain records is told once, from one place; also what other processes record."""

import queue
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.support.world import World

Heard = list[dict[str, Any]]


@pytest.fixture
def world(tmp_path: Path) -> Iterator[World]:
    made = World(tmp_path)
    yield made
    made.close()


def listened(world: World) -> Heard:
    heard: Heard = []
    world.app.events.subscribe(lambda event: heard.append({**event.data, "session": event.session}))
    return heard


def test_bell_a_write_rings_once_with_its_ids_and_no_text(world: World) -> None:
    root = world.brain("ferry")
    heard = listened(world)
    world.at(root, session="s1").memorize("Ferry hours", "The ferry leaves at noon.")

    (event,) = heard
    assert (event["brain"], event["act"], event["slug"], event["session"]) == (root, "claim.memorize", "ferry-hours", "s1")
    assert (event["count"], len(event["subjects"])) == (1, 1)
    assert event["subjects"][0].startswith("claim:")
    assert "noon" not in str(heard)


def test_bell_a_forgotten_label_is_not_told(world: World) -> None:
    root = world.brain("ferry")
    world.at(root).memorize("Ferry hours", "The ferry leaves at noon.")
    heard = listened(world)
    assert world.human(root).call("forget", claim="Ferry hours", reason="wrong")["ok"]

    assert [event["act"] for event in heard] == ["claim.forget"]
    assert "ferry-hours" not in str([{**event, "brain": ""} for event in heard])


def test_bell_what_a_call_did_is_told_when_it_is_done(world: World) -> None:
    """Whoever hears of a claim finds its file."""
    root = world.brain("ferry")
    seen: list[bool] = []
    world.app.events.subscribe(lambda event: seen.append(world.file(root, "ferry-hours").exists()))
    world.at(root).memorize("Ferry hours", "The ferry leaves at noon.")

    assert seen == [True]


def test_bell_many_rows_of_one_call_are_one_ring(world: World) -> None:
    root = world.brain("ferry")
    heard = listened(world)
    text = "\n\n".join(f"Paragraph {number}: " + "words of a long report " * 60 for number in range(20))
    assert world.at(root).call("memory.ingest", text=text, source="report.md")["ok"]

    assert len([event for event in heard if event["act"].startswith("evidence.")]) <= 2


def test_bell_each_event_of_a_mission_rings(world: World) -> None:
    root = world.brain("ferry")
    agent = world.at(root, "claude:orchestrator")
    mission = agent.call("mission.start", task="review the ferry")["mission_id"]
    heard = listened(world)
    assert agent.call("mission.event", mission_id=mission, event_type="note", payload={"text": "read it"})["ok"]

    assert any(event["brain"] == root and mission in event["subjects"] for event in heard)


def test_bell_letters_ring_in_the_project_they_are_about(world: World) -> None:
    root = world.brain("ferry")
    heard = listened(world)
    letter = world.at(root).call("report", **{"class": "bug"}, what="the ferry was late")["id"]
    assert world.human(root).call("mailbox.distribute")["ok"]

    assert [(event["brain"], event["act"], event["letters"]) for event in heard] == [
        (root, "letter.report", [letter]),
        (root, "letter.distribute", [letter]),
    ]


def test_bell_tells_of_what_another_process_writes_and_not_of_its_own(world: World) -> None:
    ferry, lamp = world.brain("ferry"), world.brain("lamp")
    world.at(ferry).memorize("Ferry hours", "noon")
    rung: queue.Queue[dict[str, Any]] = queue.Queue()
    world.app.events.subscribe(lambda event: rung.put(dict(event.data)))
    write = "import hindbrain, sys; hindbrain.open(home=sys.argv[1], root=sys.argv[2]).call('memorize', node_label='x', text='y')"
    with world.app.listening():
        world.at(ferry).memorize("Second", "two")
        assert rung.get(timeout=60)["act"] == "claim.memorize"
        environment = {"HINDBRAIN_MODE": "embedded", "PATH": "/usr/bin:/bin", "HOME": str(world.place)}
        subprocess.run([sys.executable, "-c", write, str(world.home.path), lamp], check=True, env=environment)
        heard = rung.get(timeout=60)

        assert (heard["brain"], heard["act"]) == (lamp, "elsewhere")
        assert rung.empty()
