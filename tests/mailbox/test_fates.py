"""Fates: read from the reply graph each time, stored nowhere (MED-264 … MED-272, MED-236)."""

import random
from typing import Any

import pytest

from tests.support.mail import box_of, dropped, into, spool_of
from tests.support.world import World, tree_hash


def states(world: World, root: str) -> dict[str, str]:
    """The fate of each letter, as the sweep tells it."""
    return {one["id"]: one["state"] for one in world.at(root).call("inbox_sweep")["letters"]}


@pytest.mark.req("MED-264", "MED-265", "MED-266", "MED-267", "MED-269")
def test_med_264_med_265_med_266_med_267_med_269_a_thread_goes_from_wet_ink_over_in_flight_to_fired_clay(world: World) -> None:
    x = world.brain("x")
    a = dropped(world, what="it broke", repo="x")
    assert states(world, x) == {a: "wet_ink"}

    friction = dropped(world, "friction", what="me too", answers=[a], repo="x")
    assert states(world, x) == {a: "in_flight", friction: "wet_ink"}

    triage = dropped(world, "triage", what="mended", answers=[a], repo="x")
    assert states(world, x) == {a: "fired_clay", friction: "wet_ink", triage: "fired_clay"}

    later = dropped(world, "friction", what="again?", answers=[a], repo="x")
    before = tree_hash(world.home.path), tree_hash(world.place / "x")
    found = world.at(x).call("inbox_sweep")
    assert {one["id"]: one["state"] for one in found["letters"]}[a] == "fired_clay"
    assert found["open"] == 2, "the two friction letters; the triage asks for nothing"
    shown = next(one for one in found["letters"] if one["id"] == a)
    assert shown["answered_by"] == [friction, triage, later]
    assert (tree_hash(world.home.path), tree_hash(world.place / "x")) == before, "no file changed, so none holds a fate"
    text = spool_of(world).read_text()
    assert not any(word in text for word in ("wet_ink", "in_flight", "fired_clay", "external"))


@pytest.mark.req("MED-268", "MED-271")
def test_med_268_med_271_letters_about_foreign_tools_are_external_and_never_open(world: World) -> None:
    x = world.brain("x")
    foreign = [dropped(world, tool="Context7 docs", n=1), dropped(world, tool="context7"), dropped(world, external=True)]
    wet = [dropped(world, n=number) for number in range(2)]
    moving = dropped(world, what="seen by two")
    fired = [dropped(world, what="done", n=number) for number in range(2)]
    dropped(world, "win", external=False, answers=[moving], tool="context7")  # an answer about a foreign tool is one all the same
    closing = [dropped(world, "triage", answers=[foreign[1], fired[0]]), dropped(world, "receipt", answers=[fired[1]])]

    found = world.at(x).call("inbox_sweep")

    told = {one["id"]: one["state"] for one in found["letters"]}
    assert {told[one] for one in foreign} == {"external"}, "answered or not"
    assert found["counts"] == {"wet_ink": 2, "in_flight": 1, "fired_clay": 4, "external": 4}
    assert found["open"] == 3
    assert [told[one] for one in (*wet, moving, *fired, *closing)] == ["wet_ink"] * 2 + ["in_flight"] + ["fired_clay"] * 4

    world.restart(foreign_tools="linear, ")
    assert {told_of["state"] for told_of in world.at(x).call("inbox_sweep")["letters"] if told_of["id"] == foreign[0]} == {
        "wet_ink"
    }


@pytest.mark.req("MED-270")
def test_med_270_an_answer_in_another_box_closes_a_letter_here(world: World) -> None:
    m, y = world.brain("m1nd"), world.brain("y")
    a = into(box_of(world, y), what="it leaks", repo="y")
    triage = into(box_of(world, m), "triage", what="mended", answers=[a], repo="m1nd")
    here = into(box_of(world, y), "receipt", what="thanks", answers=[triage], repo="y")

    (first, second) = world.at(y).call("mailbox.show")["letters"]

    assert (first["id"], first["state"], first["answered_by"], first["answered_by_here"]) == (a, "fired_clay", [triage], False)
    assert (second["id"], second["state"]) == (here, "fired_clay")
    (other,) = world.at(m).call("mailbox.show")["letters"]
    assert (other["id"], other["answered_by"], other["answered_by_here"]) == (triage, [here], False)


@pytest.mark.req("MED-272")
@pytest.mark.parametrize("seed", [1, 2, 3])
def test_med_272_answering_each_open_letter_brings_the_count_to_zero(world: World, seed: int) -> None:
    x, chance = world.brain("x"), random.Random(seed)
    ids: list[str] = []
    for number in range(40):
        kind = chance.choice(["bug", "friction", "triage", "receipt", "honesty", "odd"])
        answers = chance.sample(ids, min(len(ids), chance.randrange(3))) + (["ffffffffffff"] if chance.random() < 0.2 else [])
        more: dict[str, Any] = {"tool": chance.choice(["north", "context7", None])}
        ids.append(dropped(world, kind, n=number, answers=answers, **more))
    world.at(x).call("mailbox.distribute")

    waiting = world.at(x).call("triage_session")["letters"]
    assert waiting
    for one in waiting:
        assert world.at(x).call("triage", answers=[one["id"]], what="looked at")["ok"]

    assert world.at(x).call("inbox_sweep")["open"] == 0
    assert world.at(x).call("triage_session")["letters"] == []


@pytest.mark.req("MED-236")
def test_med_236_a_reference_that_leads_nowhere_changes_no_fate_and_is_listed(world: World) -> None:
    x = world.brain("x")
    a = dropped(world, what="it broke")
    lost = dropped(world, "triage", what="mended", answers=["ffffffffffff"])

    found = world.at(x).call("inbox_sweep")

    assert found["unresolved_refs"] == [{"id": lost, "ref": "ffffffffffff"}]
    assert {one["id"]: one["state"] for one in found["letters"]}[a] == "wet_ink"
