"""Fire around evidence and its vectors: no model, no runtime for it, no room, no power; nothing left of what was forgotten."""

import json
import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.support.fire_brain import Caller, Planted, answers, copied, drop, every_token, plant
from tests.support.world import World

_CHILD = """
import json, os, resource, signal, sys
from pathlib import Path
from hindbrain.app import embedded, local_caller
from hindbrain.domain.caller import Channel
from hindbrain.settings import Settings
from hindbrain.stores.home import Home

home, root, room, kill, calls = sys.argv[1:6]
caller = local_caller(root=root, agent="child:maker", channel=Channel.AGENT, environ={})
session = embedded(Home(Path(home)), Settings({}), caller)
session.call("north")
if int(room):
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)  # a file that may not grow is a disk without room
    resource.setrlimit(resource.RLIMIT_FSIZE, (int(room), int(room)))
def progress(done, total, text):
    if int(kill) and done >= int(kill):
        os.kill(os.getpid(), signal.SIGKILL)
for operation, arguments in json.loads(calls):
    print(json.dumps(session.app.call(operation, arguments, caller=caller, progress=progress)), flush=True)
os._exit(0)
"""


def child(
    world: World, root: str, *calls: tuple[str, dict[str, Any]], room: int = 0, kill: int = 0, path: Path | None = None
) -> tuple[int, list[dict[str, Any]]]:
    """Another process on the same home, with little room, or killed -9 at so many done; `path` is put before its imports."""
    paths = [str(path)] if path else []
    done = subprocess.run(
        [sys.executable, "-c", _CHILD, str(world.home.path), root, str(room), str(kill), json.dumps(calls)],
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
        env={**os.environ, "PYTHONPATH": os.pathsep.join([*paths, str(Path(__file__).resolve().parents[2])])},
    )
    return done.returncode, [json.loads(line) for line in done.stdout.splitlines()]


@pytest.fixture(scope="module")
def planted(tmp_path_factory: pytest.TempPathFactory) -> Planted:
    return plant(tmp_path_factory.mktemp("planted"))


@pytest.fixture
def copy(planted: Planted, tmp_path: Path) -> Iterator[World]:
    made = copied(planted, tmp_path)
    yield made
    made.close()


def caller(world: World, planted: Planted) -> Caller:
    return lambda operation, **arguments: world.at(planted.root).call(operation, **arguments)


def kinds(answer: dict[str, Any]) -> set[str]:
    return {gap["kind"] for gap in answer["honest_gaps"]}


# -- the model -----------------------------------------------------------------------------------------------------------


@pytest.mark.req("MIND-229")
@pytest.mark.parametrize("harm", ["deleted", "damaged"])
def test_without_its_model_memory_is_found_by_words_and_says_so(copy: World, planted: Planted, tmp_path: Path, harm: str) -> None:
    call = caller(copy, planted)
    before = answers(call)
    assert call("memory.search", query="lock of the queue")["embeddings_used"], "the control: with it, meaning is asked"
    copy.close()
    models, kept = copy.home.path / "models", tmp_path / "kept"
    shutil.copytree(models, kept)
    if harm == "deleted":
        shutil.rmtree(models)
    else:
        victim = next(models.glob("*/model.int8.onnx"))
        victim.write_bytes(victim.read_bytes()[:-9])

    found = call("memory.search", query="lock of the queue")

    assert not found["embeddings_used"]
    assert kinds(found) == {"no_meaning"}
    assert "no_meaning" in kinds(call("seek", query="worker retries queue"))
    every_token(call, planted)
    assert call("memorize", node_label="Written by words", text="a claim without a model")["ok"]
    assert call("record", text="an observation without a model", source="here")["ok"]
    told = call("doctor")
    if harm == "deleted":
        assert (told["status"], [one["kind"] for one in told["notes"]]) == ("ok", ["no_model"])
    else:
        assert [one["kind"] for one in told["warnings"]] == ["model_damaged"]
    assert not call("model.embed")["ok"]
    copy.close()
    shutil.rmtree(models, ignore_errors=True)
    shutil.copytree(kept, models)
    assert call("model.embed")["pending"] == 0
    again = call("memory.search", query="lock of the queue")
    assert again["embeddings_used"]
    assert {row["id"] for row in again["results"]} >= {key for key, _ in before["memory.search"]}


