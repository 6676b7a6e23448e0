"""Memorize: what a write answers, what it refuses, and when it is in recall."""

from typing import Any

import pytest

from hindbrain.app import embedded, local_caller
from hindbrain.domain.caller import Channel
from hindbrain.domain.claim import parse
from hindbrain.settings import Settings
from tests.support.world import World, block, tree_hash


@pytest.mark.req("MED-090")
def test_med_090_a_first_write_says_what_it_left(world: World) -> None:
    x = world.brain("x", src__a_py="1\n")
    blocks = [block("One", "first", evidence=["src/a.py"]), block("Two", "second")]

    answer = world.at(x).call("memorize", node_label="Both", claims=blocks)

    path = world.file(x, "both")
    assert (answer["ok"], answer["schema"], answer["path"]) == (True, "m1nd-memorize-v0", str(path))
    assert answer["bytes_written"] == path.stat().st_size
    assert (answer["claims_written"], answer["ingested"], answer["tier"], answer["origin_brain"]) == (2, True, "project", x)
    assert (answer["light_evidence_resolved"], answer["light_evidence_unresolved"]) == (1, 0)
    health = world.at(x).call("health")
    assert (answer["node_count"], answer["edge_count"]) == (health["node_count"], health["edge_count"])
    assert answer["next_action"]
    assert "Both" in answer["rendered"]
    assert not answer.get("superseded")
    assert world.at(x).call("memorize", node_label="Both", claims=blocks)["superseded"] is True


@pytest.mark.req("MED-090")
def test_med_090_who_writes_over_another_is_told_whose_it_was_and_what_it_cited(world: World) -> None:
    x = world.brain("x", src__a_py="1\n")
    first = world.at(x, "claude:main").memorize("Port", "It is 8080.", evidence=["src/a.py"])
    bare = world.at(x, "codex:maker").memorize("Port", "It is 9090.")
    again = world.at(x, "claude:main").memorize("Port", "It is 7070.")

    assert world.at(x).call("memorize", node_label="Port")["error"]["message"] == "neither text nor claims: say what is believed"
    assert "takes the place" not in first["rendered"]
    assert "It takes the place of what claude:main wrote, which cited evidence; this cites none." in bare["rendered"]
    assert "It takes the place of what codex:maker wrote; `hindbrain history` has both." in again["rendered"]


@pytest.mark.req("MED-091", "MED-092")
@pytest.mark.parametrize(
    ("arguments", "field"),
    [
        ({"node_label": "L", "claims": []}, "claims"),
        ({"node_label": "L"}, "claims"),
        ({"node_label": "L", "claims": [{"text": "no label"}]}, "label"),
        ({"node_label": "L", "claims": [{"label": " "}]}, "label"),
        ({"text": "t"}, "node_label"),
        ({"node_label": "  ", "text": "t"}, "node_label"),
        ({"node_label": 7, "text": "t"}, "node_label"),
        ({"node_label": "L", "text": "t", "output_path": "/elsewhere/x.md"}, "output_path"),
        ({"node_label": "L", "claims": [{"label": "a", "path": "/elsewhere"}]}, "path"),
        ({"node_label": "L", "text": "t", "tier": "all-brains"}, "tier"),
    ],
)
def test_med_091_what_is_missing_or_unknown_is_named(world: World, arguments: dict[str, Any], field: str) -> None:
    x = world.brain("x")

    answer = world.at(x).call("memorize", **arguments)

    assert answer["error"]["code"] == "invalid_params"
    assert field in answer["error"]["message"]
    assert not world.store(x).exists()


@pytest.mark.req("MED-092")
@pytest.mark.parametrize("label", ["../../escape", "/etc/passwd", "a/b", ".hidden", "x\\..\\y", "%2e%2e%2fz"])
def test_med_092_a_label_never_chooses_the_directory(world: World, label: str) -> None:
    x = world.brain("x")

    answer = world.at(x).memorize(label)

    assert answer["path"] == str(world.file(x, answer["slug"]))
    assert [path.name for path in world.store(x).glob("*.light.md")] == [f"{answer['slug']}.light.md"]
    assert list(world.place.rglob("*.light.md")) == [world.file(x, answer["slug"])]


@pytest.mark.req("MED-038")
def test_med_038_the_agent_of_the_call_wins_over_the_agent_of_the_environment(world: World) -> None:
    x = world.brain("x")
    world.close()
    caller = local_caller(root=x, agent=None, channel=Channel.AGENT, environ={"HINDBRAIN_AGENT_ID": "codex:maker"})
    with embedded(world.home, Settings({}), caller, clock=world.clock) as session:
        for label, more in (("One", {}), ("Two", {"agent_id": "x"}), ("Three", {"agent_id": "Free form! ünicode"})):
            assert session.call("memorize", node_label=label, text="t", **more)["ok"] is True

    agents = [parse(world.file(x, slug).read_text()).source_agent for slug in ("one", "two", "three")]
    assert agents == ["codex:maker", "x", "Free form! ünicode"]


