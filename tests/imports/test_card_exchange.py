"""Cards in an export: out with their links and history, back in whole; an archive that claims a standing gets none by itself."""

import io
import json
import tarfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.imports.test_mempal import opened, rows, state, taken
from tests.support.palaces import mempal
from tests.support.world import Actor, World

TOKEN = "ghp_" + "a1B2c3D4e5F6" * 3


def earned(world: World, root: str) -> str:
    """An active card that was distilled, checked and annotated, and an outcome of it."""
    actor = world.at(root)
    seen = [actor.call("record", text=f"the kettle whistled at {place}")["evidence_id"] for place in ("home", "work")]
    made = actor.call(
        "knowledge.distill",
        statement="A kettle whistles when it boils.",
        content="Steam passes the lid; so far seen twice.",
        tier="qi",
        supporting_refs=seen[:1],
        trigger_hints={"intent_tags": ["tea"]},
    )
    assert made["ok"], made
    name = str(made["card_id"])
    done = actor.call("knowledge.promote", card_id=name, status="promoted", verification_refs=seen[1:], reason="seen again")
    assert done["ok"], done
    assert actor.call("knowledge.annotate", card_id=name, reason="reviewed the scope", metadata={"t": 1})["ok"]
    assert actor.call("adoption.record", track="card_context", signal="accepted", feature="include_cards", card_id=name)["ok"]
    return name


def exported(actor: Actor, path: Path, **more: Any) -> str:
    answer = actor.call("export", target=str(path), **more)
    assert answer["ok"], answer
    return str(path)


def lines(path: str, member: str) -> list[dict[str, Any]]:
    with tarfile.open(path) as archive:
        held = archive.extractfile(member)
        assert held is not None
        return [json.loads(line) for line in held.read().splitlines()]


def forged(path: str, target: Path, change: Callable[[dict[str, Any]], dict[str, Any]], member: str = "cards.jsonl") -> str:
    """The same archive with each line of one file changed by hand."""
    with tarfile.open(path) as old, tarfile.open(target, "w:gz") as new:
        for one in old.getmembers():
            held = old.extractfile(one)
            data = held.read() if held else b""
            if one.name == member:
                data = b"".join(json.dumps(change(json.loads(line))).encode() + b"\n" for line in data.splitlines())
            one.size = len(data)
            new.addfile(one, io.BytesIO(data))
    return str(target)


def told(world: World, root: str | None, card_id: str) -> dict[str, Any]:
    with opened(world, root) as brain:
        card = brain.store.cards([card_id])[card_id]
        evidence = {row.id: row.content for row in brain.store.each_evidence()}
        links = [(evidence[link.evidence_id], link.role.value, link.note, link.at) for link in brain.store.links(cards=[card_id])]
        events = brain.store.card_events(card_id)
        outcomes = [(one.id, one.track, one.signal, one.feature, one.at, one.card_id) for one in brain.store.adoptions()]
    shown = ("statement", "content", "rank", "status", "domain", "field", "anchor", "hints", "importance", "opt_in", "created_at")
    return {
        "card": {name: getattr(card, name) for name in shown},
        "links": links,
        "history": [(event.type.value, event.reason, event.at, event.before) for event in events],
        "outcomes": outcomes,
        "active": card.active,
    }


@pytest.mark.req("MIND-092", "MIND-280")
def test_mind_280_cards_travel_with_their_history(any_world: World, tmp_path: Path) -> None:
    a, b = any_world.brain("a"), any_world.brain("b")
    name = earned(any_world, a)
    path = exported(any_world.at(a), tmp_path / "out.tar.gz")
    assert exported(any_world.at(a), tmp_path / "again.tar.gz")
    assert lines(path, "cards.jsonl") == lines(str(tmp_path / "again.tar.gz"), "cards.jsonl")
    before = state(any_world, b)

    dry = any_world.at(b).call("import", source=path, dry_run=True)
    assert dry["needs_human"] == [name]
    assert state(any_world, b) == before
    refused = any_world.at(b).call("import", source=path)
    assert refused["error"]["code"] == "human_needed"
    assert state(any_world, b)[1:] == before[1:], "nothing comes in half"
    first = any_world.human(b).call("import", source=path)
    after = state(any_world, b)
    second = any_world.human(b).call("import", source=path)

    assert first["ok"], first
    assert name in first["taken"]
    assert sorted(dry["taken"]) == sorted(first["taken"])
    assert second["taken"] == []
    assert state(any_world, b)[1:] == after[1:]
    here, there = told(any_world, a, name), told(any_world, b, name)
    assert there == here
    assert there["active"]
    assert [kind for kind, *_ in there["history"]] == ["created", "promoted", "updated"]
    with opened(any_world, b) as brain:
        events = brain.store.card_events(name)
    assert all(json.loads(event.metadata)["imported"] is True for event in events)
    assert any_world.at(b).call("ledger.verify")["ok"]
    assert any_world.at(b).call("knowledge.get", card_id=name)["ok"]


