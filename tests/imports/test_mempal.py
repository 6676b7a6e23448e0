"""Import of a mempal database: every schema version, odd rows, nothing written without being asked, nothing taken twice."""

import json
import os
import sqlite3
from pathlib import Path
from typing import Any

import pytest

from hindbrain.domain.card import Rank, Status
from hindbrain.engines.legacy_cards import in_matrix, in_old_matrix
from tests.support.palaces import MEMPAL_VERSIONS, Palace, mempal
from tests.support.world import Actor, World

TOKEN = "ghp_" + "a1B2c3D4e5F6" * 3


def opened(world: World, root: str | None) -> Any:
    house = world.app.house
    brain = house.home.medulla() if root is None else house.home.project(os.path.realpath(root))
    assert brain is not None
    return house.brains.use(brain)


def taken(actor: Actor, path: str, **more: Any) -> dict[str, Any]:
    answer = actor.call("memory.import", path=path, execute=True, **more)
    assert answer["ok"], answer
    return answer


def rows(actor: Actor, **more: Any) -> list[dict[str, Any]]:
    return list(actor.call("memory.list", limit=500, **more)["rows"])


def state(world: World, root: str) -> tuple[Any, ...]:
    with opened(world, root) as brain:
        store = brain.store
        return (store.head(), store.counts(), len(list(store.each_card())), len(store.foreign_cards()), len(store.adoptions()))


def full(path: Path, version: int) -> str:
    """A palace with one of everything that its version knows."""
    palace = mempal(path, version)
    palace.row("drawer_app_default_00000001", "the ferry leaves at noon")
    palace.row(
        "drawer_app_auth_00000002", "fn login() {}", source_file="src/auth.rs", source_type="project", chunk_index=3, room="auth"
    )
    palace.row("drawer_app_talk_00000003", "> why?\nbecause", source_type="conversation", added_at="2026-01-02T03:04:05Z")
    palace.put("triples", id="triple_1", subject="ferry", predicate="leaves_from", object="pier two", valid_from="2026-01-01")
    palace.put("taxonomy", wing="app", room="auth", keywords="[]")
    if version >= 2:
        palace.row("drawer_gone", "somebody deleted this", deleted_at="1777710001")
    if version >= 4:
        palace.row("drawer_weighty", "a weighty thing", importance=4)
    if version >= 5:
        palace.knowledge("drawer_know", "qi", "candidate", supporting_refs=["drawer_app_default_00000001"])
    if version >= 6:
        palace.put("tunnels", id="tunnel_1", left_wing="a", right_wing="b", label="x", created_at="1")
    if version >= 8:
        palace.card("card_law", "qi", "candidate")
        palace.link("card_law", "drawer_app_default_00000001", note="seen")
        palace.event("card_law", "created", to_status="candidate")
        palace.event("card_law", "updated", metadata={"note": "scope"})
    if version >= 9:
        palace.outcome("adoption_1", card_id="card_law", note="it helped")
    return palace.close()


@pytest.mark.parametrize("version", MEMPAL_VERSIONS)
def test_mind_306_every_version_comes_in_whole_and_once(any_world: World, tmp_path: Path, version: int) -> None:
    root = any_world.brain("app")
    actor, path = any_world.at(root), full(tmp_path / "palace.db", version)
    bytes_before = Path(path).read_bytes()
    before = state(any_world, root)

    plan = actor.call("memory.import", path=path)
    assert plan["ok"], plan
    assert (plan["kind"], plan["source_version"], plan["writes"]) == ("mempal", version, False)
    assert state(any_world, root) == before, "a plan writes nothing"

    first = taken(actor, path)
    after = state(any_world, root)
    second = taken(actor, path)

    assert first["writes"]
    assert plan["counts"] == first["counts"]
    expected = 4 + (version >= 4)  # three rows, one fact
    assert first["counts"]["evidence"] == expected
    assert actor.call("memory.list")["total"] == expected
    assert first["counts"].get("deleted", 0) == (version >= 2)
    assert after[2:] == (int(version >= 8), int(version >= 5), int(version >= 9))
    assert not second["writes"]
    assert state(any_world, root) == after, "a second import creates nothing"
    assert Path(path).read_bytes() == bytes_before
    assert [one.name for one in tmp_path.glob("palace.db*")] == ["palace.db"], "nothing was left beside it"
    assert any_world.at(root).call("ledger.verify")["ok"]


