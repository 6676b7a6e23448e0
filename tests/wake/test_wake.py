"""Wake-up: who one is and what matters most, without guidance and without a trace (MIND-200 to MIND-208)."""

import itertools
from dataclasses import replace
from typing import Any

import apsw
import pytest

from hindbrain.domain.anchor import GLOBAL, Anchor, AnchorKind
from hindbrain.domain.caller import Caller
from hindbrain.domain.card import Card, CardId, EventType, Link, Rank, Role, Status
from hindbrain.domain.evidence import Domain, EvidenceId
from hindbrain.policy.texts import RULES
from hindbrain.services.card_acts import card_terms, tell
from hindbrain.stores.sql_evidence import MARKED, UNMARKED
from tests.support.still import still
from tests.support.world import DAY, Actor, World

REPO = Anchor(kind=AnchorKind.REPO, id="repo:///r/.git")


def carded(world: World, caller: Caller, name: str, *refs: str, forged: bool = False, **more: Any) -> CardId:
    """A card in the caller's brain with an act behind it; a forged one has none for its status."""
    house, now = world.app.house, world.clock()
    held: dict[str, Any] = {"statement": f"{name} holds here", "content": "because it was seen", "rank": Rank.QI}
    held |= {"status": Status.CANDIDATE, "domain": Domain.PROJECT, "field": "general", "anchor": REPO}
    card = Card(id=CardId(f"card_{name}"), created_at=now, updated_at=now, created_by="codex", **(held | more))
    said = Status.CANDIDATE if forged else card.status
    kind = EventType.CREATED if said is Status.CANDIDATE else EventType(said.value)
    with house.brains.use(house.router.write_route(caller)) as opened, opened.store.writing() as writer:
        tell(writer, caller, card, kind, salt="s", at=now, reason="seen", to=said)
        if forged:
            writer.put_card(replace(card, version=opened.store.head()[0], status_seq=1), terms=card_terms(card))
        roles = itertools.chain([Role.SUPPORTING, Role.VERIFICATION], itertools.repeat(Role.SUPPORTING))
        for ref, role in zip(refs, roles, strict=False):
            writer.put_link(Link(card_id=card.id, evidence_id=EvidenceId(ref), role=role, at=now))
    return card.id


@pytest.fixture
def actor(any_world: World) -> Actor:
    return any_world.at(any_world.brain("app"))


def kept(actor: Actor, text: str, **more: Any) -> str:
    answer = actor.call("record", text=text, **more)
    assert answer["ok"], answer
    return str(answer["evidence_id"])


def texts(answer: dict[str, Any]) -> list[str]:
    return [item["text"] for item in answer["items"]]


@pytest.mark.req("MIND-200")
def test_mind_200_a_wake_up_has_no_sections_of_guidance(any_world: World, actor: Actor) -> None:
    refs = [kept(actor, f"seen {number}") for number in range(3)]
    carded(any_world, actor.caller, "law", *refs, rank=Rank.DAO_REN, status=Status.PROMOTED)
    carded(any_world, actor.caller, "sky", *refs, rank=Rank.DAO_TIAN, status=Status.CANDIDATE)

    answer = actor.call("wake")
    limited = actor.call("wake", dao_tian_limit=1)

    assert "law holds here" in answer["rendered"]
    assert not {"## dao_tian", "## dao_ren"} & set(answer["rendered"].split("\n"))
    assert "sections" not in answer
    assert limited["error"]["code"] == "invalid_params"


@pytest.mark.req("MIND-201")
def test_mind_201_identity_and_counts_come_first(world: World) -> None:
    actor = world.at(world.brain("app"))
    kept(actor, "a boat")

    hinted = actor.call("wake")
    (world.home.path / "identity.txt").write_text("Role: backend\n")
    told = actor.call("wake")

    assert (hinted["identity"], told["identity"]) == (None, "Role: backend")
    assert "identity.txt" in hinted["rendered"].split("\n")[0]
    assert told["rendered"].split("\n")[:2] == ["Role: backend", "1 observations kept, 8 fields recommended"]
    assert (told["evidence_count"], told["field_count"]) == (1, 8)


@pytest.mark.req("MIND-202")
def test_mind_202_importance_counts_before_recency(any_world: World, actor: Actor) -> None:
    old = kept(actor, "from \n\n January  " + "long " * 40, importance=5, wing="w", room="r", source="notes.md")
    any_world.clock.forward(100 * DAY)
    for number in range(6):
        kept(actor, f"today {number}")

    (one,) = actor.call("wake", top_k=1)["items"]
    five = actor.call("wake")

    assert (one["id"], one["wing"], one["room"], one["source_file"]) == (old, "w", "r", "notes.md")
    assert one["text"].startswith("from January long")
    assert len(one["text"]) == 120
    assert len(five["items"]) == 5
    assert texts(five)[0] == one["text"]
    assert f"- w/r {old} notes.md: {one['text']}" in five["rendered"].split("\n")
    assert actor.call("wake", top_k=0)["items"] == []