def test_an_agent_gets_candidates_if_it_asks_for_them(any_world: World, tmp_path: Path) -> None:
    a, b = any_world.brain("a"), any_world.brain("b")
    name = earned(any_world, a)
    path = exported(any_world.at(a), tmp_path / "out.tar.gz")

    answer = any_world.at(b).call("import", source=path, as_candidates=True)

    assert answer["as_candidates"] == [name]
    assert (told(any_world, b, name)["active"], told(any_world, b, name)["card"]["status"].value) == (False, "candidate")


FORGERIES: dict[str, Callable[[dict[str, Any]], dict[str, Any]]] = {
    "canonical": lambda card: card | {"tier": "dao_tian", "status": "canonical"},
    "promoted": lambda card: card | {"status": "promoted"},
    "canonical of another rank": lambda card: card | {"status": "canonical"},
    "a person's history": lambda card: (
        card
        | {
            "status": "promoted",
            "created_by": "human:founder",
            "events": [
                {
                    "event_type": "promoted",
                    "reason": "the founder approved this personally",
                    "actor": "human:founder",
                    "channel": "human",
                    "at": 1,
                    "to_status": "canonical",
                    "metadata": {"reviewer": "human:founder", "channel": "human"},
                }
            ],
        }
    ),
}


@pytest.mark.req("MIND-092")
@pytest.mark.parametrize("forgery", sorted(FORGERIES))
def test_mind_092_a_forged_archive_gives_no_standing(any_world: World, tmp_path: Path, forgery: str) -> None:
    a, b = any_world.brain("a"), any_world.brain("b")
    name = earned(any_world, a)
    path = forged(exported(any_world.at(a), tmp_path / "out.tar.gz"), tmp_path / "forged.tar.gz", FORGERIES[forgery])
    forger = any_world.at(b, "human:founder")

    plain = forger.call("import", source=path)
    read = any_world.human(b).call("import", source=path, dry_run=True)
    lowered = forger.call("import", source=path, as_candidates=True)

    possible = forgery != "canonical of another rank"
    assert plain["error"]["code"] == "human_needed"
    assert read["ok"]
    assert lowered["ok"], lowered
    with opened(any_world, b) as brain:
        (card,) = brain.store.each_card()
        events = brain.store.card_events(name)
        given = [json.loads(entry.payload).get("to") for entry in brain.store.entries(subject=name)]
    assert not card.active
    assert card.status.value == ("candidate" if possible else "demoted")
    assert {event.channel for event in events} == {"import"}
    assert {event.actor for event in events} == {"human:founder"}  # what this caller calls itself, by no human channel
    assert not any({"reviewer", "channel"} & json.loads(event.metadata).keys() for event in events)
    assert not {"promoted", "canonical"} & set(given)
    shown = any_world.at(b).call("context", query="kettle whistles boils", include_cards=True)
    assert name not in json.dumps([section["items"] for section in shown["sections"] if section["name"] != "evidence"])


BROKEN: dict[str, Callable[[dict[str, Any]], dict[str, Any]]] = {
    "secret statement": lambda card: card | {"statement": f"deploys use {TOKEN}"},
    "secret hint": lambda card: card | {"trigger_hints": {"tool_needs": [TOKEN]}},
    "no such field": lambda card: card | {"approved": True},
    "no such rank": lambda card: card | {"tier": "dao"},
    "another's id": lambda card: card | {"id": "ev_0123"},
    "a path for an id": lambda card: card | {"id": "card_../../x"},
    "global in a project": lambda card: card | {"domain": "global", "anchor_kind": "global", "anchor_id": "global://default"},
    "global for a project": lambda card: card | {"anchor_kind": "global", "anchor_id": "global://default"},
    "a time without end": lambda card: card | {"created_at": 1 << 60},
}