@pytest.mark.req("MED-101")
def test_med_101_a_new_version_is_recalled_at_once_and_the_old_one_is_gone(world: World) -> None:
    x = world.brain("x")
    actor = world.at(x)
    actor.call("memorize", node_label="Label", claims=[block("Aardvark", "the aardvark version"), block("Kept")])
    nodes = actor.call("health")["node_count"]
    assert [row["slug"] for row in actor.seek("aardvark")["results"]] == ["label"]

    actor.call("memorize", node_label="Label", claims=[block("Kept", "the badger version")])

    assert actor.seek("aardvark")["results"] == []
    assert [row["text"] for row in actor.seek("badger")["results"]] == ["the badger version"]
    assert actor.call("health")["node_count"] < nodes


@pytest.mark.req("MED-102")
@pytest.mark.parametrize("by", ["ingest", "load"])
def test_med_102_a_write_without_ingest_enters_recall_later(world: World, by: str) -> None:
    x = world.brain("x")

    answer = world.at(x).memorize("Later", "an aardvark for later", ingest_after=False)

    assert answer["ingested"] is False
    assert world.file(x, "later").exists()
    assert world.at(x).seek("aardvark")["results"] == []
    if by == "ingest":
        assert world.at(x).call("ingest", path=str(world.store(x)), adapter="light", mode="merge")["ok"] is True
    else:
        world.restart()
    assert [row["slug"] for row in world.at(x).seek("aardvark")["results"]] == ["later"]


@pytest.mark.req("MED-103")
def test_med_103_unresolved_evidence_is_told_with_what_to_do(world: World) -> None:
    x = world.brain("x", src__a_py="1\n")

    answer = world.at(x).memorize("Cited", evidence=["nope.py", "src/a.py"])

    assert (answer["light_evidence_resolved"], answer["light_evidence_unresolved"]) == (1, 1)
    assert "ingest" in answer["next_action"]
    assert "repository-relative" in answer["next_action"]


@pytest.mark.req("MED-104")
@pytest.mark.parametrize("tier", [None, "medulla"])
def test_med_104_a_secret_is_refused_before_anything_is_written(world: World, tier: str | None) -> None:
    x = world.brain("x")
    world.human(x).memorize("Doctrine", tier="medulla")
    before = tree_hash(world.home.brains_dir, world.home.medulla_dir)

    answer = world.at(x).call("memorize", node_label="Db", text="use postgres://u:secret@h/db for it", tier=tier)

    assert (answer["ok"], answer["refused"], answer["pattern_class"]) == (False, "hygiene", "credentialed_url")
    assert "secret" not in str(answer["reason"])
    assert answer["bytes_written"] == 0
    assert tree_hash(world.home.brains_dir, world.home.medulla_dir) == before


@pytest.mark.req("MED-107")
def test_med_107_a_doctrine_birth_reports_how_full_the_medulla_is(world: World) -> None:
    x = world.brain("x")
    store = world.store(None)
    store.mkdir(parents=True)
    for number in range(199):
        text = f"---\nProtocol: L1GHT/1.0\nNode: D {number}\nState: authored\n---\n\nd {number}\n\n[⍂ entity: D {number}]\n"
        (store / f"d-{number}.light.md").write_text(text)
    assert world.at(x).call("ingest", path=str(store), adapter="light")["files_loaded"] == 199

    answers = [world.human(x).memorize(f"Doctrine {number}", tier="medulla") for number in range(2)]

    assert [(one["medulla_claim_count"], one["over_soft_cap"]) for one in answers] == [(200, False), (201, True)]
    assert (answers[0]["soft_cap"], answers[0]["warn_at"]) == (200, 300)


CLAIM = "---\nProtocol: L1GHT/1.0\nNode: {name}\nState: authored\n{created}---\n\naardvark {name}\n\n[⍂ entity: {name}]\n"


@pytest.mark.req("MED-106")
def test_med_106_a_load_cap_keeps_the_newest_and_those_without_a_stamp_and_names_the_rest(world: World) -> None:
    world.restart(memory_load_cap=2)
    x = world.brain("x")
    world.store(x).mkdir(parents=True)
    for name, created in (("a", 1000), ("b", 4000), ("c", 2000), ("d", 3000), ("legacy", None)):
        stamp = f"Created: {created}\n" if created else ""
        world.file(x, name).write_text(CLAIM.format(name=name, created=stamp))

    for _ in range(2):
        assert {row["slug"] for row in world.at(x).seek("aardvark")["results"]} == {"b", "legacy"}
        told = [one["text"] for one in world.at(x).call("doctor")["warnings"] if one["kind"] == "capped_out"]
        assert sorted(text.split("#")[-1].split(": ")[1].split()[0] for text in told) == ["a", "c", "d"]
        (world.store(x) / "notes.md").write_text("the directory changes, the claims do not")


@pytest.mark.req("MED-106")
def test_med_106_without_a_cap_a_restart_loads_every_file(world: World) -> None:
    x = world.brain("x")
    world.store(x).mkdir(parents=True)
    for number in range(5):
        world.file(x, f"n{number}").write_text(CLAIM.format(name=f"n{number}", created=f"Created: {number}\n"))
    world.restart()

    assert len(world.at(x).seek("aardvark")["results"]) == 5
    assert world.at(x).call("doctor")["warnings"] == []
