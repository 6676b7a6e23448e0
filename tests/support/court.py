"""A court: cards that wait before their gates for different reasons, and the question whether any of them got through."""

import shutil
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import apsw
import psycopg

from hindbrain.domain.card import ACTIVE
from tests.support.scholar import Scholar
from tests.support.world import World

__all__ = ["Court", "cards_of", "copied", "seated", "sql"]

WORD = "lantern"  # every card of a court says it


@dataclass(frozen=True, kw_only=True)
class Court:
    """A brain with one lawful card, and five that must not become active as they stand."""

    world: World
    root: str
    lawful: str  # a tool at this checkout, active
    raw: str  # a tool that nobody checked
    thin: str  # a law of a field that was seen once
    blocked: str  # a method with a counterexample
    fallen: str  # a tool that was active and lost it
    retired: str  # a tool that was active and is gone for good
    ripe: str  # a universal law that lacks nothing but a person
    rows: tuple[str, ...]  # evidence that nothing cites

    @property
    def agent(self) -> Scholar:
        return Scholar(self.world, self.root)

    @property
    def person(self) -> Scholar:
        return Scholar(self.world, self.root, human=True)

    @property
    def targets(self) -> dict[str, str]:
        return {name: getattr(self, name) for name in ("raw", "thin", "blocked", "fallen", "retired", "ripe")}

    def through(self, *but: str) -> list[str]:
        """Every way in which some card other than the lawful one shows as active; empty when the gates held."""
        allowed, found = {self.lawful, *but}, []
        for id_, card in cards_of(self.world).items():
            if card.active and id_ not in allowed:
                found.append(f"{id_} is active")
        here = self.agent
        for id_ in self.targets.values():
            answer = here.call("knowledge.get", card_id=id_)
            if answer["ok"] and answer["active"] and id_ not in allowed:
                found.append(f"get shows {id_} as active")
        pack = here.context(WORD, include_cards=True, max_items=100, dao_tian_limit=50)
        shown = [item["id"] for section in pack["sections"] for item in section["items"]]
        found += [f"context shows {id_}" for id_ in shown if id_ not in allowed]
        cards = [one["card"]["id"] for one in here.ok("knowledge.retrieve", query=WORD, top_k=100, evidence_top_k=200)["cards"]]
        found += [f"retrieve shows {id_}" for id_ in cards if id_ not in allowed]
        beat = here.call("north", task=WORD)
        listed = [one for one in beat.get("knowledge", []) if isinstance(one, dict)]
        found += [f"north shows {one}" for one in listed if one.get("id") not in (*allowed, None)]
        return found

    def lawful_way(self) -> None:
        """The control: what lacks nothing but its due gets through when it gets it."""
        here, person = self.agent, self.person
        if self.raw in cards_of(self.world) and here.status(self.raw) == "candidate":
            here.promote(self.raw)
            assert here.card(self.raw)["active"]
        if here.status(self.ripe) == "candidate":
            person.promote(self.ripe, status="canonical", verification_refs=[self.rows[0]])
            assert here.card(self.ripe)["active"]
            assert self.ripe in str(here.context(WORD, dao_tian_limit=50)["sections"])
        assert here.ok("ledger.verify")["intact"]


def seated(world: World, name: str = "app") -> Court:
    """A court in a fresh brain."""
    root = world.brain(name)
    here, person = Scholar(world, root), Scholar(world, root, human=True)
    rows = tuple(here.saw(f"the {WORD} swung, seen by watch {number}") for number in range(6))
    lawful = here.promoted(f"Trim the {WORD}.")
    raw = here.distilled(f"Polish the {WORD}.")
    thin = here.distilled(f"Every {WORD} fades.", tier="dao_ren", supporting_refs=[here.saw()])
    blocked = here.distilled(f"Hang the {WORD} high.", tier="shu", counterexample_refs=[here.saw(f"the {WORD} fell")])
    fallen, retired = here.promoted(f"Oil the {WORD}."), here.promoted(f"Paint the {WORD}.")
    here.demote(fallen)
    here.demote(retired, status="retired")
    below = here.promoted(f"In this field a {WORD} is watched.", tier="dao_ren", domain="global")
    law: dict[str, Any] = {"statement": f"A {WORD} is watched.", "content": "Whoever looked away lost it.", "domain": "global"}
    ripe = person.ok(
        "knowledge.raise",
        card_id=below,
        to="dao_tian",
        scope_constraints="where there is a flame",
        supporting_refs=[here.saw() for _ in range(3)],
        teaching_refs=[person.saw(f"a person taught that a {WORD} is watched")],
        **law,
    )["card_id"]
    for _ in range(2):
        person.ok("knowledge.link", card_id=ripe, evidence_id=here.saw(), role="verification")
    here.demote(below)
    return Court(
        world=world,
        root=root,
        lawful=lawful,
        raw=raw,
        thin=thin,
        blocked=blocked,
        fallen=fallen,
        retired=retired,
        ripe=str(ripe),
        rows=rows,
    )


def copied(court: Court, place: Path) -> Court:
    """The same court once more, so that a test may attack it. The repository is shared; what writes into it seats its own."""
    court.world.close()
    shutil.copytree(court.world.home.path, place / "home", symlinks=True)
    return replace(court, world=World(place))


def cards_of(world: World) -> dict[str, Any]:
    """Every card of every brain; of a published one the row that lives."""
    house = world.app.house
    found: dict[str, Any] = {}
    for brain in (*house.brains.all(), *([house.home.medulla()] if house.brains.has_medulla() else [])):
        with house.brains.use(brain) as opened:
            for card in opened.store.each_card():
                if card.active or card.status not in ACTIVE or card.id not in found:
                    found[card.id] = card
    return found


def sql(world: World, root: str | None) -> Callable[..., list[tuple[Any, ...]]]:
    """Somebody with the database of a brain in hand: runs statements, where `:brain` stands for its id. What the database
    refuses to others does not stop them: they drop the triggers that keep history."""
    house = world.app.house
    brain = house.home.medulla() if root is None else house.brains.covering(root)
    assert brain is not None
    with house.brains.use(brain) as opened:
        brain_id = opened.brain.id
    if url := str(world._settings.get("store_url", "")):

        def on_the_server(statement: str, *values: Any) -> list[tuple[Any, ...]]:
            asked = statement.replace("%", "%%").replace(":brain", f"'{brain_id}'").replace("?", "%s")
            with psycopg.connect(url, autocommit=True) as connection:
                connection.execute("set session_replication_role = replica")
                found = connection.execute(asked, values)
                return found.fetchall() if found.description else []

        return on_the_server
    path = world.home.medulla_dir if root is None else world.home.brains_dir / brain.fingerprint

    def in_the_file(statement: str, *values: Any) -> list[tuple[Any, ...]]:
        connection = apsw.Connection(str(path / "brain.db"))
        connection.set_busy_timeout(10_000)
        try:
            kept = "select name from sqlite_master where type = 'trigger' and sql like '%append-only%'"
            for (name,) in connection.execute(kept).fetchall():
                connection.execute(f"drop trigger {name}")
            return list(connection.execute(statement.replace(":brain", f"'{brain_id}'"), values))
        finally:
            connection.close()

    return in_the_file
