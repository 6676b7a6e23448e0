"""Damage to the files of a home: ways to harm one, each with a seed, and what a home must keep when one is harmed."""

import json
import os
import random
import shutil
import traceback
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.support.full_home import fill
from tests.support.reads import REGISTRY, arguments, fault_of
from tests.support.world import Actor, Kept, World

__all__ = ["DERIVED", "RANDOM", "TRUTH", "WAYS", "DamagedHome", "Outcome", "harm"]

_PAGE = 4096
_USER_VERSION = 60  # where SQLite keeps the version of a schema in the header of a file


def _write_at(path: Path, offset: int, data: bytes) -> None:
    with path.open("r+b") as file:
        file.seek(offset)
        file.write(data)


def _random_bytes(path: Path, rng: random.Random) -> None:
    """Random bytes over some pages, the header among them at times."""
    size = path.stat().st_size
    pages = max(1, size // _PAGE)
    for page in rng.sample(range(pages), k=max(1, pages // 4)):
        begin = page * _PAGE
        _write_at(path, begin, rng.randbytes(min(_PAGE, size - begin)))


def _flipped_bits(path: Path, rng: random.Random) -> None:
    data = bytearray(path.read_bytes())
    for _ in range(rng.randint(1, 4)):
        data[rng.randrange(len(data))] ^= 1 << rng.randrange(8)
    path.write_bytes(data)


def _cut(path: Path, rng: random.Random) -> None:
    os.truncate(path, rng.randrange(1, max(2, path.stat().st_size)))


def _emptied(path: Path, rng: random.Random) -> None:
    os.truncate(path, 0)


def _other_header(path: Path, rng: random.Random) -> None:
    _write_at(path, 0, rng.randbytes(min(32, path.stat().st_size)))


def _directory(path: Path, rng: random.Random) -> None:
    path.unlink()
    path.mkdir()
    (path / "note").write_text("somebody's own", encoding="utf-8")


def _loop(path: Path, rng: random.Random) -> None:
    """A link to itself: nobody can open it, not even a superuser, whom a mode would not stop."""
    path.unlink()
    path.symlink_to(path.name)


def _newer(path: Path, rng: random.Random) -> None:
    """What a later release would leave: a schema with a higher number, or a document of a kind that nobody knows yet."""
    if path.suffix == ".db":
        _write_at(path, _USER_VERSION, (99).to_bytes(4, "big"))
    else:
        path.write_text(json.dumps({"schema": "hindbrain-later-v99", "version": 99, "rows": [{"later": True}]}), encoding="utf-8")


def _gone(path: Path, rng: random.Random) -> None:
    path.unlink()


def _forbidden(path: Path, rng: random.Random) -> None:
    path.chmod(0)


WAYS: dict[str, Callable[[Path, random.Random], None]] = {
    "random bytes": _random_bytes,
    "flipped bits": _flipped_bits,
    "cut": _cut,
    "emptied": _emptied,
    "other header": _other_header,
    "directory": _directory,
    "loop": _loop,
    "newer": _newer,
    "gone": _gone,
    **({"forbidden": _forbidden} if os.geteuid() != 0 else {}),  # a mode stops no superuser
}


def harm(path: Path, way: str, seed: object) -> None:
    """Harm a file, and remove its log: what is damaged is the file itself."""
    for ending in ("-wal", "-shm"):
        beside = path.with_name(path.name + ending)
        if beside.is_dir():
            shutil.rmtree(beside)
        else:
            beside.unlink(missing_ok=True)
    WAYS[way](path, random.Random(f"{path.name} {way} {seed}"))


RANDOM = ("random bytes", "flipped bits", "cut", "other header")  # ways that differ from seed to seed
DERIVED = ("index.db", "vectors.db", "graph.db", "files.db")
TRUTH = ("brain.db", "field-reports.jsonl", "hygiene_allow.json", "project_brain.json", "inbox.jsonl")
_SILENT = ("gone", "emptied")  # a file that is not there, or empty, is a new one for most kinds of files
_CALLS: tuple[tuple[str, dict[str, Any]], ...] = (
    *((name, arguments(name)) for name in ("north", "seek", "claims", "memory.search", "impact", "search", "context", "wake")),
    *((name, arguments(name)) for name in ("cowork.agents", "cowork.events", "mission.list", "mission.status", "model.status")),
    ("memorize", {"node_label": "After", "text": "After the damage the worker still retries."}),
    ("record", {"text": "seen after the damage"}),
    ("learn", {"feedback": "correct", "node_ids": ["file::src/worker.py"]}),
    ("boot_memory", {"action": "set", "key": "after", "value": 1}),
    ("cowork.send", {"from": "codex-maker", "to": "claude-reviewer", "message": "again"}),
    ("cowork.reserve", {"agent_id": "codex-maker", "paths": ["src/user.py"]}),
    ("delegate", {"task": "look at src/worker.py"}),
    ("report", {"class": "win", "what": "it went on"}),
    ("hosts.event", {"host": "claude", "event": "SessionStart", "payload": {"session_id": "s1"}}),
)


@dataclass(frozen=True, kw_only=True)
class Outcome:
    """What came of one harm."""

    faults: tuple[str, ...]  # tracebacks and answers of no known shape
    named: bool  # the doctor names the file
    same: bool  # after the repair the answers are those before the harm
    untouched: bool  # the harmed bytes are still what they were, here or under another name


class DamagedHome:
    """A full home that is harmed once and again, each time from the same beginning."""

    def __init__(self, place: Path) -> None:
        self.place = place
        world = World(place)
        self.root = fill(world, model=True, rows=5)
        world.at(self.root).call("hosts.event", host="claude", event="SessionStart", payload={"session_id": "s1"})
        self._kept = Kept(world)
        self.files = tuple(self._listed())
        sound = self._kept.again()
        faults: list[str] = []
        for name, given in (*_CALLS, ("doctor.fix", {"yes": True})):
            _call(sound.at(self.root), name, given, faults)
        assert faults == []
        self.before = self._answers(sound.at(self.root))  # after the same calls, which write something themselves
        sound.close()

    def _listed(self) -> Iterator[Path]:
        """Every file of the home that holds something, as a path below the place."""
        for path in sorted((self.place / "home").rglob("*")):
            if path.is_file() and path.stat().st_size and not path.name.endswith((".lock", "-wal", "-shm")):
                yield path.relative_to(self.place)

    def harm(self, file: Path, way: str, seed: int) -> Outcome:
        """Harm one file; half of the harms meet the doctor first, the others an ordinary call."""
        world, path = self._kept.again(), self.place / file
        harm(path, way, seed)
        harmed = path.read_bytes() if path.is_file() else None
        here, faults = world.at(self.root), []
        looks: list[str] = []
        first = [("doctor", {})] if random.Random(f"{file.name} {way} {seed}").random() < 0.5 else []
        try:
            for name, given in (*first, *_CALLS, ("doctor", {})):
                looks.append(json.dumps(_call(here, name, given, faults)) if name == "doctor" else "")
                if name != "doctor":
                    _call(here, name, given, faults)
            # A file of lines may have grown by the calls.
            left = [one.read_bytes() for one in path.parent.glob(f"{path.name}*") if one.is_file()]
            kept = harmed is None or any(one.startswith(harmed) for one in left)
            _call(here, "doctor.fix", {"yes": True}, faults)
            _call(here, "doctor", {}, faults)
            same = self._answers(here) == self.before if not faults else False
        finally:
            world.close()
        named = any(file.name in look or f"/{file.parts[-2]}" in look for look in looks)
        # What lives for hours is written again by the next call that needs it; only a doctor who comes first can see the harm.
        replaced = not {"runtime", "checkouts"}.isdisjoint(file.parts) and not first
        return Outcome(faults=tuple(faults), named=named or replaced or way in _SILENT, same=same, untouched=kept)

    @staticmethod
    def _answers(here: Actor) -> dict[str, object]:
        """What is found by words, by meaning and in the code; what the calls of a harm themselves wrote is left out."""
        seek, memory = here.call("seek", **arguments("seek")), here.call("memory.search", **arguments("memory.search"))
        found = {
            "seek": [row["node_id"] for row in seek.get("results", ())],
            "memory": [row["content"] for row in memory.get("results", ())],
        }
        ours = {name: sorted(one for one in rows if "after" not in one.lower()) for name, rows in found.items()}
        code = here.call("search", query="retry").get("results", ())
        radius = here.call("impact", **arguments("impact")).get("blast_radius", ())
        return ours | {
            "search": sorted((row["node_id"], row["line_number"]) for row in code),
            "impact": sorted(row["node_id"] for row in radius),
        }


def _call(here: Actor, name: str, given: dict[str, Any], faults: list[str]) -> dict[str, Any]:
    try:
        answer = here.call(name, **given)
        fault = fault_of(name, answer) if name in REGISTRY else None
    except Exception as error:  # noqa: BLE001 - the point of the test: no exception may leave a call
        last = traceback.extract_tb(error.__traceback__)[-1]
        faults.append(f"{name}: {type(error).__name__}: {error} at {last.filename}:{last.lineno}")
        return {}
    if fault is not None:
        faults.append(f"{name}: {fault}")
    return answer
