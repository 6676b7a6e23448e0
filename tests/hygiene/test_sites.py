"""Where the floor runs: memorize, doctrine, boot memory, promote, and the claim files themselves."""

import hashlib
import json
from pathlib import Path
from typing import Any

import pytest

from tests.hygiene.texts import CLASSES, lines, secret
from tests.promotion.test_promote import promote
from tests.support.light import light_file
from tests.support.owner import Starter
from tests.support.world import World, tree_hash

TOKEN = secret("github_token")
TAIL = TOKEN[-30:]


def everything(*places: Path) -> bytes:
    """Every byte of every file, names included: databases, logs and ledgers too."""
    return b"".join(str(p).encode() + p.read_bytes() for place in places for p in place.rglob("*") if p.is_file())


@pytest.mark.req("MED-284")
@pytest.mark.parametrize("name", CLASSES)
def test_med_284_every_writing_site_refuses_every_class(world: World, name: str) -> None:
    x = world.brain("x")
    world.at(x).memorize("Other")
    text = lines(name, "refused")[0]
    (world.store(x) / "by-hand.light.md").write_text(light_file("By hand", text), encoding="utf-8")
    actor = world.at(x)

    refusals = {
        "memorize": actor.call("memorize", node_label="Bad", text=text),
        "doctrine": actor.call("memorize", node_label="Bad", text=text, tier="medulla"),
        "boot": actor.call("boot_memory", action="set", key="bad", value=text),
    }
    by_promotion = promote(world, x, "by-hand")["error"]

    for answer in refusals.values():
        assert (answer["ok"], answer["refused"], answer["pattern_class"]) == (False, "hygiene", name)
    if name == "conflict_marker":
        assert by_promotion["code"] == "unknown_claim", "the fourth site kept the file out already"
        assert world.at(x).seek("by hand")["results"] == []
    else:
        assert (by_promotion["code"], by_promotion["pattern_class"]) == ("hygiene", name)
    assert not list(world.store(None).glob("*.light.md"))


@pytest.mark.req("MED-165")
@pytest.mark.parametrize("where", ["text", "frontmatter", "evidence"])
def test_med_165_promote_looks_at_the_whole_file_and_writes_nothing(world: World, where: str) -> None:
    x = world.brain("x")
    world.at(x).memorize("Other")
    files = {
        "text": light_file("Port", f"Use {TOKEN} here."),
        "frontmatter": light_file("Port", "Fine.", Note=TOKEN),
        "evidence": light_file("Port", "Fine.", evidence=(f"src/{TOKEN}",)),
    }
    (world.store(x) / "port.light.md").write_text(files[where], encoding="utf-8")
    before = tree_hash(world.store(x))

    error = promote(world, x, "port")["error"]

    assert (error["code"], error["pattern_class"], error["site"]) == ("hygiene", "github_token", "promote")
    assert files[where].split("\n")[error["line"] - 1].count(TOKEN) == 1
    assert not list(world.store(None).glob("*.light.md"))
    assert tree_hash(world.store(x)) == before


@pytest.mark.req("MED-285", "MED-286")
def test_med_285_a_refusal_names_class_line_and_site_and_never_the_secret(world: World) -> None:
    x = world.brain("x")
    world.at(x).memorize("Other")
    before = tree_hash(world.store(x), leave=())
    graph = world.at(x).call("health")["binding_fingerprint"]

    answer = world.at(x).call("memorize", node_label="Push", text=f"To push:\nuse {TOKEN}\nplease.")

    assert (answer["pattern_class"], answer["line"], answer["site"]) == ("github_token", 2, "memorize")
    assert (answer["bytes_written"], answer["claims_written"], answer["ingested"]) == (0, 0, False)
    assert TAIL not in json.dumps(answer)
    assert tree_hash(world.store(x), leave=()) == before, "no file, no lock, nothing"
    assert world.at(x).call("health")["binding_fingerprint"] == graph
    world.close()
    assert TAIL.encode() not in everything(world.home.path)