def test_mind_306_a_row_keeps_what_it_was(any_world: World, tmp_path: Path) -> None:
    root = any_world.brain("app")
    actor = any_world.at(root)
    taken(actor, full(tmp_path / "palace.db", 9))

    held = {row["message_id"]: row for row in rows(actor)}
    plain, code, talk = (held[f"drawer_app_{name}"] for name in ("default_00000001", "auth_00000002", "talk_00000003"))
    told = ("content", "wing", "room", "source_file", "source_type", "provenance", "chunk_index", "anchor_id", "added_at")

    assert [code[name] for name in told] == [
        *("fn login() {}", "app", "auth", "src/auth.rs", "project", "research", 3, "repo://legacy", "2026-05-02T08:20:00.000Z"),
    ]
    assert (plain["provenance"], plain["source_type"], plain["content"]) == ("human", "manual", "the ferry leaves at noon")
    assert plain["id"].startswith("ev_")
    assert (talk["source_type"], talk["provenance"], talk["added_at"]) == ("conversation", "human", "2026-01-02T03:04:05.000Z")
    assert held["drawer_weighty"]["importance"] == 4
    assert held["triple_1"]["content"] == "ferry leaves from pier two (from 2026-01-01)"
    assert held["triple_1"]["tags"] == ["fact"]
    assert actor.call("memory.search", query="ferry noon", floor=False)["results"][0]["content"] == plain["content"]


def test_mind_306_cards_bring_their_links_and_history(any_world: World, tmp_path: Path) -> None:
    root = any_world.brain("app")
    taken(any_world.at(root), full(tmp_path / "palace.db", 9))

    with opened(any_world, root) as brain:
        (card,) = brain.store.each_card()
        (link,) = brain.store.links()
        events = brain.store.card_events(card.id)
        (outcome,) = brain.store.adoptions()
        evidence = brain.store.evidence([link.evidence_id])[link.evidence_id]

    assert (card.id, card.status, card.opt_in, card.backed) == ("card_law", Status.CANDIDATE, True, True)
    assert (card.created_at, card.updated_at) == (1_777_710_000_000, 1_777_710_060_000)
    assert (evidence.content, link.role.value, link.note, link.at) == (
        "the ferry leaves at noon",
        "supporting",
        "seen",
        1_777_710_001_000,
    )
    assert [(event.type.value, event.at) for event in events] == [("created", 1_777_710_000_000), ("updated", 1_777_710_001_000)]
    assert all(json.loads(event.metadata)["imported"] is True for event in events)
    assert [json.loads(event.metadata)["actor"] for event in events] == ["ann", "ann"]
    assert {event.channel for event in events} == {"import"}
    assert (outcome.id, outcome.card_id, outcome.at, outcome.channel) == ("adoption_1", "card_law", 1_777_710_000_000, "import")
    assert json.loads(outcome.metadata)["imported"] is True


@pytest.mark.req("MIND-016")
def test_mind_016_times_of_every_kind_are_one_order(any_world: World, tmp_path: Path) -> None:
    root = any_world.brain("app")
    palace = mempal(tmp_path / "palace.db", 9)
    told = {"seconds": "1777710000", "iso": "2026-05-02T08:19:00Z", "later": "2026-05-02 08:21:00", "millis": "1777710120000"}
    for name, at in told.items():
        palace.row(f"drawer_{name}", f"seen {name}", added_at=at)
    palace.row("drawer_never", "seen never", added_at="some day")
    answer = taken(any_world.at(root), palace.close())
    any_world.clock.forward(1000)
    any_world.at(root).call("record", text="seen now")

    newest = rows(any_world.at(root), newest=True)

    assert [row["content"].split()[1] for row in newest] == ["now", "never", "millis", "later", "seconds", "iso"]
    assert all(row["added_at"].endswith("Z") for row in newest)
    assert newest[-2]["added_at"] == "2026-05-02T08:20:00.000Z"
    assert {"name": "drawer_never", "flag": "added_at is not a time"} in answer["flagged"]