@pytest.mark.req("MIND-203", "MIND-204")
def test_mind_203_a_card_is_shown_by_its_statement(any_world: World, actor: Actor) -> None:
    ref = kept(actor, "E", importance=0)
    carded(any_world, actor.caller, "s", ref, ref, statement="three short words", content="body " * 50, importance=4)

    answer = actor.call("wake", top_k=1)

    assert (texts(answer), answer["estimated_tokens"]) == (["three short words"], 3)
    assert "body" not in answer["rendered"].removesuffix(RULES.rstrip())
    assert texts(actor.call("wake")) == ["three short words", "E"]


@pytest.mark.req("MIND-204")
def test_mind_204_tokens_are_the_words_that_are_shown(actor: Actor) -> None:
    kept(actor, "one two")
    kept(actor, "three")

    assert actor.call("wake")["estimated_tokens"] == 3


@pytest.mark.req("MIND-205", "MIND-507")
def test_mind_205_it_ends_with_the_protocol(world: World) -> None:
    actor = world.at(world.brain("app"))

    answer, only = actor.call("wake"), actor.call("wake", protocol_only=True)

    assert answer["rendered"].endswith(RULES.rstrip())
    assert only["rendered"] == only["protocol"] == answer["protocol"] == RULES
    assert "items" not in only
    assert actor.call("wake", format="xml")["error"]["code"] == "invalid_params"


def test_mind_206_the_answer_has_its_parts_by_name(world: World) -> None:
    actor = world.at(world.brain("app"))
    kept(actor, "a")
    kept(actor, "b")

    answer = actor.call("wake")

    assert {"identity", "evidence_count", "field_count", "items", "estimated_tokens"} <= set(answer)
    assert len(answer["items"]) == 2


@pytest.mark.req("MIND-207")
def test_mind_207_what_was_demoted_is_left_out_and_a_candidate_is_marked(any_world: World, actor: Actor) -> None:
    refs = [kept(actor, "one"), kept(actor, "two")]
    given: dict[str, dict[str, Any]] = {
        "candidate": {"importance": 1},
        "demoted": {"importance": 5, "status": Status.DEMOTED},
        "retired": {"importance": 5, "status": Status.RETIRED},
        "promoted": {"importance": 2, "status": Status.PROMOTED},
        "forged": {"importance": 5, "status": Status.PROMOTED, "forged": True},
        "asked": {"importance": 5, "status": Status.PROMOTED, "opt_in": True},
        "pointer": {"importance": 5, "status": Status.PROMOTED, "domain": Domain.GLOBAL, "anchor": GLOBAL},
    }
    for name, more in given.items():
        carded(any_world, actor.caller, name, *refs, **more)

    answer = actor.call("wake", top_k=2)

    assert texts(answer) == ["promoted holds here", "candidate holds here"]
    (line,) = [line for line in answer["rendered"].split("\n") if "card_candidate" in line]
    (other,) = [line for line in answer["rendered"].split("\n") if "card_promoted" in line]
    assert line.endswith("candidate holds here (candidate)")
    assert other.endswith("promoted holds here")


def test_mind_207_a_card_without_its_evidence_is_left_out(any_world: World, actor: Actor) -> None:
    first, second = kept(actor, "one"), kept(actor, "two")
    carded(any_world, actor.caller, "promoted", first, second, status=Status.PROMOTED)
    carded(any_world, actor.caller, "bare", first)
    before = texts(actor.call("wake"))

    actor.call("memory.delete", evidence_id=first)

    assert {"promoted holds here", "bare holds here"} <= set(before)
    assert texts(actor.call("wake")) == ["two"]


@pytest.mark.req("MIND-208")
def test_mind_208_a_wake_up_changes_nothing(world: World) -> None:
    assert world.at(None).call("wake")["items"] == []
    assert not world.home.path.exists()
    actor = world.at(world.brain("app"))
    ref = kept(actor, "a")
    carded(world, actor.caller, "a", ref)

    with still(world.home.path):
        assert actor.call("wake") == actor.call("wake")
        assert actor.call("wake", protocol_only=True)["ok"]


def test_mind_202_a_large_brain_is_not_read_through(world: World) -> None:
    root = world.brain("app")
    kept(world.at(root), "a", importance=3)
    world.close()

    connection = apsw.Connection(str(world.store(root).parent / "brain.db"), flags=apsw.SQLITE_OPEN_READONLY)
    plans = [
        " ".join(str(row[3]) for row in connection.execute(f"explain query plan {statement}", ("app", 5)))
        for statement in (MARKED, UNMARKED)
    ]
    connection.close()

    assert "USING INDEX evidence_importance" in plans[0]
    assert "USING INDEX" in plans[1]
    assert not any("TEMP B-TREE" in plan for plan in plans), "nothing is sorted that an index has in order"