@pytest.mark.req("MED-285")
def test_med_285_nor_does_the_log_of_an_owner(starter: Starter, tmp_path: Path) -> None:
    home, root = tmp_path / "home", tmp_path.resolve() / "repo"
    root.mkdir()
    running = starter(home)
    running.call("ingest", path=str(root), project_root=str(root), root=root)

    answer = running.post("memorize", {"node_label": "Push", "text": TOKEN}, hindbrain_caller_root=str(root))

    running.process.terminate()
    running.wait()
    assert answer.json["refused"] == "hygiene"
    assert TAIL not in answer.body.decode()
    assert TAIL.encode() not in everything(home)


def one_block(**more: Any) -> dict[str, Any]:
    return {"node_label": "Push", "claims": [{"label": "Push", "text": "fine", **more}]}


FIELDS: dict[str, dict[str, Any]] = {
    "text": {"node_label": "Push", "text": TOKEN},
    "label": {"node_label": f"Push {TOKEN}", "text": "fine"},
    "title": {"node_label": "Push", "text": "fine", "title": TOKEN},
    "state": {"node_label": "Push", "text": "fine", "state": TOKEN},
    "evidence": {"node_label": "Push", "text": "fine", "evidence": [f"src/{TOKEN}"]},
    "absolute evidence": {"node_label": "Push", "text": "fine", "evidence": [f"/{TOKEN}"]},
    "confidence": {"node_label": "Push", "text": "fine", "confidence": TOKEN},
    "block label": one_block(label=f"Push {TOKEN}"),
    "block text": one_block(text=TOKEN),
    "block evidence": one_block(evidence=[f"src/{TOKEN}"]),
    "depends_on": one_block(depends_on=[TOKEN]),
    "agent": {"node_label": "Push", "text": "fine", "agent_id": f"codex:{TOKEN}"},
}


@pytest.mark.req("MED-290", "MED-285", "MED-286")
@pytest.mark.parametrize("field", FIELDS)
def test_med_290_every_field_a_caller_writes_is_scanned(world: World, field: str) -> None:
    x = world.brain("x")

    answer = world.at(x).call("memorize", **FIELDS[field])

    assert (answer["refused"], answer["pattern_class"]) == ("hygiene", "github_token")
    assert TAIL not in json.dumps(answer)
    assert not list(world.store(x).glob("*.light.md"))
    world.close()
    assert TAIL.encode() not in everything(world.home.path)


@pytest.mark.req("MED-290")
@pytest.mark.parametrize("field", ["reason", "agent_id"])
def test_med_290_reason_and_promoter_are_scanned_too(world: World, field: str) -> None:
    x = world.brain("x")
    world.at(x).memorize("Port")

    error = promote(world, x, "port", **{field: f"codex:{TOKEN}"})["error"]

    assert (error["code"], error["pattern_class"]) == ("hygiene", "github_token")
    world.close()
    assert TAIL.encode() not in everything(world.home.path)


@pytest.mark.req("MED-292")
def test_med_292_a_file_with_a_marker_is_kept_out_and_reported(world: World) -> None:
    x = world.brain("x")
    world.store(x).mkdir(exist_ok=True)
    for name in ("one", "two"):
        (world.store(x) / f"{name}.light.md").write_text(light_file(name, "A lantern."), encoding="utf-8")
    bad = world.store(x) / "three.light.md"
    bad.write_text(light_file("three", "A lantern.\n>>>>>>> branch"), encoding="utf-8")

    answer = world.at(x).call("ingest", path=x, adapter="light")

    assert answer["files_loaded"] == 2
    assert answer["refused"] == [{"path": str(bad), "reason": "conflict_marker"}]
    assert sorted(row["slug"] for row in world.at(x).seek("lantern")["results"]) == ["one", "two"]
    world.clock.forward(1000)
    again = world.at(x).call("ingest", path=x, adapter="light")
    assert (again["files_loaded"], len(again["refused"])) == (0, 1)