@pytest.mark.req("MIND-090")
def test_mind_090_the_old_rule_allows_thirteen_pairs() -> None:
    allowed = {(rank, status) for rank in Rank for status in Status if in_old_matrix(rank, status)}

    assert len(allowed) == 13
    assert {rank: sum(one is rank for one, _ in allowed) for rank in Rank} == {
        Rank.DAO_TIAN: 2,
        Rank.DAO_REN: 4,
        Rank.SHU: 3,
        Rank.QI: 4,
    }


@pytest.mark.req("MIND-091")
def test_mind_091_the_new_rule_allows_sixteen() -> None:
    allowed = {(rank, status) for rank in Rank for status in Status if in_matrix(rank, status)}

    assert len(allowed) == 16
    assert {pair for rank in Rank for status in Status if (pair := (rank, status)) not in allowed} == {
        (Rank.DAO_TIAN, Status.PROMOTED),
        (Rank.DAO_REN, Status.CANONICAL),
        (Rank.SHU, Status.CANONICAL),
        (Rank.QI, Status.CANONICAL),
    }


@pytest.mark.req("MIND-091", "MIND-135", "MIND-133")
def test_mind_091_every_pair_is_kept_and_the_odd_ones_are_flagged(any_world: World, tmp_path: Path) -> None:
    root = any_world.brain("app")
    palace = mempal(tmp_path / "palace.db", 9)
    palace.row("drawer_e1")
    for rank in Rank:
        for status in Status:
            palace.card(f"card_{rank.value}_{status.value}", rank.value, status.value)
            palace.link(f"card_{rank.value}_{status.value}", "drawer_e1")

    answer = taken(any_world.human(root), palace.close())

    with opened(any_world, root) as brain:
        cards = {card.id: card for card in brain.store.each_card()}
    flagged = {one["name"] for one in answer["flagged"]}
    assert len(cards) == 20
    assert flagged == {f"card_{r.value}_{s.value}" for r in Rank for s in Status if not in_old_matrix(r, s)}
    assert len(flagged) == 7
    for rank in Rank:
        for status in Status:
            card = cards[f"card_{rank.value}_{status.value}"]
            impossible = status is Status.CANONICAL and rank is not Rank.DAO_TIAN
            assert card.status is (Status.DEMOTED if impossible else status)
            assert card.backed
    odd = "card_dao_tian_promoted"
    assert cards[odd].active
    refused = any_world.human(root).call(
        "knowledge.promote", card_id=odd, status="canonical", reason="x", verification_refs=[rows(any_world.at(root))[0]["id"]]
    )
    assert refused["error"]["code"] == "illegal_move", refused
    lowered = any_world.human(root).call(
        "knowledge.demote",
        card_id=odd,
        status="retired",
        reason="odd",
        reason_type="obsolete",
        evidence_refs=[rows(any_world.at(root))[0]["id"]],
    )
    assert lowered["ok"], lowered


@pytest.mark.req("MIND-092")
def test_mind_092_only_a_person_brings_an_active_status(any_world: World, tmp_path: Path) -> None:
    root = any_world.brain("app")
    palace = mempal(tmp_path / "palace.db", 8)
    palace.row("drawer_e1")
    palace.card("card_on", "qi", "promoted")
    palace.link("card_on", "drawer_e1")
    palace.event("card_on", "created", to_status="candidate")
    palace.event("card_on", "promoted", from_status="candidate", to_status="promoted", actor="human:founder")
    path = palace.close()
    before = state(any_world, root)

    for agent in ("codex:maker", "human:founder"):
        refused = any_world.at(root, agent).call("memory.import", path=path, execute=True)
        assert refused["error"]["code"] == "human_needed"
    assert state(any_world, root)[1:] == before[1:]
    plan = any_world.at(root).call("memory.import", path=path)
    assert [one["for"] for one in plan["needs_human"]] == ["status"]

    taken(any_world.human(root), path)

    with opened(any_world, root) as brain:
        (card,) = brain.store.each_card()
        events = brain.store.card_events(card.id)
        entries = brain.store.entries(subject=card.id)
    assert card.active
    (created,) = [event for event in events if event.type.value == "created"]
    assert json.loads(created.metadata)["imported"] is True
    assert (created.channel, created.after) == ("human", Status.PROMOTED)
    assert [event.type.value for event in events] == ["created", "promoted"]
    assert [json.loads(entry.payload).get("to") for entry in entries] == ["promoted", None], "what was given there backs nothing"


