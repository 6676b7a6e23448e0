"""Secrets that arrive by file (a clone, an editor, a box, a document) are not served, and are named without their text."""

import json
from pathlib import Path
from typing import Any

import pytest

from tests.hygiene.texts import secret
from tests.support.light import light_file
from tests.support.world import World

TOKEN = secret("github_token")
TAIL = TOKEN[-30:]


def stored(place: Path, leave: Path) -> list[str]:
    """Files of the home that hold the secret, besides the one that brought it."""
    files = [path for path in place.rglob("*") if path.is_file() and path != leave]
    return [str(path.relative_to(place)) for path in files if TAIL.encode() in path.read_bytes()]


def answers(world: World, root: str) -> list[dict[str, Any]]:
    actor = world.at(root)
    return [
        actor.north("push the branch"),
        actor.seek("push with the token"),
        actor.call("claims"),
        actor.call("memory.search", query="push token"),
        actor.call("context", task="push the branch"),
        actor.call("status"),
        actor.call("doctor"),
        actor.call("activate", query="push"),
        actor.call("overview"),
        actor.call("health"),
    ]


@pytest.mark.parametrize("where", ["repository", "home"])
def test_a_claim_file_with_a_secret_is_kept_out_and_comes_back(world: World, where: str) -> None:
    root = world.repository("a")
    if where == "repository":
        assert world.human(root).call("init", path=root)["ok"]
        store = Path(root, ".hindbrain", "agent-memory")
    else:
        world.brain("a")
        store = world.store(root)
    world.at(root).memorize("Other", "Branches are pushed after the tests.")
    store.mkdir(parents=True, exist_ok=True)
    file = store / "push.light.md"
    file.write_text(light_file("Push", f"Push with the token {TOKEN} after review."), encoding="utf-8")

    shown = answers(world, root)

    assert TAIL not in json.dumps(shown)
    assert any(one["kind"] == "secret_in_file" and str(file) in one["text"] for one in shown[0]["honest_gaps"])
    assert any(one["kind"] == "secret_in_file" and "rotate" in str(one["fix"]) for one in shown[6]["warnings"])
    assert [row["slug"] for row in shown[2]["claims"]] == ["other"]
    world.close()
    assert stored(world.place, file) == []

    file.write_text(light_file("Push", "Push with the token of the vault after review."), encoding="utf-8")
    row = world.at(root).seek("push with the token")["results"][0]
    assert row["slug"] == "push"
    assert not [one for one in world.at(root).call("doctor")["warnings"] if one["kind"] == "secret_in_file"]


def test_a_claim_that_is_edited_to_hold_a_secret_goes_and_comes_back(world: World) -> None:
    root = world.brain("a")
    world.at(root).memorize("Push", "Push with the token of the vault.")
    file = world.file(root, "push")
    clean = file.read_text(encoding="utf-8")
    file.write_text(clean.replace("of the vault", TOKEN), encoding="utf-8")

    assert TAIL not in json.dumps(answers(world, root))
    world.close()
    assert stored(world.place, file) == []

    file.write_text(clean, encoding="utf-8")
    assert world.at(root).seek("push with the token")["results"][0]["slug"] == "push"


def test_a_letter_with_a_secret_in_a_box_of_a_clone_is_withheld(world: World) -> None:
    root = world.repository("a")
    assert world.human(root).call("init", path=root)["ok"]
    letter = {
        "ts": "2026-07-01T10:00:00Z",
        "agent": "human:founder",
        "class": "bug",
        "repo": root,
        "what": f"push fails with {TOKEN}",
    }
    Path(root, ".hindbrain", "inbox.jsonl").write_text(json.dumps(letter) + "\n", encoding="utf-8")

    shown = world.at(root).call("mailbox.show")

    assert TAIL not in json.dumps(shown)
    assert shown["letters"][0]["flagged"] == "hygiene"


@pytest.mark.parametrize("adapter", ["light", "universal", "memory", "auto"])
def test_a_document_with_a_secret_is_not_ingested(world: World, adapter: str) -> None:
    root = world.brain("a")
    docs = Path(root, "docs")
    docs.mkdir()
    text = f"# Push\n\n- TODO: push with {TOKEN}\n\nThe push uses {TOKEN} today.\n"
    (docs / "notes.md").write_text(light_file("Push", text) if adapter == "light" else text, encoding="utf-8")
    (docs / "clean.md").write_text("# Review\n\n- TODO: review the push\n", encoding="utf-8")

    done = world.at(root).call("ingest", path=str(docs), adapter=adapter)

    assert done["ok"], done
    refused = (done.get("ingest") or done)["refused"]
    assert [(Path(one["path"]).name, one["reason"].split(":")[0]) for one in refused] == [("notes.md", "hygiene")]
    world.close()
    assert stored(world.place, docs / "notes.md") == []