@pytest.mark.req("MED-294")
@pytest.mark.parametrize("tier", ["project", "medulla"])
def test_med_294_doctor_lists_findings_by_path_and_class_and_changes_nothing(world: World, tier: str) -> None:
    x = world.brain("x")
    world.at(x).memorize("Other", tier="medulla")
    world.at(x).memorize("Other")
    bad = world.store(x if tier == "project" else None) / "bad.light.md"
    bad.write_text(light_file("Bad", f"first\n{TOKEN}"), encoding="utf-8")
    world.at(x).north("bad")
    before = tree_hash(world.home.path)

    answer = world.at(x).call("doctor", scan=True)

    line = bad.read_text(encoding="utf-8").split("\n").index(TOKEN) + 1
    assert answer["findings"][0] == {"path": str(bad), "pattern_class": "github_token", "line": line}
    assert {(one["path"], one["line"]) for one in answer["findings"]} == {(str(bad), line)}
    assert TAIL not in json.dumps(answer)
    assert tree_hash(world.home.path) == before
    assert world.at(x).call("doctor")["findings"] == [], "only with scan"


@pytest.mark.req("MED-294")
def test_med_294_doctor_scans_the_spool_and_every_box_and_changes_nothing(world: World) -> None:
    x, brainless = world.brain("x"), world.repository("brainless")
    world.at(x).memorize("Other", tier="medulla")
    escaped = json.dumps({"what": "found", "snippet": TOKEN}).replace("ghp", "\\u0067hp")
    files = [
        world.home.field_reports_file,
        world.home.medulla_box,
        *(Path(root, ".hindbrain", "inbox.jsonl") for root in (x, brainless)),
    ]
    for path in files:
        path.parent.mkdir(exist_ok=True)
        path.write_text(f'{{"what": "harmless"}}\n{escaped}\n{{broken {TOKEN}\n', encoding="utf-8")
    planted = world.repository("planted")
    Path(planted, ".hindbrain").mkdir()
    Path(planted, ".hindbrain", "inbox.jsonl").symlink_to(files[0])
    before = tree_hash(world.place)

    answer = world.at(brainless).call("doctor", scan=True)
    linked = world.at(planted).call("doctor", scan=True)

    found = {(one["path"], one["line"]) for one in answer["findings"]}
    assert found == {(str(path), line) for path in files for line in (2, 3)}
    tokens = [one for one in answer["findings"] if one["pattern_class"] == "github_token"]
    assert len(tokens) == len(found)
    assert all(f"{path}: line 2 looks like github_token" in answer["rendered"] for path in files)
    assert planted not in str(linked["findings"]), "no link is followed"
    assert TAIL not in json.dumps(answer)
    assert tree_hash(world.place) == before


def allow(world: World, root: str, *texts: str) -> None:
    marks = {hashlib.sha256(text.encode()).hexdigest(): "a test vector, not a key" for text in texts}
    (world.store(root).parent / "hygiene_allow.json").write_text(json.dumps(marks), encoding="utf-8")


@pytest.mark.req("MED-295")
def test_med_295_one_exact_text_can_be_let_through_and_never_to_the_medulla(world: World) -> None:
    x, y = world.brain("x"), world.brain("y")
    vector = secret("high_entropy")
    allow(world, x, vector)

    taken = world.at(x).call("memorize", node_label="Vector", text=vector)
    other_text = world.at(x).call("memorize", node_label="Vector 2", text=vector + "x")
    elsewhere = world.at(y).call("memorize", node_label="Vector", text=vector)
    doctrine = world.at(x).call("memorize", node_label="Vector", text=vector, tier="medulla")
    shared = promote(world, x, "vector")

    assert taken["ok"] is True
    assert [one["refused"] for one in (other_text, elsewhere, doctrine)] == ["hygiene"] * 3
    assert shared["error"]["code"] == "hygiene"


@pytest.mark.req("MED-295")
def test_med_295_a_private_key_is_never_let_through_nor_a_mark_without_a_reason(world: World) -> None:
    x = world.brain("x")
    key, vector = secret("private_key"), secret("high_entropy")
    allow(world, x, key)
    assert world.at(x).call("memorize", node_label="Key", text=key)["refused"] == "hygiene"

    mark = hashlib.sha256(vector.encode()).hexdigest()
    (world.store(x).parent / "hygiene_allow.json").write_text(json.dumps({mark: ""}), encoding="utf-8")
    assert world.at(x).call("memorize", node_label="Vector", text=vector)["refused"] == "hygiene"