@pytest.mark.req("MIND-092", "MIND-280")
def test_mind_280_a_replayed_history_gives_no_standing(any_world: World, tmp_path: Path) -> None:
    root = any_world.brain("app")
    palace = mempal(tmp_path / "palace.db", 8)
    palace.row("drawer_e1")
    palace.card("card_on", "dao_tian", "canonical")
    for kind in ("created", "linked", "promoted", "updated", "unlinked", "demoted", "published_anchor", "retired"):
        palace.event("card_on", kind, to_status="canonical", metadata={"reviewer": "human:founder", "imported": False})

    answer = taken(any_world.at(root), palace.close(), as_candidates=True)

    with opened(any_world, root) as brain:
        (card,) = brain.store.each_card()
        events = brain.store.card_events(card.id)
        backing = [entry.seq for entry in brain.store.entries(subject=card.id) if '"to":"canonical"' in entry.payload]
    assert (card.status, card.active, answer["as_candidates"]) == (Status.CANDIDATE, False, ["card_on"])
    assert len(events) == 8
    assert {event.channel for event in events} == {"import"}
    assert all(json.loads(event.metadata)["imported"] is True for event in events)
    assert not any("reviewer" in json.loads(event.metadata) for event in events)
    assert backing == []


@pytest.mark.req("MIND-116")
def test_mind_116_only_two_ranks_had_candidates_there(world: World, tmp_path: Path) -> None:
    root = world.brain("app")
    palace = mempal(tmp_path / "palace.db", 7)
    palace.row("drawer_e1")
    for rank in Rank:
        palace.knowledge(f"drawer_{rank.value}", rank.value, "candidate", supporting_refs=["drawer_e1"])

    answer = taken(world.at(root), palace.close())

    assert {one["name"] for one in answer["flagged"]} == {"drawer_dao_tian", "drawer_shu"}


def test_odd_rows_come_in_as_well_as_they_can(any_world: World, tmp_path: Path) -> None:
    root = any_world.brain("app")
    palace = mempal(tmp_path / "palace.db", 9)
    palace.row("drawer_ok", "fine")
    palace.row("drawer_bytes", sqlite3.Binary("caf\xe9 au lait".encode("latin-1")))
    palace.connection.execute("UPDATE drawers SET content = CAST(x'666f6fff626172' AS TEXT) WHERE id = 'drawer_bytes'")
    palace.row("drawer_blank", "  \n")
    palace.row("drawer_nul", "before\x00after")
    palace.row("drawer_heavy", "weight", importance=99)
    palace.row("drawer_long", "a sentence of some words. " * 400)
    palace.row("drawer_endless", "x" * (2 << 20))
    palace.row("drawer_secret", f"deploys use {TOKEN}")
    palace.row("drawer_names", "named", wing=f"wing {TOKEN}")
    palace.row("drawer_forged", "global only in part", anchor_kind="global", anchor_id="global://default")
    palace.connection.execute("PRAGMA ignore_check_constraints = 1")
    palace.row("drawer_kind", "of no kind", source_type="dream", domain="nowhere", provenance="rumour")
    palace.connection.commit()

    answer = taken(any_world.at(root), palace.close())

    held: dict[str, list[dict[str, Any]]] = {}
    for row in rows(any_world.at(root)):
        held.setdefault(row["message_id"], []).append(row)
    refused = {one["name"]: one["code"] for one in answer["refused"]}
    assert refused == {
        "drawer_blank": "invalid_params",
        "drawer_endless": "invalid_params",
        "drawer_secret": "hygiene",
        "drawer_names": "hygiene",
    }
    assert TOKEN not in json.dumps(answer)
    assert held["drawer_bytes"][0]["content"] == "foo\ufffdbar"
    assert held["drawer_nul"][0]["content"] == "before\ufffdafter"
    assert held["drawer_heavy"][0]["importance"] == 5
    assert len(held["drawer_long"]) > 1
    assert held["drawer_forged"][0]["anchor_id"] == "repo://legacy"
    assert (held["drawer_kind"][0]["source_type"], held["drawer_kind"][0]["provenance"]) == ("manual", "human")
    assert {"drawer_bytes", "drawer_heavy", "drawer_kind"} <= {one["name"] for one in answer["flagged"]}


