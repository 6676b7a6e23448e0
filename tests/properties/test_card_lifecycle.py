"""The lifecycle of cards against a model of a few dictionaries: whatever is done in whatever order, by whomever, the cards stand
where the model says, their history leads there, and a context shows exactly those that may speak."""

import os
import shutil
import tempfile
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any, ClassVar

from hypothesis import HealthCheck, Phase, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule, run_state_machine_as_test

from tests.properties.card_model import NEXT, TARGET, CardModel, Known
from tests.support.scholar import Scholar
from tests.support.world import World

LONG = bool(os.environ.get("HINDBRAIN_LONG"))
EXAMPLES, STEPS = (200, 60) if LONG else (14, 40)
MEMORY = "/dev/shm" if os.access("/dev/shm", os.W_OK) else None  # many synced writes, none of which must last

numbers = st.integers(0, 30)
several = st.lists(numbers, min_size=1, max_size=3)
roles = st.sampled_from(["supporting", "verification", "counterexample", "teaching"])
mostly = st.sampled_from([True, True, True, False])


class Lifecycle(RuleBasedStateMachine):
    """One project with its medulla, an agent and a person."""

    steps = 0
    reached: ClassVar[Counter[tuple[str, str | None]]] = Counter()

    def __init__(self, address: Callable[[], str] | None = None) -> None:
        super().__init__()
        self.place = Path(tempfile.mkdtemp(prefix="hb-life-", dir=MEMORY))
        self.world = World(self.place, store_url=address() if address else "")
        self.root = self.world.brain("app")
        self.model = CardModel()
        self.made = 0

    def teardown(self) -> None:
        try:
            for tier in ({}, {"tier": "medulla"}):
                verdict = self.agent.call("ledger.verify", **tier)
                assert verdict["intact"], verdict["breaks"]
        finally:
            self.world.close()
            shutil.rmtree(self.place)

    @property
    def agent(self) -> Scholar:
        return Scholar(self.world, self.root)

    def by(self, person: bool) -> Scholar:
        return Scholar(self.world, self.root, human=person)

    def evidence(self, picks: list[int]) -> list[str]:
        rows = list(self.model.alive)
        return list(dict.fromkeys(rows[pick % len(rows)] for pick in picks))

    def living(self, picks: list[int]) -> list[str]:
        """The same among rows that are there, while there are any."""
        rows = [row for row, alive in self.model.alive.items() if alive] or list(self.model.alive)
        return list(dict.fromkeys(rows[pick % len(rows)] for pick in picks))

    def card(self, pick: int, *, active: bool | None = None) -> tuple[str, Known]:
        """One of the cards; of those that are active, or are not, while there are any."""
        fit = [id_ for id_, card in self.model.cards.items() if active is None or card.active is active]
        ids = fit or list(self.model.cards)
        id_ = ids[pick % len(ids)]
        return id_, self.model.cards[id_]

    def shared(self, id_: str) -> bool:
        """Whether a card is everybody's: what it cites then leaves its project, which only a person lets happen."""
        return self.model.cards[id_].anchor == "global"

    def refused(self, answer: dict[str, Any], what: str = "") -> str | None:
        code = None if answer["ok"] else str(answer["error"]["code"])
        type(self).reached[(what, code)] += 1
        return code

    # -- evidence -----------------------------------------------------------------------------------------------------

    @initialize()
    def begin(self) -> None:
        """One card at each place of the way, so that no run begins far from where it is interesting."""
        for person in (False, False, False, False, True):
            self.record(person)
        self.make("distill", "qi", self.living([0]), [])
        self.earn(0, True)
        self.publish(0, "repo", False, False, True)
        self.raise_(0, [0], False, True)
        self.earn(0, True)
        self.publish(1, "global", False, True, True)
        self.publish(1, "global", True, True, True)
        self.make("distill", "dao_ren", self.living([0]), [])
        self.promote(2, [0], False, False, True, True)
        self.earn(0, True)
        self.raise_(2, [0, 1, 2], True, True)
        self.promote(3, [0, 1], False, False, True, True)
        self.earn(0, True)
        self.make("create", "shu", self.living([1]), self.living([2]))
        self.promote(4, [0], False, False, True, True)
        self.delete(0)
        self.link(4, 0, "supporting", False)
        self.make("distill", "qi", self.evidence([0]), [])
        self.make("distill", "shu", self.living([0]), [])

    @rule(person=st.booleans())
    def record(self, person: bool) -> None:
        self.made += 1
        id_ = self.by(person).saw(f"observation {self.made} of the lantern")
        self.model.alive[id_] = True
        if person:
            self.model.taught.add(id_)

    @rule(pick=numbers)
    def delete(self, pick: int) -> None:
        (id_,) = self.evidence([pick])
        answer = self.agent.call("memory.delete", evidence_id=id_)
        assert answer["ok"] or not self.model.alive[id_], answer
        self.model.alive[id_] = False

    @rule(pick=numbers)
    def restore(self, pick: int) -> None:
        dead = [id_ for id_, alive in self.model.alive.items() if not alive]
        if dead:
            id_ = dead[pick % len(dead)]
            self.agent.ok("memory.restore", evidence_id=id_)
            self.model.alive[id_] = True

    # -- making -------------------------------------------------------------------------------------------------------

    def make(self, verb: str, rank: str, refs: list[str], against: list[str], **more: Any) -> None:
        self.made += 1
        given = {"statement": f"Rule {self.made} of the lantern.", "content": f"It was seen {self.made} times.", "tier": rank}
        told = given | {"supporting_refs": refs, "counterexample_refs": against, **more}
        answer = self.agent.call(f"knowledge.{verb}", **told)
        expected = None if all(self.model.alive[one] for one in (*refs, *against)) else "unknown_evidence"
        assert self.refused(answer, verb) == expected, answer
        if expected is None:
            links = [("supporting", one) for one in refs] + [("counterexample", one) for one in against]
            self.model.cards[answer["card_id"]] = Known(
                rank=rank,
                anchor="worktree" if rank == "qi" else "repo",
                statement=str(given["statement"]),
                opt_in=verb == "create",
                links=links,
            )
            again = self.agent.ok(f"knowledge.{verb}", **told)
            assert (again["created"], again["card_id"]) == (False, answer["card_id"])

    @rule(rank=st.sampled_from(["qi", "shu", "dao_ren"]), picks=several, against=st.lists(numbers, max_size=1), alive=mostly)
    def distill(self, rank: str, picks: list[int], against: list[int], alive: bool) -> None:
        chosen = self.living if alive else self.evidence
        self.make("distill", rank, chosen(picks), chosen(against) if len(against) and self.made % 4 == 0 else [])

    @rule(rank=st.sampled_from(["qi", "shu", "dao_ren"]), picks=several)
    def create(self, rank: str, picks: list[int]) -> None:
        self.make("create", rank, self.living(picks), [])

    @precondition(lambda self: self.model.cards)
    @rule(pick=numbers, picks=st.lists(numbers, max_size=4), taught=st.booleans(), active=mostly)
    def raise_(self, pick: int, picks: list[int], taught: bool, active: bool) -> None:
        id_, card = self.card(pick, active=active or None)
        to = NEXT.get(card.rank, "dao_tian")
        self.made += 1
        refs = self.living(picks)
        teachers = [one for one in self.living(list(range(30))) if one in self.model.taught][: int(taught)]
        given = {
            "card_id": id_,
            "to": to,
            "statement": f"Rule {self.made} of every lantern.",
            "content": f"It was raised, number {self.made}.",
            "scope_constraints": "lanterns",
            "supporting_refs": refs,
            "teaching_refs": teachers,
            "domain": "global" if to == "dao_tian" else "project",
        }
        answer = self.by(to == "dao_tian").call("knowledge.raise", **given)
        taken = {
            role: [one for held, one in card.links if held == role and self.model.alive[one]]
            for role in ("supporting", "teaching")
        }
        cited = {"supporting": refs or taken["supporting"], "teaching": teachers or taken["teaching"]}
        wrong = card.rank not in NEXT or not card.active or not cited["supporting"]
        dead = not all(self.model.alive[one] for one in refs)
        expected = "invalid_params" if wrong else "unknown_evidence" if dead else None
        assert self.refused(answer, f"raise to {to}") == expected, (answer, card)
        if expected is None:
            links = [(role, one) for role in ("supporting", "teaching") for one in cited[role]]
            anchor = "global" if to == "dao_tian" else "repo"
            self.model.cards[answer["card_id"]] = Known(rank=to, anchor=anchor, statement=str(given["statement"]), links=links)

    # -- moving -------------------------------------------------------------------------------------------------------

    @precondition(lambda self: self.model.cards)
    @rule(pick=numbers, picks=several, person=st.booleans(), spared=st.booleans(), right=mostly, alive=mostly)
    def promote(self, pick: int, picks: list[int], person: bool, spared: bool, right: bool, alive: bool) -> None:
        id_, card = self.card(pick)
        to = TARGET[card.rank] if right else ("promoted" if TARGET[card.rank] == "canonical" else "canonical")
        self.promote_one(id_, to, (self.living if alive else self.evidence)(picks), person=person, spared=spared)

    def promote_one(self, id_: str, to: str, refs: list[str], *, person: bool, spared: bool) -> None:
        person = person or (self.shared(id_) and to != "canonical")
        told = {"card_id": id_, "status": to, "verification_refs": refs, "reason": "so", "allow_counterexamples": spared}
        answer = self.by(person).call("knowledge.promote", **told)
        expected = self.model.promote(id_, to, refs, person=person, spared=spared)
        assert self.refused(answer, f"to {to}") == expected, (answer, self.model.cards[id_])

    @precondition(lambda self: self.model.cards)
    @rule(pick=numbers, highest=st.booleans())
    def earn(self, pick: int, highest: bool) -> None:
        """Everything that a gate asks for, and then through it: without help chance hardly finds a law."""
        open_ = [one for one, card in self.model.cards.items() if card.status in ("candidate", "demoted")]
        if not open_:
            return
        open_.sort(key=lambda one: list(TARGET).index(self.model.cards[one].rank))
        id_ = open_[-1] if highest else open_[pick % len(open_)]
        card = self.model.cards[id_]
        for role, need in {"supporting": 3, "verification": 2, "teaching": 1}.items():
            for number in range(need if card.rank == "dao_tian" else 2 if role == "supporting" else 0):
                rows = [one for one in self.living(list(range(30))) if role != "teaching" or one in self.model.taught]
                if rows:
                    self.link_one(id_, rows[number % len(rows)], role)
        for dead in [link for link in card.links if not self.model.alive[link[1]]]:
            self.unlink_one(id_, *dead)
        self.promote_one(id_, TARGET[card.rank], self.living([0, 1]), person=True, spared=True)

    @precondition(lambda self: self.model.cards)
    @rule(pick=numbers, picks=several, retire=st.sampled_from([False, False, False, True]), alive=mostly, active=st.booleans())
    def demote(self, pick: int, picks: list[int], retire: bool, alive: bool, active: bool) -> None:
        id_, card = self.card(pick, active=active)
        refs, to = (self.living if alive else self.evidence)(picks), "retired" if retire else "demoted"
        told = {"card_id": id_, "status": to, "evidence_refs": refs, "reason": "so", "reason_type": "contradicted"}
        answer = self.by(self.shared(id_)).call("knowledge.demote", **told)
        assert self.refused(answer, f"to {to}") == self.model.demote(id_, to, refs), (answer, card)

    @precondition(lambda self: self.model.cards)
    @rule(pick=numbers, to=st.sampled_from(["repo", "global"]), person=mostly, as_global=mostly, active=mostly)
    def publish(self, pick: int, to: str, person: bool, as_global: bool, active: bool) -> None:
        id_, card = self.card(pick, active=active or None)
        if active and card.anchor != "global":
            to = {"worktree": "repo", "repo": "global"}[card.anchor]
        answer = self.by(person).call("knowledge.publish", card_id=id_, to=to, reason="so", as_global=as_global)
        assert self.refused(answer, f"to {to}") == self.model.publish(id_, to, person=person, as_global=as_global), (answer, card)

    # -- what a card cites and says -------------------------------------------------------------------------------------

    def link_one(self, id_: str, evidence: str, role: str) -> None:
        answer = self.by(self.shared(id_)).call("knowledge.link", card_id=id_, evidence_id=evidence, role=role)
        expected = None
        if not self.model.alive[evidence]:
            expected = "unknown_evidence"
        elif role == "teaching" and evidence not in self.model.taught:
            expected = "invalid_params"
        assert self.refused(answer, "link") == expected, answer
        if expected is None:
            fresh = self.model.cards[id_].cite(role, evidence)
            assert answer["linked"] is fresh
            if fresh:
                self.model.cards[id_].history.append("linked")

    @precondition(lambda self: self.model.cards)
    @rule(pick=numbers, row=numbers, role=roles, alive=st.booleans())
    def link(self, pick: int, row: int, role: str, alive: bool) -> None:
        (evidence,) = (self.living if alive else self.evidence)([row])
        self.link_one(self.card(pick)[0], evidence, role)

    @precondition(lambda self: self.model.cards)
    @rule(pick=numbers, row=numbers, role=roles, cited=mostly)
    def unlink(self, pick: int, row: int, role: str, cited: bool) -> None:
        id_, card = self.card(pick, active=cited or None)
        (evidence,) = self.evidence([row])
        if cited and card.links:
            role, evidence = card.links[row % len(card.links)]
        self.unlink_one(id_, role, evidence)

    def unlink_one(self, id_: str, role: str, evidence: str) -> None:
        answer = self.agent.call("knowledge.unlink", card_id=id_, evidence_id=evidence, role=role)
        assert self.refused(answer, "unlink") == self.model.unlink(id_, role, evidence), (answer, self.model.cards[id_])

    @precondition(lambda self: self.model.cards)
    @rule(pick=numbers, words=st.booleans())
    def edit(self, pick: int, words: bool) -> None:
        id_, card = self.card(pick, active=words or None)
        self.made += 1
        told = {"statement": f"Rule {self.made}, of the lantern."} if words else {"scope_constraints": f"case {self.made}"}
        answer = self.agent.call("knowledge.edit", card_id=id_, **told)
        expected = "illegal_move" if words and card.active else None
        assert self.refused(answer, "edit") == expected, answer
        if expected is None:
            card.statement = told.get("statement", card.statement)
            card.history.append("updated")

    @precondition(lambda self: len(self.model.cards) > 4)
    @rule(pick=numbers)
    def forget(self, pick: int) -> None:
        id_, _ = self.card(pick)
        assert self.agent.call("forget", claim=id_)["error"]["code"] == "human_needed"
        self.by(True).ok("forget", claim=id_)
        del self.model.cards[id_]

    # -- the house ----------------------------------------------------------------------------------------------------

    @rule()
    def restart(self) -> None:
        self.world.restart()

    @rule()
    def tick(self) -> None:
        self.world.clock.forward(60_000)
        self.world.app.house.tick()

    # -- reads --------------------------------------------------------------------------------------------------------

    @invariant()
    def cards_stand_where_the_model_says(self) -> None:
        type(self).steps += 1
        house, seen = self.world.app.house, {}
        for brain in (*house.brains.all(), *([house.home.medulla()] if house.brains.has_medulla() else [])):
            with house.brains.use(brain) as opened:
                store = opened.store
                entries = {one.seq: one.act for one in store.entries(limit=100_000) if one.act.startswith("card.")}
                for card in store.each_card():
                    if brain.root is not None and card.anchor.kind.value == "global":
                        continue  # a pointer; the card lives in the medulla
                    links = [(link.role.value, link.evidence_id) for link in store.links(cards=[card.id])]
                    seen[card.id] = (card.rank.value, card.status.value, card.anchor.kind.value, card.statement, links)
                    assert card.backed
                    given = [one for one in store.card_events(card.id) if one.after is not None]
                    assert given[-1].after is card.status
                    if card.active:
                        assert given[-1].type.value in ("promoted", "published_anchor")
                        assert entries[given[-1].seq] == f"card.{given[-1].type.value}"
        assert seen == {
            id_: (card.rank, card.status, card.anchor, card.statement, card.links) for id_, card in self.model.cards.items()
        }

    @invariant()
    def history_leads_to_the_status(self) -> None:
        for id_, card in list(self.model.cards.items())[-3:]:
            events = self.agent.ok("knowledge.events", card_id=id_)["events"]
            assert sorted(one["event_type"] for one in events) == sorted(card.history), id_
            now = None
            for one in events:
                if one["to_status"] is not None:
                    assert one["from_status"] == now or one["event_type"] == "published_anchor"
                    now = one["to_status"]
            assert now == card.status

    @invariant()
    def a_context_shows_exactly_what_stands(self) -> None:
        asked: dict[str, Any] = {"query": "lantern", "max_items": 200, "dao_tian_limit": 50}
        everything = self.agent.context(**asked, include_cards=True)
        found = [item["id"] for section in everything["sections"] for item in section["items"]]
        assert sorted(found) == sorted(self.model.standing())
        for section in everything["sections"]:
            for item in section["items"]:
                assert item["evidence_citations"], "each rests on something"
                assert all(self.model.alive[one["evidence_id"]] for one in item["evidence_citations"])
        ordinary = [item["id"] for section in self.agent.context(**asked)["sections"] for item in section["items"]]
        assert sorted(ordinary) == sorted(id_ for id_ in self.model.standing() if not self.model.cards[id_].opt_in)
        if self.model.cards:
            id_, card = self.card(self.made)
            told = self.agent.ok("knowledge.gate", card_id=id_)
            assert told["allowed"] is self.model.opens(card, [], spared=False, person=False), (told, card)


