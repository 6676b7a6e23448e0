"""One door for types: msgspec meets a type for the first time in one thread alone, whoever reads what."""

import ast
import subprocess
import sys

import pytest

from tests.architecture.source import Module, modules

DOOR = "hindbrain.domain.typed"
_TYPED = {"convert", "Decoder"}


def past_the_door(module: Module) -> list[str]:
    """Calls of msgspec with a type: `convert`, `Decoder`, and `decode` with `type`, also under names that were imported."""
    found = []
    for node in ast.walk(module.tree):
        if isinstance(node, ast.ImportFrom) and (node.module or "").split(".")[0] == "msgspec":
            found += [f"{module.where}:{node.lineno} imports {one.name}" for one in node.names if one.name in {*_TYPED, "decode"}]
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
            name = ast.unparse(node.func)
            typed = node.func.attr in _TYPED or (node.func.attr == "decode" and any(one.arg == "type" for one in node.keywords))
            if typed and name.startswith(("msgspec.", "json.")):
                found.append(f"{module.where}:{node.lineno} calls {name}")
    return found


def test_types_go_through_the_one_door() -> None:
    assert [past for module in modules() if module.name != DOOR for past in past_the_door(module)] == []


def test_the_guard_sees_every_way_past_the_door() -> None:
    ways = (
        "from msgspec import convert",
        "import msgspec\nmsgspec.json.decode(raw, type=Kind)",
        "from msgspec import json\njson.Decoder(Kind)",
        "import msgspec\nmsgspec.convert(value, Kind)",
    )
    for text in ways:
        assert past_the_door(Module(name="hindbrain.x", path=modules()[0].path, tree=ast.parse(text), text=text)), text


MEETING = """
import enum, threading
from hindbrain.domain.message import BusMessage
from hindbrain.domain.typed import converted, decoded, decoder

TOLD = b'{"id": "m", "seq": 1, "timestamp": "t", "from": "R1", "to": "R2", "type": "TaskSpec", "payload": {}}'
DATA = {"id": "m", "seq": 1, "timestamp": "t", "from": "R1", "to": "R2", "type": "TaskSpec", "payload": {}}
DOORS = {
    "converted": lambda: converted(DATA, BusMessage),
    "decoded": lambda: decoded(TOLD, BusMessage),
    "decoder": lambda: decoder(BusMessage).decode(TOLD),
}
heard = []
others = []

def meets(kind, name, value):  # where a thread that learns a type may lose its turn to another that wants it
    others.append(threading.Thread(target=lambda: heard.append(DOORS[DOOR]().id)))
    others[-1].start()
    others[-1].join(0.5)
    type.__setattr__(kind, name, value)

enum.EnumType.__setattr__ = meets
heard.append(DOORS[DOOR]().id)
for other in others:
    other.join()
assert others
print(set(heard), len(heard) == len(others) + 1)
"""


@pytest.mark.parametrize("door", ["converted", "decoded", "decoder"])
def test_two_threads_may_meet_a_type_for_the_first_time_at_once(door: str) -> None:
    script = MEETING.replace("DOORS[DOOR]", f"DOORS[{door!r}]")
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=False)

    assert (done.returncode, done.stdout) == (0, "{'m'} True\n"), done.stderr