def test_what_was_rejected_deleted_or_forgotten_here_stays_away(any_world: World, tmp_path: Path) -> None:
    root = any_world.brain("app")
    human = any_world.human(root)
    palace = mempal(tmp_path / "palace.db", 9)
    words = {
        "rejected": "the harbour opens at six in the morning",
        "deleted": "the mill stands by the river",
        "kept": "the tram runs late",
    }
    for name, text in words.items():
        palace.row(f"drawer_{name}", text)
    palace.card("card_bad", "qi", "candidate", statement="The harbour opens at six in the morning", content="Somebody said so.")
    path = palace.close()
    taken(human, path)
    held = {row["message_id"]: row["id"] for row in rows(human)}
    assert human.call("memory.delete", evidence_id=held["drawer_deleted"], reason="wrong")["ok"]
    assert human.call("reject", claim="harbour", value=words["rejected"])["ok"]
    other = any_world.brain("other")
    assert any_world.human(other).call("reject", claim="harbour", value=words["rejected"])["ok"]

    again = taken(human, path)
    elsewhere = taken(any_world.human(other), path)

    assert {one["name"] for one in again["refused"]} == {"drawer_rejected", "drawer_deleted"}
    assert sorted(row["content"] for row in rows(human)) == [words["kept"]]
    assert {one["name"] for one in elsewhere["refused"]} == {"drawer_rejected", "card_bad"}
    with opened(any_world, other) as brain:
        assert list(brain.store.each_card()) == []


def test_anchors_of_this_project_stay_and_global_rows_take_a_person(any_world: World, tmp_path: Path) -> None:
    root = any_world.brain("app")
    own = any_world.at(root).call("record", text="here")
    palace = mempal(tmp_path / "palace.db", 9)
    here = {"anchor_kind": "worktree", "anchor_id": own["anchor_id"], "parent_anchor_id": own["parent_anchor_id"]}
    palace.row("drawer_here", "made in this checkout", **here)
    palace.row("drawer_beside", "made in another checkout", **here | {"anchor_id": "worktree:///elsewhere"})
    palace.row("drawer_away", "made in another project", anchor_kind="repo", anchor_id="repo:///other/.git")
    path = palace.close()
    taken(any_world.at(root), path)
    held = {row["message_id"]: row for row in rows(any_world.at(root)) if row["message_id"]}
    assert {name: row["anchor_id"] for name, row in held.items()} == {
        "drawer_here": own["anchor_id"],
        "drawer_beside": "worktree:///elsewhere",
        "drawer_away": "repo://legacy",
    }

    palace = Palace(tmp_path / "second.db", 9)
    palace.row("drawer_all", "holds everywhere", domain="global", anchor_kind="global", anchor_id="global://default")
    palace.row("drawer_mine", "holds here")
    palace.card("card_all", "qi", "promoted", domain="global", anchor_kind="global", anchor_id="global://default")
    palace.link("card_all", "drawer_mine")
    path = palace.close()
    before = state(any_world, root)
    there = any_world.app.house.brains.has_medulla()
    plan = any_world.at(root).call("memory.import", path=path)
    assert [one["for"] for one in plan["needs_human"]] == ["medulla", "status"]
    assert any_world.app.house.brains.has_medulla() == there, "a plan makes no medulla"
    refused = any_world.at(root).call("memory.import", path=path, execute=True, as_candidates=True)
    assert refused["error"]["code"] == "human_needed"
    assert state(any_world, root)[1:] == before[1:]

    taken(any_world.human(root), path)

    with opened(any_world, None) as medulla:
        (card,) = medulla.store.each_card()
        (link,) = medulla.store.links(cards=[card.id])
        cited = medulla.store.evidence([link.evidence_id])[link.evidence_id]
        assert {row.content for row in medulla.store.each_evidence()} == {"holds everywhere", "holds here"}
    assert (card.id, card.active, cited.content) == ("card_all", True, "holds here")
    with opened(any_world, root) as brain:
        assert list(brain.store.each_card()) == []