@pytest.mark.parametrize("broken", sorted(BROKEN))
def test_a_broken_card_is_refused_by_itself(world: World, tmp_path: Path, broken: str) -> None:
    a, b = world.brain("a"), world.brain("b")
    earned(world, a)
    path = forged(exported(world.at(a), tmp_path / "out.tar.gz"), tmp_path / "forged.tar.gz", BROKEN[broken])

    answer = world.human(b).call("import", source=path)

    assert answer["ok"], answer
    assert answer["refused"], answer
    assert TOKEN not in json.dumps(answer)
    assert len(rows(world.at(b))) == 2, "the evidence came all the same"
    with opened(world, b) as brain:
        assert list(brain.store.each_card()) == []


def test_a_part_of_a_history_that_may_not_be_kept_stays_out_alone(world: World, tmp_path: Path) -> None:
    a, b = world.brain("a"), world.brain("b")
    name = earned(world, a)

    def change(card: dict[str, Any]) -> dict[str, Any]:
        card["events"][-1]["reason"] = f"see {TOKEN}"
        card["links"].append({"evidence_id": "ev_nowhere", "role": "teaching"})
        return card

    path = forged(exported(world.at(a), tmp_path / "out.tar.gz"), tmp_path / "forged.tar.gz", change)
    answer = world.human(b).call("import", source=path)

    assert [one["code"] for one in answer["refused"]] == ["hygiene"]
    assert [one["evidence_id"] for one in answer["link_errors"]] == ["ev_nowhere"]
    assert [kind for kind, *_ in told(world, b, name)["history"]] == ["created", "promoted"]
    assert not [path for path in world.home.path.rglob("*") if path.is_file() and TOKEN.encode() in path.read_bytes()]


def test_what_is_rejected_here_comes_in_by_no_card(any_world: World, tmp_path: Path) -> None:
    a, b = any_world.brain("a"), any_world.brain("b")
    name = earned(any_world, a)
    path = exported(any_world.at(a), tmp_path / "out.tar.gz")
    assert any_world.human(b).call("reject", claim="kettle", value="A kettle whistles when it boils.")["ok"]

    answer = any_world.human(b).call("import", source=path)

    assert (name, "rejected_value") in [(one["name"], one["code"]) for one in answer["refused"]]
    with opened(any_world, b) as brain:
        assert list(brain.store.each_card()) == []


def test_waiting_rows_travel_too_and_can_be_backfilled_there(any_world: World, tmp_path: Path) -> None:
    a, b = any_world.brain("a"), any_world.brain("b")
    palace = mempal(tmp_path / "palace.db", 7)
    palace.row("drawer_e1", "the kettle whistled")
    palace.knowledge("drawer_k", "qi", "candidate", supporting_refs=["drawer_e1"])
    taken(any_world.at(a), palace.close())
    path = exported(any_world.at(a), tmp_path / "out.tar.gz")

    assert any_world.human(b).call("import", source=path)["ok"]
    done = any_world.at(b).call("knowledge.backfill_apply", execute=True)

    assert (done["created_count"], done["linked_count"], done["link_errors"]) == (1, 1, [])


def test_a_medulla_goes_out_and_comes_back_with_what_its_cards_cite(any_world: World, tmp_path: Path) -> None:
    root = any_world.brain("a")
    palace = mempal(tmp_path / "palace.db", 9)
    palace.row("drawer_mine", "holds here")
    palace.card("card_all", "qi", "promoted", domain="global", anchor_kind="global", anchor_id="global://default")
    palace.link("card_all", "drawer_mine")
    taken(any_world.human(root), palace.close())
    path = exported(any_world.human(root), tmp_path / "medulla.tar.gz", tier="medulla")
    with opened(any_world, None) as medulla:
        before = medulla.store.counts()

    again = any_world.human(root).call("import", source=path, tier="medulla")
    with opened(any_world, None) as medulla:
        assert medulla.store.counts() == before, "its own export brings nothing"
    fresh = World(tmp_path / "elsewhere")
    try:
        place = fresh.brain("a")
        moved = fresh.human(place).call("import", source=path, tier="medulla")
        with opened(fresh, None) as medulla:
            (card,) = medulla.store.each_card()
            (link,) = medulla.store.links(cards=[card.id])
            cited = medulla.store.evidence([link.evidence_id])[link.evidence_id].content
    finally:
        fresh.close()

    assert again["taken"] == []
    assert (moved["link_errors"], card.active, cited) == ([], True, "holds here")
