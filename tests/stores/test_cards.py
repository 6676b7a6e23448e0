"""The contract of cards: what every store does with knowledge, what it cites, its history, and outcomes."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import apsw
import pytest

from hindbrain.domain.adoption import AdoptionEvent, Signal, Track
from hindbrain.domain.anchor import GLOBAL, Anchor, AnchorKind
from hindbrain.domain.caller import Channel
from hindbrain.domain.card import Card, CardEvent, CardId, EventType, Hints, Link, Rank, Role, Status
from hindbrain.domain.errors import InvalidParams, StoreUnavailable
from hindbrain.domain.evidence import Domain, EvidenceId
from hindbrain.stores.port import BrainStore, CardFilter, FieldCount, ForeignCard, Writer
from hindbrain.stores.sqlite import SqliteStore
from tests.stores.conftest import BRAIN
from tests.stores.values import act, evidence, observe

REPO = Anchor(kind=AnchorKind.REPO, id="repo:///r/.git")
E1, E2 = EvidenceId("ev_1"), EvidenceId("ev_2")


def a_card(name: str = "card_a", **more: Any) -> Card:
    values: dict[str, Any] = {
        "statement": "Retries are bounded.",
        "content": "An endless retry hides the fault.",
        "rank": Rank.QI,
        "status": Status.CANDIDATE,
        "domain": Domain.PROJECT,
        "field": "general",
        "anchor": REPO,
        "created_at": 5,
        "updated_at": 5,
        "created_by": "codex",
    }
    return Card(id=CardId(name), **(values | more))


def keep(store: BrainStore, card: Card, *links: Link, words: str = "retries bounded") -> Card:
    """A card as a service writes it: an act that says its status, the card, what it cites and its event."""
    with store.writing() as writer:
        entry = writer.append(act("card.created", subject=card.id, to=card.status.value, tier=card.rank.value))
        made = replace(card, version=entry.seq, status_seq=entry.seq)
        writer.put_card(made, terms=words.split())
        for link in links:
            writer.put_link(link)
        tell(writer, made, entry.seq)
    return made


def tell(writer: Writer, card: Card, seq: int, kind: EventType = EventType.CREATED) -> None:
    writer.put_card_event(
        CardEvent(seq=seq, card_id=card.id, type=kind, reason="why", actor="codex", channel="agent", at=1, after=card.status)
    )


def cites(evidence_id: EvidenceId, role: Role = Role.SUPPORTING, card: str = "card_a") -> Link:
    return Link(card_id=CardId(card), evidence_id=evidence_id, role=role, note="n", at=7)


def test_mind_085_a_card_comes_back_as_it_was_put(store: BrainStore) -> None:
    observe(store, evidence(E1))
    full = a_card(
        statement="Ein Satz, 一つの文",
        rank=Rank.DAO_REN,
        domain=Domain.GLOBAL,
        field="databases",
        anchor=Anchor(kind=AnchorKind.WORKTREE, id="worktree:///r", parent=REPO.id),
        scope_constraints="only here",
        hints=Hints(intent_tags=("a", "ä"), tool_needs=("rg",)),
        importance=5,
        opt_in=True,
        derived_from=CardId("card_x"),
        supersedes=CardId("card_y"),
    )

    made = keep(store, full, cites(E1), words="ein satz")

    assert store.cards([made.id, CardId("card_none")]) == {made.id: made}
    assert store.card_words() == {made.id: ("ein", "satz")}
    assert store.links(cards=[made.id]) == (cites(E1),)
    assert made.backed
    with store.writing() as writer:
        assert writer.card(made.id) == made
        assert writer.card_links(made.id) == (cites(E1),)
        assert writer.card(CardId("card_none")) is None
        assert list(writer.observed([E1, E2])) == [E1]


def test_mind_275_cards_are_listed_by_rank_and_filtered_on_each_axis(store: BrainStore) -> None:
    for number, (rank, status) in enumerate(
        ((Rank.QI, Status.PROMOTED), (Rank.DAO_TIAN, Status.CANDIDATE), (Rank.SHU, Status.RETIRED), (Rank.QI, Status.CANDIDATE))
    ):
        keep(store, a_card(f"card_{number}", rank=rank, status=status, field="even" if number % 2 == 0 else "odd"))

    assert [card.id for card in store.each_card()] == ["card_1", "card_2", "card_3", "card_0"]
    assert [card.id for card in store.each_card(CardFilter(tier="qi"))] == ["card_3", "card_0"]
    assert [card.id for card in store.each_card(CardFilter(status="retired"))] == ["card_2"]
    assert [card.id for card in store.each_card(CardFilter(field="odd", tier="qi"))] == ["card_3"]
    assert [card.id for card in store.each_card(CardFilter(anchor_id="repo:///other"))] == []


def test_mind_097_mind_101_links_are_kept_by_role_once_and_in_order(store: BrainStore) -> None:
    observe(store, evidence(E1), evidence(E2))
    card = keep(store, a_card(), cites(E2), cites(E1))

    with store.writing() as writer:
        assert not writer.put_link(cites(E2))
        assert writer.put_link(cites(E2, Role.VERIFICATION))
        assert writer.drop_link(card.id, E1, Role.SUPPORTING)
        assert not writer.drop_link(card.id, E1, Role.SUPPORTING)

    assert [(link.evidence_id, link.role) for link in store.links()] == [(E2, Role.SUPPORTING), (E2, Role.VERIFICATION)]
    assert store.links(evidence=[E1]) == ()


def test_conf_05_a_link_knows_whether_its_evidence_lives(store: BrainStore) -> None:
    observe(store, evidence(E1), evidence(E2))
    keep(store, a_card(), cites(E1), cites(E2))
    turn = store.counts().card_turn

    with store.writing() as writer:
        writer.delete_evidence([E1], at=9)
    deleted = store.counts().card_turn
    assert [link.live for link in store.links()] == [False, True]
    observe(store, evidence(E1))
    assert [link.live for link in store.links()] == [True, True]
    assert turn < deleted < store.counts().card_turn

    with store.writing() as writer:
        writer.erase_evidence([E2])
    assert [link.evidence_id for link in store.links()] == [E1]
    assert store.counts().evidence == 1


def test_mind_270_events_of_a_card_are_told_in_order_and_stay(store: BrainStore) -> None:
    card = keep(store, a_card())
    other = keep(store, a_card("card_b"))
    with store.writing() as writer:
        for kind in (EventType.LINKED, EventType.UPDATED):
            tell(writer, card, writer.append(act("card.x", subject=card.id)).seq, kind)

    assert [event.type for event in store.card_events(card.id)] == [EventType.CREATED, EventType.LINKED, EventType.UPDATED]
    assert len(store.card_events()) == 4
    assert len({event.id for event in store.card_events()}) == 4
    assert store.card_events(other.id)[0].after is Status.CANDIDATE


def test_mind_131_a_status_that_no_entry_gave_is_not_backed(store: BrainStore) -> None:
    card = keep(store, a_card())
    with store.writing() as writer:
        writer.put_card(replace(card, status=Status.PROMOTED), terms=())

    forced = store.cards([card.id])[card.id]
    assert (forced.status, forced.backed, forced.active) == (Status.PROMOTED, False, False)


def moved(store: BrainStore, card: Card, kind: str, to: Status, *, channel: Channel = Channel.AGENT) -> Card:
    """A card as an act gives it another status."""
    with store.writing() as writer:
        told = act(f"card.{kind}", subject=card.id, to=to.value, tier=card.rank.value)
        entry = writer.append(replace(told, channel=channel))
        made = replace(card, status=to, version=entry.seq, status_seq=entry.seq)
        writer.put_card(made, terms=())
        tell(writer, made, entry.seq)
    return store.cards([card.id])[card.id]


def test_mind_131_only_the_last_act_that_gave_a_status_backs_it(store: BrainStore) -> None:
    was = moved(store, keep(store, a_card()), "promoted", Status.PROMOTED)
    now = moved(store, was, "demoted", Status.DEMOTED)
    assert (was.active, now.backed) == (True, True)

    for forced in (was, replace(now, status=Status.PROMOTED), replace(was, rank=Rank.SHU), replace(was, id=CardId("card_b"))):
        with store.writing() as writer:
            writer.put_card(forced, terms=())
        assert not store.cards([forced.id])[forced.id].active, forced
    with store.writing() as writer:
        writer.append(act("card.linked", subject=was.id))
        writer.put_card(now, terms=())
    assert store.cards([now.id])[now.id].backed, "what changes no status takes none away"
    with store.writing() as writer:
        writer.append(act("card.forgotten", subject=was.id))
    assert not store.cards([now.id])[now.id].backed, "what was forgotten has no standing"


def test_mind_131_a_universal_law_and_an_imported_status_are_backed_by_a_person_only(store: BrainStore) -> None:
    law = a_card(rank=Rank.DAO_TIAN, domain=Domain.GLOBAL)

    assert not moved(store, keep(store, law), "promoted", Status.CANONICAL).active
    assert moved(store, law, "promoted", Status.CANONICAL, channel=Channel.HUMAN).active
    assert not moved(store, a_card("card_b"), "created", Status.PROMOTED).active
    assert moved(store, a_card("card_b"), "created", Status.PROMOTED, channel=Channel.HUMAN).active
    assert not moved(store, a_card("card_c"), "annotated", Status.PROMOTED, channel=Channel.HUMAN).active


def test_mind_138_a_card_that_is_erased_leaves_nothing_and_outcomes_stay(store: BrainStore) -> None:
    observe(store, evidence(E1))
    card = keep(store, a_card(), cites(E1))
    other = keep(store, a_card("card_b"), cites(E1, card="card_b"))
    with store.writing() as writer:
        writer.put_adoption(outcome("adoption_1", card_id=card.id))
        writer.erase_card(card.id)

    assert [one.id for one in store.each_card()] == [other.id]
    assert [link.card_id for link in store.links()] == [other.id]
    assert {event.card_id for event in store.card_events()} == {other.id}
    assert store.adoptions()[0].card_id == card.id
    assert store.meta("erasing") is None


def outcome(name: str, **more: Any) -> AdoptionEvent:
    values: dict[str, Any] = {"seq": 1, "track": Track.CARD_CONTEXT, "signal": Signal.USED, "feature": "include_cards"}
    return AdoptionEvent(id=name, actor="codex", channel="agent", at=3, **(values | more))


def test_mind_331_outcomes_are_kept_whole_and_asked_for_by_track_and_feature(store: BrainStore) -> None:
    whole = outcome(
        "adoption_1",
        query="q",
        context_hash="h",
        card_id="card_a",
        evaluator_id="e",
        research_report_id="r",
        note="n",
        metadata='{"a":1}',
    )
    other = outcome("adoption_2", seq=2, track=Track.EVALUATOR, signal=Signal.MISS, feature="advisory_gate")
    with store.writing() as writer:
        writer.put_adoption(other)
        writer.put_adoption(whole)

    assert store.adoptions() == (whole, other)
    assert store.adoptions(track="evaluator") == store.adoptions(feature="advisory_gate") == (other,)
    with pytest.raises(InvalidParams, match="adoption_1"), store.writing() as writer:
        writer.put_adoption(whole)


def test_mind_306_rows_of_another_program_wait_as_they_were(store: BrainStore) -> None:
    first = ForeignCard(id="drawer_b", body='{"tier":"qi"}', at=4)
    with store.writing() as writer:
        writer.put_foreign_card(first)
        writer.put_foreign_card(replace(first, body="{}"))
        writer.put_foreign_card(ForeignCard(id="drawer_a", body="{}", at=5))

    assert store.foreign_cards() == (ForeignCard(id="drawer_a", body="{}", at=5), first)


def test_conf_14_outcomes_and_foreign_rows_are_erased_one_by_one(store: BrainStore) -> None:
    with store.writing() as writer:
        for name in ("adoption_1", "adoption_2"):
            writer.put_adoption(outcome(name))
        for name in ("drawer_a", "drawer_b"):
            writer.put_foreign_card(ForeignCard(id=name, body="{}", at=1))
    with store.writing() as writer:
        writer.erase_outcomes(["adoption_1"])
        writer.erase_foreign_cards(["drawer_b"])
        writer.erase_outcomes([])

    assert [one.id for one in store.adoptions()] == ["adoption_2"]
    assert [one.id for one in store.foreign_cards()] == ["drawer_a"]
    assert store.meta("erasing") is None


def test_mind_193_subjects_are_counted_with_the_rows_that_came_first(store: BrainStore) -> None:
    assert store.fields(least=1, samples=3) == ()
    observe(store, *(evidence(f"ev_r{n}", field="rust") for n in range(4)), *(evidence(f"ev_g{n}") for n in range(3)))
    observe(store, evidence("ev_late", field="rust"))
    with store.writing() as writer:
        writer.delete_evidence([EvidenceId("ev_r0")], at=2)

    assert store.fields(least=4, samples=2) == (
        FieldCount(field="rust", rows=4, first=(EvidenceId("ev_r1"), EvidenceId("ev_r2"))),
    )
    assert [(one.field, one.rows) for one in store.fields(least=1, samples=0)] == [("general", 3), ("rust", 4)]


def test_mind_264_a_transaction_that_fails_leaves_no_part_of_a_card(store: BrainStore) -> None:
    observe(store, evidence(E1))
    before = (store.head(), store.counts())

    def fail() -> None:
        with store.writing() as writer:
            entry = writer.append(act("card.created", subject="card_a", to="candidate"))
            writer.put_card(replace(a_card(), version=entry.seq, status_seq=entry.seq), terms=["x"])
            writer.put_link(cites(E1))
            tell(writer, a_card(), entry.seq)
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        fail()

    assert (store.head(), store.counts()) == before
    assert (list(store.each_card()), store.links(), store.card_events()) == ([], (), ())


# --- what the database itself refuses ------------------------------------------------------------------------------------


def raw(directory: Path, statement: str, *values: object) -> None:
    connection = apsw.Connection(str(directory / "brain.db"))
    try:
        connection.execute("pragma foreign_keys = on").fetchall()
        connection.execute(statement, values).fetchall()
    finally:
        connection.close()


@pytest.fixture
def directory(tmp_path: Path) -> Path:
    """A brain on disk with a card that cites a row."""
    made = SqliteStore(tmp_path / "brain", BRAIN)
    observe(made, evidence(E1))
    keep(made, a_card(), cites(E1))
    with made.writing() as writer:
        writer.put_adoption(outcome("adoption_1"))
    made.close()
    return tmp_path / "brain"


@pytest.mark.parametrize(
    "statement",
    [
        "update card set tier = 'dao'",
        "update card set status = 'active'",
        "update card set status = 'canonical'",
        "update card set domain = 'team'",
        "update card set anchor_kind = 'branch'",
        "update card set anchor_kind = 'global'",
        "update card set statement = null",
        "update card_link set role = 'proof'",
        "insert into card_link select brain_id, card_id, evidence_id, role, note, at, place from card_link",
        "update card_link set card_id = 'card_none'",
        "delete from evidence",
        "delete from card",
        "insert into card_event select brain_id, 99, card_id, 'merged', null, null, '', '', '', '{}', 1 from card_event",
        "insert into adoption_event select brain_id, 'x', 1, 'x', signal, feature, '', '', 1, null, null, null, null, null, "
        "null, '{}' from adoption_event",
    ],
)
def test_mind_258_mind_259_mind_260_mind_261_the_database_refuses_what_a_rule_forbids(directory: Path, statement: str) -> None:
    with pytest.raises(apsw.ConstraintError):
        raw(directory, statement)


@pytest.mark.parametrize("table", ["card_event", "adoption_event"])
@pytest.mark.parametrize("verb", ["update {} set actor = 'x'", "delete from {}"])
def test_mind_263_mind_334_history_is_only_added_to(directory: Path, table: str, verb: str) -> None:
    with pytest.raises(apsw.ConstraintError, match="append-only"):
        raw(directory, verb.format(table))


def test_mind_266_a_card_that_breaks_the_rule_of_anchors_is_told_and_not_shown(directory: Path) -> None:
    raw(directory, "pragma ignore_check_constraints = on")
    connection = apsw.Connection(str(directory / "brain.db"))
    connection.execute("pragma ignore_check_constraints = on").fetchall()
    connection.execute("update card set anchor_kind = 'global', anchor_id = ?", (GLOBAL.id,)).fetchall()
    connection.close()

    store = SqliteStore(directory, BRAIN)
    with pytest.raises(StoreUnavailable, match="card_a"):
        store.cards([CardId("card_a")])
    store.close()


@pytest.mark.req("MIND-262")
@pytest.mark.parametrize(
    ("table", "columns", "order"),
    [
        ("card", ("tier", "status"), ""),
        ("card", ("domain", "field"), ""),
        ("card", ("anchor_kind", "anchor_id"), ""),
        ("card_link", ("card_id",), ""),
        ("card_link", ("evidence_id",), ""),
        ("card_event", ("card_id",), " order by seq"),  # the order in which events were written
    ],
)
def test_mind_262_cards_links_and_events_are_found_by_index(
    directory: Path, table: str, columns: tuple[str, ...], order: str
) -> None:
    asked = " and ".join(f"{name} = ?" for name in ("brain_id", *columns))
    connection = apsw.Connection(str(directory / "brain.db"))
    words = f"explain query plan select * from {table} where {asked}{order}"
    plan = [row[3] for row in connection.execute(words, ("x",) * (1 + len(columns)))]
    connection.close()

    (step,) = plan  # a sort would be a second step
    assert step.startswith(f"SEARCH {table} USING ")
    assert step.endswith("(" + " AND ".join(f"{name}=?" for name in ("brain_id", *columns)) + ")")


@pytest.mark.req("MIND-202", "MIND-207", "MIND-044")
def test_mind_207_the_foremost_cards_are_neither_demoted_nor_retired(store: BrainStore) -> None:
    kinds = {"card_b": (2, 1, "candidate"), "card_c": (5, 1, "promoted"), "card_d": (5, 1, "promoted")}
    kinds |= {"card_e": (5, 9, "demoted"), "card_f": (5, 9, "retired"), "card_g": (5, 3, "candidate")}
    for name, (importance, at, status) in kinds.items():
        keep(store, a_card(name, importance=importance, created_at=at, status=Status(status)))

    order = ["card_g", "card_d", "card_c", "card_b"]
    assert [card.id for card in store.foremost_cards(9)] == order
    assert [card.id for card in store.foremost_cards(2, after=1)] == order[1:3]
    assert store.foremost_cards(2, after=4) == store.foremost_cards(0) == ()
    standing = {("qi", "candidate"): 2, ("qi", "promoted"): 2, ("qi", "demoted"): 1, ("qi", "retired"): 1}
    assert store.standing() == store.standing(published=False) == standing
    keep(store, a_card("card_h", rank=Rank.SHU, domain=Domain.GLOBAL, anchor=GLOBAL))
    assert store.standing(published=False) == standing
    assert store.standing() == standing | {("shu", "candidate"): 1}


def test_store_a_copy_is_withheld_until_an_active_card_cites_it(store: BrainStore) -> None:
    copied, own = evidence("ev_copied", origin="shop (6f1c2c1e)"), evidence("ev_own")
    observe(store, copied, own)
    keep(store, a_card(status=Status.CANDIDATE), cites(copied.id), cites(own.id))
    candidate = list(store.withheld().values())

    keep(store, a_card("card_b", status=Status.PROMOTED), cites(copied.id, card="card_b"))

    assert (candidate, store.withheld()) == ([copied.id], {})


def test_store_the_history_of_a_card_is_replaced_and_of_others_stays(store: BrainStore) -> None:
    observe(store, evidence(E1))
    one, other = (keep(store, a_card(name), cites(E1, card=name)) for name in ("card_a", "card_b"))
    before = store.card_events(one.id)
    with store.writing() as writer:
        writer.redact_card_events(one.id, [replace(event, reason="[x]") for event in before])

    assert store.card_events(one.id) == tuple(replace(event, reason="[x]") for event in before)
    assert [event.reason for event in store.card_events(other.id)] == ["why"]
    assert store.check() == ()
