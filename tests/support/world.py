"""A world for tests: one home, some repositories, a clock that stands still, and callers who speak to the real house."""

import hashlib
import json
import os
import secrets
import shutil
import subprocess
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

from hindbrain.app import App
from hindbrain.domain.brain import fingerprint
from hindbrain.domain.caller import AgentId, Caller, Channel, RootSource, SessionId
from hindbrain.settings import Settings
from hindbrain.stores.home import Home
from tests.support.honesty import held

__all__ = ["Actor", "Clock", "Kept", "World", "block", "git", "put_back", "tree_hash"]

START_MS = 1_783_209_431_408
DAY = 86_400_000


class Clock:
    """Time that moves only when a test moves it."""

    def __init__(self, now: int = START_MS) -> None:
        self.now = now

    def __call__(self) -> int:
        return self.now

    def forward(self, ms: int) -> None:
        self.now += ms

    def catch_up(self) -> None:
        """The time of day, after other processes wrote by it."""
        self.now = time.time_ns() // 1_000_000


class Actor:
    """One agent (or person) in one directory, in one session."""

    def __init__(self, world: "World", caller: Caller) -> None:
        self._world = world
        self.caller = caller

    def call(self, operation: str, **arguments: Any) -> dict[str, Any]:
        return held(self._world.app.call(operation, arguments, caller=self.caller))

    def hook(self) -> "Actor":
        """The hook of this agent's host, which tells what it saw."""
        return Actor(self._world, replace(self.caller, channel=Channel.RUNTIME))

    def memorize(self, label: str, text: str = "", **more: Any) -> dict[str, Any]:
        """Write a one-block claim and insist that it was taken."""
        answer = self.call("memorize", node_label=label, text=text or label, **more)
        assert answer["ok"], answer
        return answer

    def north(self, task: str | None = None, **more: Any) -> dict[str, Any]:
        return self.call("north", task=task, **more)

    def seek(self, query: str, **more: Any) -> dict[str, Any]:
        return self.call("seek", query=query, **more)


class World:
    """A home with its App. `restart` closes and opens it again, as a new process would."""

    registers_place = False  # True: a person registered the directory of the test, so that agents may name files in it

    def __init__(self, place: Path, *, store_url: str = "", **settings: Any) -> None:
        self.place = Path(os.path.realpath(place))
        self.home = Home(self.place / "home")
        self.clock = Clock()
        # A busy machine must not turn a beat into one without the medulla; tests of the limit set their own.
        self.store_url = store_url
        self._settings = {"medulla_timeout_ms": 60_000, **settings, **({"store_url": store_url} if store_url else {})}
        self.bound_root: str | None = None
        self.resident = False  # True: a process with time beside its calls, as the owner is
        self._app: App | None = None
        if self.registers_place:
            self.register_place()

    def register_place(self) -> None:
        """What `places add` leaves, for the directory of the test with all its files."""
        self.home.ensure()
        text = json.dumps({"schema": "hindbrain-places-v0", "places": [str(self.place)]})
        self.home.places_file.write_text(text, encoding="utf-8")

    @property
    def app(self) -> App:
        if self._app is None:
            self._app = App(
                self.home, Settings(self._settings), clock=self.clock, bound_root=self.bound_root, resident=self.resident
            )
        return self._app

    def restart(self, **settings: Any) -> None:
        self.close()
        self._settings |= settings

    def close(self) -> None:
        if self._app is not None:
            self._app.close()
            self._app = None

    # -- repositories ------------------------------------------------------------------------------------------------

    def directory(self, name: str) -> str:
        path = self.place / name
        path.mkdir(parents=True, exist_ok=True)
        return str(path)

    def repository(self, name: str, **files: str) -> str:
        """A git repository with some files; keyword `a__b_py` stands for a/b.py."""
        root = self.directory(name)
        if not os.path.isdir(os.path.join(root, ".git")):
            git(root, "init", "-q", "-b", "main")
        for key, text in {"package_json": "{}\n", **files}.items():
            path = Path(root, key.replace("__", "/"))
            path = path.with_name(path.name[::-1].replace("_", ".", 1)[::-1])
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")
        return root

    def brain(self, name: str, **files: str) -> str:
        """A repository that has its brain."""
        root = self.repository(name, **files)
        answer = self.at(root).call("ingest", path=root, project_root=root)
        assert answer["ok"], answer
        return root

    # -- callers -----------------------------------------------------------------------------------------------------

    def at(self, root: str | None, agent: str = "codex:maker", *, human: bool = False, session: str | None = None) -> Actor:
        caller = Caller(
            agent=AgentId(agent),
            root=os.path.realpath(root) if root is not None else None,
            root_source=RootSource.HEADER if root is not None else RootSource.UNKNOWN,
            session=SessionId(session or secrets.token_hex(6)),
            channel=Channel.HUMAN if human else Channel.AGENT,
        )
        return Actor(self, caller)

    def human(self, root: str | None) -> Actor:
        return self.at(root, "human:founder", human=True)

    # -- places ------------------------------------------------------------------------------------------------------

    def store(self, root: str | None) -> Path:
        """The claim directory of a brain beside the owner, or of the medulla."""
        base = self.home.medulla_dir if root is None else self.home.brains_dir / fingerprint(root)
        return base / "agent-memory"

    def file(self, root: str | None, slug: str) -> Path:
        return self.store(root) / f"{slug}.light.md"

    def origin(self, root: str) -> str:
        """What a claim file says of the brain it was born in: name and id."""
        brain = self.home.project(root)
        assert brain is not None
        return f"{os.path.basename(root)} ({brain.id})"

    def history(self, root: str | None, slug: str = "") -> list[Path]:
        directory = self.store(root) / ".history"
        return sorted(directory.glob(f"{slug}*.light.md")) if directory.is_dir() else []


