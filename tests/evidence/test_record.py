"""Evidence: recorded word for word, read back whole, taken away and brought back (MIND-016 to MIND-032, MIND-073 to MIND-084)."""

from pathlib import Path
from typing import Any

import pytest

from tests.support.evidence_sources import jsonl
from tests.support.world import Actor, World

VERBATIM = 'He said "naïve" 🚀 道\r\n  and left\t'


@pytest.fixture
def actor(any_world: World) -> Actor:
    return any_world.at(any_world.brain("app"))


def row(actor: Actor, text: str, **more: Any) -> dict[str, Any]:
    answer = actor.call("record", text=text, **more)
    assert answer["ok"], answer
    return actor.call("memory.get", evidence_id=answer["evidence_id"])


def texts(answer: dict[str, Any]) -> list[str]:
    return sorted(one["content"] for one in answer["results"])


@pytest.mark.req("MIND-027", "MIND-028", "MIND-073", "MIND-074", "MIND-075", "MIND-031", "MIND-032")
def test_mind_073_a_row_is_verbatim_and_says_where_it_belongs(actor: Actor) -> None:
    found = row(actor, VERBATIM, wing="app", tags=["failure"], importance=4)

    assert found["content"] == VERBATIM
    assert found["source_file"] == f"hindbrain://evidence/{found['id']}"
    told = {key: found[key] for key in ("memory_kind", "domain", "field", "wing", "room", "tags", "importance", "chunk_index")}
    assert told == {
        "memory_kind": "evidence",
        "domain": "project",
        "field": "general",
        "wing": "app",
        "room": None,
        "tags": ["failure"],
        "importance": 4,
        "chunk_index": 0,
    }
    assert (found["provenance"], found["source_type"]) == ("runtime", "manual")
    assert found["added_at"].endswith("Z")
    assert not {"statement", "tier", "status"} & set(found)
    assert actor.call("memory.search", query="naïve", floor=False)["results"][0]["content"] == VERBATIM


@pytest.mark.req("MED-155", "MED-335")
def test_med_155_an_observation_is_shown_with_who_observed_it(any_world: World) -> None:
    root = any_world.brain("app")
    codex, claude = any_world.at(root, "codex:maker"), any_world.at(root, "claude:main")
    seen = codex.call("record", text="the ferry leaves at seven")["evidence_id"]
    again = claude.call("record", text="the ferry leaves at seven")
    assert codex.call("record", text="the ferry was late", thread="t", speaker="Ann")["ok"]
    Path(root, "ferry.md").write_text("# Ferries\n\nThe ferry is a boat.\n", encoding="utf-8")
    assert codex.call("memory.ingest", path=f"{root}/ferry.md")["ok"]

    assert again["evidence_id"] == seen  # the same observation; who made it first has made it
    found = {one["content"]: one for one in claude.call("memory.search", query="ferry", floor=False)["results"]}
    told = {text: (one["source_agent"], one["recorded_by"]) for text, one in found.items()}
    assert told["the ferry leaves at seven"] == ("codex:maker", "codex:maker")
    assert told["the ferry was late"] == ("Ann", "codex:maker")
    assert {by for text, by in told.items() if "boat" in text} == {("unknown", "codex:maker")}
    beat = claude.north("when does the ferry leave")
    assert {row["evidence_id"]: row["source_agent"] for row in beat["evidence"]}[seen] == "codex:maker"
    assert "by codex:maker" in beat["rendered"]
    assert "recorded by codex:maker" in claude.call("memory.get", evidence_id=seen)["rendered"]


@pytest.mark.req("MIND-076", "MIND-032")
def test_mind_076_trust_follows_the_channel(world: World) -> None:
    root = world.brain("app")

    human = world.human(root).call("record", text="taught")
    agent = world.at(root, "human:founder").call("record", text="seen")

    assert (human["provenance"], agent["provenance"]) == ("human", "runtime")