def test_without_the_runtime_of_the_model_words_answer_and_writes_succeed(copy: World, planted: Planted, tmp_path: Path) -> None:
    (tmp_path / "without").mkdir()
    (tmp_path / "without" / "sitecustomize.py").write_text(
        "import sys\n"
        "class Refuse:\n"
        "    def find_spec(self, name, path=None, target=None):\n"
        "        if name.split('.')[0] == 'onnxruntime':\n"
        "            raise ImportError('onnxruntime was taken away')\n"
        "sys.meta_path.insert(0, Refuse())\n"
    )
    calls: tuple[tuple[str, dict[str, Any]], ...] = (
        ("memory.search", {"query": "lock of the queue"}),
        ("record", {"text": "kept without a runtime", "source": "here"}),
        ("memorize", {"node_label": "Kept", "text": "kept without a runtime"}),
        ("model.embed", {}),
    )

    code, (found, recorded, written, embedded) = child(copy, planted.root, *calls, path=tmp_path / "without")

    assert code == 0
    assert found["results"]
    assert not found["embeddings_used"]
    assert kinds(found) == {"no_meaning"}
    assert recorded["ok"]
    assert written["ok"]
    assert not embedded["ok"]
    assert embedded["error"]["fix"]
    _, (control, *_rest) = child(copy, planted.root, *calls)
    assert control["embeddings_used"]


# -- no room, no power ---------------------------------------------------------------------------------------------------


def test_embedding_on_a_full_disk_is_told_and_completes_later(copy: World, planted: Planted) -> None:
    call = caller(copy, planted)
    before = answers(call)
    copy.close()
    drop(planted.file(copy, "vectors.db"))
    asking = ("memory.search", {"query": "lock of the queue"})

    code, (full, found) = child(copy, planted.root, ("model.embed", {}), asking, room=16_384)

    assert code == 0
    assert full["error"]["code"] == "store_unavailable"
    assert full["error"]["fix"]
    assert {row["id"] for row in found["results"]} == {key for key, _ in before["memory.search"]}
    assert kinds(found) & {"no_meaning", "vectors_lag"}
    every_token(call, planted)
    assert call("model.embed")["pending"] == 0
    assert answers(call) == before


def test_a_killed_embedding_leaves_everything_whole_and_goes_on(copy: World, planted: Planted) -> None:
    call = caller(copy, planted)
    before = answers(call)
    copy.close()
    drop(planted.file(copy, "vectors.db"))

    code, told = child(copy, planted.root, ("model.embed", {}), kill=1)

    assert (code, told) == (-signal.SIGKILL, [])
    assert call("doctor", scan=True)["status"] in ("ok", "warn")
    assert call("model.embed")["pending"] == 0
    assert answers(call) == before
    assert call("doctor", scan=True)["status"] == "ok"


# -- what was forgotten --------------------------------------------------------------------------------------------------


def holding(world: World, word: str) -> list[str]:
    raw = word.encode()
    return sorted(
        str(path.relative_to(world.home.path))
        for path in world.home.path.rglob("*")
        if raw in path.name.encode() or (path.is_file() and raw in path.read_bytes())
    )


@pytest.mark.req("CONF-14")
@pytest.mark.parametrize("while_open", [True, False])
def test_conf_14_a_forgotten_claim_and_row_are_in_no_file_of_the_brain(copy: World, planted: Planted, while_open: bool) -> None:
    word, sibling = "qzxforgotten", "qzxsibling"
    call, human = caller(copy, planted), copy.human(planted.root)
    for one in (word, sibling):
        assert call("memorize", node_label=f"The {one} vault", text=f"the {one} vault opens with seven turns")["ok"]
        assert call("record", text=f"somebody saw the {one} vault", source=f"{one}.log")["ok"]
    assert call("model.embed")["pending"] == 0
    near = call("activate", query=f"{word} vault")["activated"]
    assert any(word in row["node_id"] for row in near)
    assert call("learn", feedback="correct", query=f"{word} vault", node_ids=[row["node_id"] for row in near[:3]])["ok"]
    there = " ".join(holding(copy, word))
    assert all(name in there for name in ("brain.db", "index.db", ".light.md")), "the control: it was there"
    assert planted.file(copy, "learned.db").is_file()
    assert "learned.db" not in there, "what use teaches names code only, so that a claim can be forgotten"
    (row,) = [one for one in call("memory.list", limit=50)["rows"] if word in one["content"]]

    assert human.call("forget", claim=f"The {word} vault", reason="private")["ok"]
    assert human.call("forget", claim=row["evidence_id"], reason="private")["ok"]
    if not while_open:
        copy.close()

    assert holding(copy, word) == []
    assert holding(copy, sibling)
    assert word not in json.dumps(call("memory.search", query=f"{sibling} vault")["results"])
    assert sibling in json.dumps(call("memory.search", query=f"{sibling} vault")["results"])
