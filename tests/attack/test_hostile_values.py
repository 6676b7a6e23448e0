"""Values that some part downstream cannot hold: each is refused by its code or understood, none becomes a defect."""

import io
import json
import os
import tarfile
from pathlib import Path
from queue import Queue
from threading import Thread
from typing import Any

import pytest

from hindbrain.operations import REGISTRY, describe
from tests.support.world import World

LIGHT = "---\nProtocol: L1GHT/1.0\nNode: {label}\n{more}---\n\n# {label}\n\n## {label}\n\n{text}\n\n[⍂ entity: {label}]\n"
HOSTILE: list[Any] = [
    "\ud800",
    "/r\udcff",
    2**63,
    -(2**64),
    "9" * 400,
    "²",
    "\x00",
    ["\udc80"],
    {"\ud800": 1},
    [[]],
    float("nan"),
]


# What would else be carried out once for every value.
CHEAP: dict[str, dict[str, Any]] = {"gym.run": {"fixture": ["nothing"]}}


def archive(world: World, **members: str) -> str:
    path = world.place / "sent.tar.gz"
    with tarfile.open(path, "w:gz") as tar:
        for name, text in members.items():
            member = tarfile.TarInfo(name)
            member.size = len(data := text.encode())
            tar.addfile(member, io.BytesIO(data))
    return str(path)


@pytest.mark.parametrize("name", sorted(set(REGISTRY) - {"export"}))
def test_no_value_of_any_argument_is_a_defect(world: World, name: str) -> None:
    root = world.brain("y")
    schema = describe(REGISTRY[name])["schema"]
    given = dict.fromkeys(schema.get("required", ()), "claim")
    given |= CHEAP.get(name, {})
    given |= {"wait_s": 0} if "wait_s" in schema["properties"] else {}  # what is begun need not end here
    actor = world.human(root) if REGISTRY[name].human else world.at(root)

    for argument in schema["properties"]:
        for value in HOSTILE:
            assert "ok" in actor.call(name, **given | {argument: value})


@pytest.mark.req("MED-037")
def test_a_birth_beyond_every_calendar_silences_nobody(world: World) -> None:
    x, y = world.brain("x"), world.brain("y")
    world.at(x).memorize("first", "there is a directory now")
    beyond = "Created: 999999999999999999\nOrigin-Created: 999999999999999999\n"
    world.file(x, "forged").write_text(LIGHT.format(label="forged", more=beyond, text="the tide is high"), encoding="utf-8")
    assert world.at(x).call("promote", claim="forged", reason="holds everywhere")["ok"]

    beat = world.at(y).north("is the tide high")

    assert [row["slug"] for row in beat["memory"]] == ["forged"]


def test_an_export_writes_through_no_link(world: World) -> None:
    root, private = world.brain("y"), world.place / "private"
    private.write_text("mine", encoding="utf-8")
    for name in (".e.tar.gz.tmp", "e.tar.gz"):
        (world.place / name).symlink_to(private)
    (world.place / "dangling.tar.gz").symlink_to(world.place / "nowhere")

    answers = [world.human(root).call("export", target=str(world.place / name)) for name in ("e.tar.gz", "dangling.tar.gz")]
    (world.place / "e.tar.gz").unlink()
    answers.append(world.human(root).call("export", target=str(world.place / "e.tar.gz")))

    assert [one["ok"] for one in answers] == [False, False, True]
    assert private.read_text(encoding="utf-8") == "mine"
    assert not (world.place / "nowhere").exists()


def test_an_import_waits_for_no_pipe(world: World) -> None:
    root, pipe = world.brain("y"), world.place / "pipe.tar.gz"
    os.mkfifo(pipe)
    done: Queue[dict[str, Any]] = Queue()

    Thread(target=lambda: done.put(world.human(root).call("import", source=str(pipe))), daemon=True).start()

    assert done.get(timeout=20)["error"]["code"] == "invalid_params"


@pytest.mark.parametrize("entry", [f'"value": {"[" * 9999}1{"]" * 9999}', f'"updated_at_ms": 1{"0" * 30}'], ids=["deep", "late"])
def test_an_import_names_keyed_values_it_cannot_hold(world: World, entry: str) -> None:
    root = world.brain("y")

    answer = world.human(root).call("import", source=archive(world, **{"boot_memory.json": f'[{{"key": "k", {entry}}}]'}))

    assert [one["code"] for one in answer["refused"]] == ["invalid_params"]
    assert world.at(root).call("boot_memory", action="list")["entries"] == []


def test_an_import_repeats_no_endless_name(world: World) -> None:
    root = world.brain("y")

    answer = world.human(root).call("import", source=archive(world, **{f"agent-memory/{'X' * 9000}.light.md": "text"}))

    assert answer["counts"]["refused"] == 1
    assert len(json.dumps(answer)) < 2000
    assert not any("X" * 100 in path.name for path in Path(world.store(root)).rglob("*"))