@pytest.mark.req("MIND-032")
def test_mind_032_only_a_person_can_call_something_human(world: World) -> None:
    root = world.brain("app")
    agent, person = world.at(root, "human:founder"), world.human(root)
    log = jsonl({"type": "assistant", "sessionId": "s", "message": {"content": "I am sure"}})

    refused = [
        agent.call("record", text="taught", provenance="human"),
        agent.call("memory.ingest", text="taught", provenance="human"),
        agent.call("memory.ingest", text=log, provenance="human"),
    ]
    typed = [one.call("memory.ingest", text=f"typed by {number}")["created"][0] for number, one in enumerate((agent, person))]
    answered = person.call("record", text="as the model said", role="assistant")

    assert [one["error"]["code"] for one in refused] == ["human_needed"] * 3
    assert [agent.call("memory.get", evidence_id=one)["provenance"] for one in typed] == ["runtime", "human"]
    assert answered["provenance"] == "runtime"
    assert agent.call("memory.get", evidence_id=answered["evidence_id"])["provenance"] == "runtime"


@pytest.mark.req("MIND-022")
def test_mind_022_the_same_observation_is_one_row(actor: Actor) -> None:
    planned = actor.call("record", text="the ferry left", wing="app", room="auth", dry_run=True)
    assert actor.call("memory.list")["total"] == 0

    first = actor.call("record", text="the ferry left", wing="app", room="auth", importance=5)
    again = actor.call("record", text="the ferry left", wing="app", room="auth")
    other = actor.call("record", text="the ferry left", wing="app", room="ops")

    assert planned["evidence_id"] == first["evidence_id"] == again["evidence_id"] != other["evidence_id"]
    assert (planned["created"], first["created"], again["created"], other["created"]) == (True, True, False, True)
    assert actor.call("memory.list")["total"] == 2


@pytest.mark.req("MIND-077")
@pytest.mark.parametrize(
    "field", ["statement", "tier", "status", "scope_constraints", "trigger_hints", "supporting_refs", "verification_refs"]
)
def test_mind_077_evidence_takes_no_field_of_knowledge(world: World, field: str) -> None:
    actor = world.at(world.brain("app"))

    answer = actor.call("record", text="x", **{field: "qi"})

    assert answer["error"]["code"] == "invalid_params"
    assert field in answer["error"]["message"]
    assert actor.call("memory.list")["total"] == 0


@pytest.mark.req("MIND-079", "MIND-080", "MIND-083", "MIND-041")
def test_mind_080_tags_filter_and_contradictions_stand(actor: Actor) -> None:
    for text, tags in (("Redis is required", ["boundary"]), ("Redis is not required", [])):
        row(actor, text, wing="app", tags=tags)

    both = actor.call("memory.search", query="redis", wing="app", floor=False)
    tagged = actor.call("memory.search", query="redis", tag="boundary", floor=False)

    assert texts(both) == ["Redis is not required", "Redis is required"]
    assert [(one["content"], one["tags"]) for one in tagged["results"]] == [("Redis is required", ["boundary"])]


@pytest.mark.req("MIND-081")
def test_mind_081_every_kind_of_observation_is_evidence(world: World) -> None:
    actor = world.human(world.brain("app"))
    kinds = ("research", "runtime", "human", "runtime", "research", "research")

    for number, kind in enumerate(kinds):
        assert row(actor, f"observation {number}", provenance=kind)["provenance"] == kind

    assert actor.call("memory.list")["total"] == 6


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        ({"text": "  "}, "invalid_params"),
        ({"text": "a\x00b"}, "invalid_params"),
        ({"text": "a\ud83d"}, "invalid_params"),
        ({"text": "word " * 20_000}, "claim_too_large"),
        ({"text": "x", "domain": "team"}, "invalid_params"),
        ({"text": "x", "provenance": "web"}, "invalid_params"),
        ({"text": "x", "importance": 6}, "invalid_params"),
        ({"text": "x", "tags": ["y" * 65]}, "invalid_params"),
        ({"text": "x", "tags": [""]}, "invalid_params"),
        ({"text": "x", "wing": "a\nb"}, "invalid_params"),
        ({"text": "x", "said_at": "soon"}, "invalid_params"),
        ({"text": "x", "cwd": "/"}, "path_refused"),
        ({"text": "key ghp_" + "a1B2c3D4e5F6" * 3}, "hygiene"),
        ({"text": "x", "speaker": "ghp_" + "a1B2c3D4e5F6" * 3}, "hygiene"),
    ],
)
def test_a_wrong_observation_is_refused_and_leaves_nothing(world: World, arguments: dict[str, Any], code: str) -> None:
    actor = world.at(world.brain("app"))

    answer = actor.call("record", **arguments)

    assert answer["error"]["code"] == code
    assert actor.call("memory.list")["total"] == 0