def test_wings_choose_what_comes(world: World, tmp_path: Path) -> None:
    root = world.brain("app")
    palace = mempal(tmp_path / "palace.db", 9)
    palace.row("drawer_a", "of the app", wing="app")
    palace.row("drawer_b", "of the bank", wing="bank")
    palace.card("card_law", "qi", "promoted")
    palace.link("card_law", "drawer_b")
    path = palace.close()

    answer = taken(world.at(root), path, wings=["app"])

    assert [row["content"] for row in rows(world.at(root))] == ["of the app"]
    assert (answer["counts"]["other_wings"], answer["wings"]) == (1, {"app": 1})
    rest = taken(world.human(root), path)
    assert (rest["counts"]["evidence"], rest["counts"]["cards"], rest["counts"]["links"]) == (1, 1, 1)


def _locked(path: str) -> sqlite3.Connection:
    held = sqlite3.connect(path, isolation_level=None)
    held.execute("PRAGMA locking_mode = EXCLUSIVE")
    held.execute("BEGIN EXCLUSIVE")
    return held


def test_a_locked_one_a_read_only_one_and_one_with_a_log_are_read(world: World, tmp_path: Path) -> None:
    root = world.brain("app")
    place = tmp_path / "place"
    palace = mempal(place / "palace.db", 9)
    palace.connection.execute("PRAGMA journal_mode = WAL")
    palace.row("drawer_waiting", "only in the log beside it")
    names = sorted(os.listdir(place))
    assert "palace.db-wal" in names
    place.chmod(0o500)
    try:
        answer = taken(world.at(root), str(place))
    finally:
        place.chmod(0o700)
    assert answer["counts"]["evidence"] == 1
    assert sorted(os.listdir(place)) == names
    palace.close()

    locked = mempal(tmp_path / "locked.db", 9)
    locked.row("drawer_locked", "behind a lock")
    holder = _locked(locked.close())
    assert taken(world.at(root), str(tmp_path / "locked.db"))["counts"]["evidence"] == 1
    holder.close()
    assert [path.name for path in world.home.path.glob(".foreign-*")] == []


@pytest.mark.parametrize(
    ("made", "code", "words"),
    [
        ("newer", "store_newer", "version 10"),
        ("other", "invalid_params", "neither a database of mempal nor of MemPalace"),
        ("text", "invalid_params", "not a SQLite database"),
        ("damaged", "invalid_params", "cannot be read"),
        ("absent", "path_refused", "does not exist"),
        ("empty directory", "invalid_params", "neither palace.db nor chroma.sqlite3"),
        ("own", "path_refused", "outside this caller's repository"),
    ],
)
def test_what_is_no_such_database_is_refused_with_its_reason(
    world: World, tmp_path: Path, made: str, code: str, words: str
) -> None:
    root = world.brain("app")
    path = tmp_path / "palace.db"
    if made in ("newer", "damaged"):
        palace = mempal(path, 9)
        palace.connection.execute("PRAGMA user_version = 10" if made == "newer" else "PRAGMA user_version = 9")
        for number in range(200):
            palace.row(f"drawer_{number}", f"text {number} " * 50)
        palace.close()
    if made == "damaged":
        data = bytearray(path.read_bytes())
        data[4096 : len(data) // 2] = b"\xff" * (len(data) // 2 - 4096)
        path.write_bytes(bytes(data))
    if made == "other":
        connection = sqlite3.connect(path)
        connection.execute("CREATE TABLE drawers (x)")
        connection.close()
    if made == "text":
        path.write_text("no database")
    if made == "empty directory":
        path.mkdir()
    if made == "own":
        path = next(world.home.path.rglob("brain.db"))
    before = state(world, root)

    answer = world.at(root).call("memory.import", path=str(path), execute=True)

    assert answer["error"]["code"] == code, answer
    assert words in answer["error"]["message"]
    assert answer["error"]["fix"]
    assert state(world, root)[1:] == before[1:]


def test_an_agent_reads_its_own_project_only(world: World, tmp_path: Path) -> None:
    root = world.brain("app")
    path = full(tmp_path / "palace.db", 9)
    world.home.places_file.unlink()

    assert world.at(root).call("memory.import", path=path)["error"]["code"] == "path_refused"