def run(address: Callable[[], str] | None, examples: int) -> None:
    run_state_machine_as_test(
        lambda: Lifecycle(address),  # type: ignore[arg-type]  # it takes what makes a machine as well
        settings=settings(
            max_examples=examples,
            stateful_step_count=STEPS,
            deadline=None,
            derandomize=not LONG,
            database=None,
            phases=(Phase.generate, Phase.shrink) if os.environ.get("HINDBRAIN_SHRINK") else (Phase.generate,),
            suppress_health_check=list(HealthCheck),
        ),
    )


# What a run must have come upon, or it shows nothing: each way through, and each refusal at a gate.
PASSED: tuple[str, ...] = ("distill", "create", "raise to shu", "raise to dao_ren", "raise to dao_tian", "link", "unlink", "edit")
PASSED += ("to promoted", "to canonical", "to demoted", "to retired", "to repo", "to global")
REFUSED = {("to promoted", "gate_closed"), ("to canonical", "human_needed"), ("to promoted", "illegal_move")}
REFUSED |= {("to demoted", "illegal_move"), ("to global", "human_needed"), ("to repo", "illegal_move"), ("edit", "illegal_move")}
REFUSED |= {("unlink", "gate_closed"), ("link", "unknown_evidence"), ("distill", "unknown_evidence")}


def test_the_lifecycle_of_cards_is_the_models() -> None:
    run(None, EXAMPLES)
    assert {(what, None) for what in PASSED} | REFUSED <= set(Lifecycle.reached), Lifecycle.reached
    if LONG:
        print(f"{Lifecycle.steps} steps")
        assert Lifecycle.steps >= 5_000


def test_the_lifecycle_of_cards_is_the_models_on_a_server(postgres_schema: Callable[[], str]) -> None:
    run(postgres_schema, EXAMPLES // 7)
