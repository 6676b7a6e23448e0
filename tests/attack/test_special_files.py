"""Attack F24: a caller or a repository names a pipe, a device or a file of the kernel where a file is read."""

import os
from pathlib import Path
from typing import Any

import pytest

from hindbrain.domain.errors import PathRefused
from hindbrain.stores.ordinary_file import open_ordinary
from tests.attack.test_one_shape import shaped
from tests.support.world import World

KERNEL = [
    path
    for path in ("/proc/kmsg", "/proc/self/environ", "/proc/self/mem", "/sys/kernel/mm/transparent_hugepage/enabled")
    if os.path.exists(path)
]
DEVICES = ["/dev/zero", "/dev/null", "/dev/stdin", "/dev/tty"]

# Every operation that is given a file to read, with the arguments around it.
READING: list[tuple[str, str, dict[str, Any]]] = [
    ("memory.ingest", "path", {"wing": "w"}),
    *(
        ("memory.import", "path", {"kind": kind, "project": "p"})
        for kind in ("mempal", "mempalace", "basic-memory", "claude-mem", "mem0")
    ),
    ("import", "source", {}),
    ("experience.import", "source", {}),
    ("research.validate", "path", {}),
    ("research.ingest", "path", {}),
    ("mission.verify_packet", "file", {}),
    ("mission.import", "file", {}),
    ("migrate.apply", "table", {}),
    ("ingest", "path", {"adapter": "light"}),
    ("ingest", "path", {"adapter": "document"}),
    ("light.check", "paths", {}),
    ("model.install", "path", {}),
    ("gym.judge", "file", {"round": "r", "by": "human"}),
]


@pytest.mark.parametrize(("operation", "argument", "more"), READING, ids=lambda one: one if isinstance(one, str) else "")
@pytest.mark.parametrize("kind", ["kernel", "device", "pipe", "link"])
def test_f24_no_operation_reads_a_special_file(
    world: World, operation: str, argument: str, more: dict[str, Any], kind: str
) -> None:
    root = world.brain("x")
    pipe, link = Path(root, "pipe"), Path(root, "link")
    os.mkfifo(pipe)
    link.symlink_to("/proc/self/environ")
    paths = {"kernel": KERNEL, "device": DEVICES, "pipe": [str(pipe)], "link": [str(link)]}[kind]
    person = world.human(root)

    for path in paths:
        answer = person.call(operation, **{argument: [path] if argument == "paths" else path}, **more)

        assert shaped(answer), (path, answer)
        assert "PATH=" not in str(answer)
    if operation.startswith("memory."):
        assert person.call("memory.list")["rows"] == []


@pytest.mark.parametrize("path", [*KERNEL, *DEVICES])
def test_f24_the_one_way_to_open_a_named_file_refuses_by_type(path: str) -> None:
    with pytest.raises((PathRefused, OSError)):
        open_ordinary(path)


def test_f24_a_pipe_in_a_repository_holds_up_no_call(world: World) -> None:
    root = world.brain("x", src__a_py="x = 1\n")
    os.mkfifo(Path(root, "pyproject.toml"))
    os.mkfifo(Path(root, "src", "pipe.py"))
    person = world.human(root)

    for operation, arguments in [
        ("am_i_stale", {"files": ["src/pipe.py", "pyproject.toml"]}),
        ("cross_verify", {}),
        ("federate", {"repos": [{"name": "x", "path": root}]}),
        ("ingest", {"path": root}),
        ("search", {"query": "x = 1"}),
        ("memorize", {"node_label": "A", "text": "t", "evidence": ["src/pipe.py"]}),
    ]:
        assert shaped(person.call(operation, **arguments)), operation
