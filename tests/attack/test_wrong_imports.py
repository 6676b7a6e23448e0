"""Attack F27: every kind of import is given every kind of wrong file. Nothing of it becomes memory, and each answer says why."""

import gzip
import os
import sqlite3
from collections.abc import Callable
from pathlib import Path
from typing import get_args

import pytest

from hindbrain.operations.memory_import import KindName
from tests.attack.test_one_shape import shaped
from tests.support.world import World

KINDS = [kind for kind in get_args(KindName.__value__ if hasattr(KindName, "__value__") else KindName) if kind != "auto"]


def _database(path: Path) -> None:
    with sqlite3.connect(path) as made:
        made.execute("create table strangers (id integer, text text)")
        made.execute("insert into strangers values (1, 'sentinel words')")
    made.close()


def _torn(path: Path) -> None:
    _database(path)
    path.write_bytes(path.read_bytes()[:3000] + os.urandom(500))


def _directory(path: Path) -> None:
    path.mkdir()
    (path / "picture.md").write_bytes(b"\x89PNG\r\n\x1a\n" + b"\x00\xff" * 400)
    (path / "broken.jsonl").write_bytes(b"\xff\xfe{not json\n")
    (path / "MEMORY.md").write_bytes(b"\x00\x01\x02sentinel words" * 50)


WRONG: dict[str, Callable[[Path], object]] = {
    "binary": lambda path: path.write_bytes(bytes(range(256)) * 64),
    "picture.md": lambda path: path.write_bytes(b"\x89PNG\r\n\x1a\n" + b"\x00\xff" * 400),
    "stranger.db": _database,
    "torn.db": _torn,
    "empty.db": lambda path: path.write_bytes(b""),
    "packed.gz": lambda path: path.write_bytes(gzip.compress(b"sentinel words" * 100)),
    "number.json": lambda path: path.write_text("7"),
    "list.json": lambda path: path.write_text('["sentinel words", 1, null]'),
    "cut.json": lambda path: path.write_text('{"memories": [{"memory": "sentinel wor'),
    "lines.jsonl": lambda path: path.write_bytes(b'{"a": 1}\n\xff\xff\n{"type": 3}\n'),
    "directory": _directory,
    "nothing": lambda path: path.mkdir(),
}


@pytest.mark.parametrize("kind", KINDS)
def test_f27_a_wrong_file_of_any_kind_becomes_no_memory(world: World, tmp_path: Path, kind: str) -> None:
    root = world.brain("x")
    person = world.human(root)

    for name, make in WRONG.items():
        path = tmp_path / name
        make(path)
        for execute in (False, True):
            answer = person.call("memory.import", path=str(path), kind=kind, execute=execute)
            assert shaped(answer), (name, answer)
    assert person.call("memory.list")["rows"] == []
    assert "sentinel" not in str(person.call("claims"))


def test_f27_a_binary_file_named_as_notes_is_refused(world: World, tmp_path: Path) -> None:
    path = tmp_path / "corrupt.db"
    _torn(path)
    person = world.human(world.brain("x"))

    answer = person.call("memory.import", path=str(path), kind="basic-memory", execute=True)

    assert answer["error"]["code"] == "invalid_params"