def test_a_long_observation_is_kept_in_chunks_of_one_message(actor: Actor) -> None:
    text = "The ferry leaves the second pier at noon and comes back late. " * 40

    answer = actor.call("record", text=text)
    rows = actor.call("memory.list", newest=False)["rows"]

    assert len(answer["evidence_ids"]) == len(rows) > 2
    assert [one["chunk_index"] for one in rows] == list(range(len(rows)))
    assert len({one["message_id"] for one in rows}) == 1


def test_turns_of_a_thread_stand_in_order_and_find_each_other(actor: Actor) -> None:
    said = ["shall we book the cabin", "yes please", "which one though", "the blue one by the lake", "done", "great"]
    for number, text in enumerate(said):
        row(actor, text, thread="t", speaker="Ada", role="user", message_id=f"m{number}", said_at=1_700_000_000 + number)
    assert not actor.call("record", text=said[3], thread="t", message_id="m3")["created"], "the same message again"

    rows = actor.call("memory.list", thread="t", newest=False)["rows"]
    near = actor.call("memory.search", query="cabin", thread="t", floor=False)["results"]
    (hit,) = actor.call("memory.search", query="lake", thread="t", top_k=1, with_neighbors=True, floor=False)["results"]

    assert [one["content"] for one in rows] == said
    assert [one["position"] for one in rows] == list(range(6))
    assert {one["content"] for one in near} == set(said[:3]), "two turns around are found by it too"
    assert near[0]["content"] == said[0]
    assert hit["content"] == said[3]
    assert (hit["neighbors"]["prev"]["content"], hit["neighbors"]["next"]["content"]) == (said[2], said[4])


@pytest.mark.req("MIND-026", "MIND-249")
def test_mind_026_a_deleted_row_is_nowhere_until_it_is_restored(actor: Actor, any_world: World) -> None:
    human = any_world.human(actor.caller.root)
    for text in ("the ferry left", "zanzibar was named", "nobody asked why"):
        row(actor, text, thread="t")
    gone = actor.call("memory.list", thread="t")["rows"][1]["evidence_id"]

    assert actor.call("memory.delete", evidence_id=gone, reason="a duplicate")["deleted"]
    found = [actor.call("memory.search", query=word, floor=False)["results"] for word in ("zanzibar", "named")]
    assert found == [[], []], "nor by what its neighbours were found by"
    assert actor.call("memory.get", evidence_id=gone)["error"]["code"] == "unknown_evidence"
    assert actor.call("memory.list")["total"] == 2
    assert [one["evidence_id"] for one in actor.call("memory.list", deleted=True)["rows"]] == [gone]

    assert actor.call("memory.restore", evidence_id=gone)["restored"]
    assert len(actor.call("memory.search", query="zanzibar", floor=False)["results"]) == 3
    assert actor.call("memory.list", deleted=True)["total"] == 0

    actor.call("memory.delete", evidence_id=gone)
    assert actor.call("memory.purge")["error"]["code"] == "human_needed"
    assert human.call("memory.purge")["purged"] == 1
    assert actor.call("memory.restore", evidence_id=gone)["error"]["code"] == "unknown_evidence"
    assert actor.call("memory.delete", evidence_id="ev_0")["error"]["code"] == "unknown_evidence"
    assert actor.call("ledger.verify")["ok"]


def test_the_record_of_evidence_holds_nothing_to_read(world: World) -> None:
    actor = world.at(world.brain("app"))
    found = row(actor, "the harbour master is called Quimby", tags=["people"])

    (entry,) = [one for one in actor.call("ledger.show")["entries"] if one["act"] == "evidence.record"]

    assert "Quimby" not in str(entry)
    assert found["id"] not in str(entry)
    assert entry["payload"]["rows"] == 1