class Kept:
    """A world that tests begin from, each with a copy in the same place: a brain belongs to the path of its repository."""

    def __init__(self, world: World) -> None:
        world.close()
        self._place = world.place
        self._copy = world.place.with_name(f"{world.place.name}.kept")
        shutil.copytree(self._place, self._copy, symlinks=True)

    def again(self) -> World:
        """As it was. Whoever had it before must have closed it."""
        put_back(self._copy, self._place)
        return World(self._place)


def put_back(copy: Path, place: Path) -> None:
    """Make a directory equal to its copy. Directories stay: a brain knows its repository by them."""
    for directory, inner, names in os.walk(place, topdown=False):
        kept = copy / os.path.relpath(directory, place)
        for name in names:
            os.unlink(os.path.join(directory, name))
        for name in inner:
            path = os.path.join(directory, name)
            if os.path.islink(path):
                os.unlink(path)
            elif not (kept / name).is_dir():
                os.rmdir(path)
    shutil.copytree(copy, place, symlinks=True, dirs_exist_ok=True)


def block(label: str, text: str = "", **more: Any) -> dict[str, Any]:
    return {"label": label, "text": text or label, **more}


def git(root: str, *words: str) -> str:
    """Git with a fixed identity and no user configuration."""
    environment = {
        **os.environ,
        "GIT_CONFIG_GLOBAL": os.devnull,
        "GIT_CONFIG_SYSTEM": os.devnull,
        # A status must not refresh the index: tests compare hashes of whole trees before and after a call.
        "GIT_OPTIONAL_LOCKS": "0",
        "GIT_AUTHOR_NAME": "t",
        "GIT_AUTHOR_EMAIL": "t@example.org",
        "GIT_COMMITTER_NAME": "t",
        "GIT_COMMITTER_EMAIL": "t@example.org",
    }
    done = subprocess.run(["git", "-C", root, *words], capture_output=True, text=True, env=environment, check=True)
    return done.stdout


def tree_hash(*places: Path, leave: tuple[str, ...] = (".db", ".db-wal", ".db-shm", ".lock")) -> str:
    """One hash over names and bytes of whole trees; databases are compared by their rows elsewhere."""
    found = hashlib.sha256()
    for place in places:
        for path in sorted(p for p in place.rglob("*") if p.is_file() and not p.name.endswith(leave)):
            found.update(str(path.relative_to(place)).encode() + b"\x00" + path.read_bytes() + b"\x00")
    return found.hexdigest()
