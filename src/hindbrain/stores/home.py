"""The home: where everything lies on disk, and who may read it. All path constants live here."""

import json
import os
import secrets
import uuid
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from hindbrain.domain.brain import MEDULLA, Brain, BrainId, born_in, contains, fingerprint, origin_id
from hindbrain.domain.errors import PathRefused
from hindbrain.stores.atomic import write_text
from hindbrain.stores.directories import make_directory
from hindbrain.stores.token_file import ensure_token

__all__ = ["BOX", "BRAIN_SCHEMA", "IGNORED_IN_REPO", "REPO_DIR", "Home", "Tokens", "default_home"]

BRAIN_SCHEMA = "m1nd-project-brain-v0"
REPO_DIR = ".hindbrain"
_MANIFEST = "project_brain.json"
_MANIFESTS = 1_000  # that are remembered
BOX = "inbox.jsonl"  # letters to a project in its REPO_DIR, letters to none in the medulla's directory

# What is never committed from <repo>/.hindbrain: everything that is derived, local or private to one machine.
IGNORED_IN_REPO = (
    ".witness",
    "agent-memory/.*",
    "graph_snapshot*.json",
    "plasticity_state.json",
    "calibration_state.json",
    "boot_memory_state.json",
    "ingest_roots.json",
    "counters.json",
    "*.db",
    "*.db-*",
    "*.log",
    "*.tmp",
    "*.lock",
    "cache/",
)


def default_home(environ: dict[str, str]) -> Path:
    """HINDBRAIN_HOME, else an existing ~/.hindbrain, else the platform's data directory."""
    if chosen := environ.get("HINDBRAIN_HOME"):
        return Path(chosen).expanduser().absolute()
    user = Path(environ.get("HOME") or os.path.expanduser("~"))
    if (user / ".hindbrain").is_dir():
        return user / ".hindbrain"
    if os.name == "nt" or not environ.get("HOME"):
        import platformdirs

        return Path(platformdirs.user_data_dir("hindbrain", appauthor=False))
    return Path(environ.get("XDG_DATA_HOME") or user / ".local" / "share") / "hindbrain"


class Home:
    """One home directory. Creates directories lazily and private to the user (0700)."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.medulla_dir = path / MEDULLA
        self.brains_dir = path / "brains"
        self.detached_dir = self.brains_dir / ".detached"  # brains that a person set aside
        self.runtime = path / "runtime"  # what lives for hours: the bus between agents
        self.checkouts_dir = path / "checkouts"  # for which directory and repository messages were left at a path
        self.pair_dir = path / "cowork-inbox"  # what the two of a partner pair leave each other, by host and project
        self.owner_file = path / "owner.json"
        self.owner_lock = path / "owner.lock"
        self.port_file = path / "owner.port"  # where the last owner listened: open pages look for the next one there
        self.start_lock = path / "start.lock"
        self.token_file = path / "token"
        self.human_token_file = path / "human-token"
        self.hook_token_file = path / "hook-token"
        self.token_files = (self.token_file, self.human_token_file, self.hook_token_file)
        self.config_file = path / "config.toml"
        self.manifest_file = path / "manifest.json"
        self.refusals_file = path / "refusals.jsonl"
        self.log_file = path / "owner.log"
        self.hall_dir = path / "hall"  # pages that send a browser to the Hall; each lasts as long as its ticket
        self.hosts_dir = path / "hosts"  # what was written into files of hosts, and what they were before
        self.field_reports_file = path / "field-reports.jsonl"  # every letter written on this machine; only ever appended to
        self.links_file = path / "field-reports.links.json"  # what old letters answer by line number
        self.boxes_file = path / "field-reports.boxes.json"  # repositories that were given a box, or wrote a letter
        self.boxes_lock = path / "field-reports.lock"
        self.places_file = path / "places.json"  # directories that a person registered for this home
        self.places_lock = path / "places.lock"
        self.medulla_box = self.medulla_dir / BOX
        self._roots_by_id: dict[str, str] = {}
        self._roots_read_at = -1
        self._manifests: dict[str, tuple[tuple[int, int, int], Brain]] = {}  # as they were last read, by root

    def refuse_target(self, path: Path) -> None:
        """No call writes a file of its own among ours: under the right name it would be a setting, or a token."""
        if contains(os.path.realpath(self.path), os.path.realpath(path.parent)):
            raise PathRefused(f"{str(path)[:200]} lies in the home of Hindbrain", fix="choose another directory")

    def ensure(self) -> None:
        make_directory(self.path)

    def make(self, directory: Path) -> None:
        """A directory of this home, private like every one above it up to the home."""
        self.ensure()
        for place in reversed([directory, *directory.parents]):
            if place.is_relative_to(self.path):
                make_directory(place)

    def brain_dir(self, brain: Brain) -> Path:
        return self.medulla_dir if brain.root is None else self.brains_dir / brain.fingerprint

    def runtime_dir(self, root: str) -> Path:
        """Where the bus of one checkout lies, by the canonical root of that checkout."""
        return self.runtime / fingerprint(root)

    def hooks_dir(self, root: str) -> Path:
        """What the hooks of hosts told their sessions in one checkout."""
        return self.runtime_dir(root) / "hooks"

    def delegations_dir(self, brain: Brain) -> Path:
        """Where the records of a brain's packets lie, with what came of them."""
        return self.brain_dir(brain) / "delegations"

    def exports_dir(self, brain: Brain) -> Path:
        """Where agents of a brain may write exports, beside its repository. Each brain has its own."""
        return self.path / "exports" / brain.fingerprint

    def battery_dir(self, brain: Brain) -> Path:
        """The cases of a brain. A project's lie in its repository, so that they travel with it."""
        return (self.medulla_dir if brain.root is None else Path(brain.root, REPO_DIR)) / "battery"

    def manifest_path(self, root: str) -> Path:
        return self.brains_dir / fingerprint(root) / _MANIFEST

    def medulla(self) -> Brain:
        """The one medulla of this home. On a team's server it is the team's: its id is the same for every home."""
        return Brain(id=BrainId(MEDULLA), root=None, created_ms=0)

    def project(self, root: str) -> Brain | None:
        """The brain registered for exactly this canonical root, or None. Reads one manifest, no other brain's."""
        path = os.path.join(self.brains_dir, fingerprint(root), _MANIFEST)
        try:
            state = os.stat(path)
        except (OSError, ValueError):
            return None
        # A call asks this several times. A manifest is replaced, never written into: another one is another file.
        seen = (state.st_ino, state.st_mtime_ns, state.st_size)
        known = self._manifests.get(root)
        if known is None or known[0] != seen:
            found = _read_json(Path(path))
            if found.get("project_root") != root or found.get("schema") != BRAIN_SCHEMA:
                return None  # not remembered: what cannot be read now may be readable in a moment, as it stands
            if len(self._manifests) >= _MANIFESTS:
                self._manifests.clear()
            known = self._manifests[root] = (seen, _brain(found))
        return known[1]

    def origin(self, origin: str) -> Brain | None:
        """Return the brain of this home that an origin names, or None. Its store is not opened."""
        if origin == MEDULLA:
            return self.medulla()
        if (wanted := origin_id(origin)) is None:
            return self.project(origin)
        found = self.project(self._roots_by_id.get(wanted, ""))
        if found is not None and found.id == wanted:
            return found
        # An id that no brain here has is looked for again only after a brain was added or removed.
        stamp = _changed_at(self.brains_dir)
        if stamp != self._roots_read_at:
            self._roots_by_id = {brain.id: brain.root for brain in self.projects() if brain.root is not None}
            self._roots_read_at = stamp
        return self.project(self._roots_by_id.get(wanted, ""))

    def origin_name(self, origin: str | None, holder: Brain) -> str:
        """Return an origin as answers show it: the root of a brain of this home, else the origin as it was written.

        A row without an origin was born in the brain that holds it."""
        if origin is None or born_in(holder, origin):
            return holder.name
        found = self.origin(origin)
        return origin if found is None else found.name

    def projects(self) -> Iterator[Brain]:
        """Every store directory with a readable manifest that names the root it lies under."""
        for brain, problem in self.manifests():
            if brain is not None and problem is None:
                yield brain

    def manifests(self) -> Iterator[tuple[Brain | None, str | None]]:
        """Every store directory with its brain, or with what is wrong with its manifest."""
        if not self.brains_dir.is_dir():
            return
        for directory in sorted(self.brains_dir.iterdir()):
            if not directory.is_dir() or directory.name.startswith("."):
                continue
            found = _read_json(directory / _MANIFEST)
            root = found.get("project_root")
            if not isinstance(root, str) or found.get("schema") != BRAIN_SCHEMA:
                yield None, f"{directory.name}: manifest missing or unreadable"
            elif fingerprint(root) != directory.name:
                yield None, f"{directory.name}: manifest names {root}"
            else:
                yield _brain(found), None

    def witness_in(self, directory: Path) -> str | None:
        """The secret that a brain's directory keeps; None when `init` never left one."""
        try:
            return (directory / "witness").read_text(encoding="ascii").strip() or None
        except (OSError, ValueError):
            return None

    def detach(self, brain: Brain) -> Path:
        """Move the directory of a brain aside, whole. The path that it was registered for is free then."""
        self.make(self.detached_dir)
        target = self.detached_dir / f"{brain.fingerprint}-{secrets.token_hex(4)}"
        os.rename(self.brain_dir(brain), target)
        return target

    def detached(self) -> Iterator[tuple[Brain, Path]]:
        """Brains that were moved aside, each with its directory, the latest first."""
        found = [path for path in self.detached_dir.iterdir() if path.is_dir()] if self.detached_dir.is_dir() else []
        for directory in sorted(found, key=lambda path: -path.stat().st_mtime_ns):
            told = _read_json(directory / _MANIFEST)
            if isinstance(told.get("project_root"), str) and told.get("schema") == BRAIN_SCHEMA:
                yield _brain(told), directory

    def ingest_roots(self) -> dict[str, str]:
        """Extra directories that were ingested into a brain: directory -> the brain's root."""
        return {k: v for k, v in _read_json(self.brains_dir / "ingest_roots.json").items() if isinstance(v, str)}

    def add_ingest_root(self, directory: str, root: str) -> None:
        index = {**self.ingest_roots(), directory: root}
        write_text(self.brains_dir / "ingest_roots.json", json.dumps(index, indent=2, ensure_ascii=False) + "\n")

    def register(self, root: str, *, brain_id: BrainId | None, now: int) -> Brain:
        """Write the manifest of a new brain."""
        brain = Brain(id=brain_id or BrainId(str(uuid.uuid4())), root=root, created_ms=now)
        self.save(brain, nodes=0, edges=0)
        return brain

    def save(self, brain: Brain, *, nodes: int, edges: int) -> None:
        """Rewrite the manifest with today's counts. Data only: no executable path, no hook."""
        directory = self.brain_dir(brain)
        self.make(directory)
        if brain.root is None:
            return
        data = {
            "schema": BRAIN_SCHEMA,
            "id": brain.id,
            "project_root": brain.root,
            "fingerprint": brain.fingerprint,
            "display_name": brain.display_name,
            "created_ms": brain.created_ms,
            "node_count": nodes,
            "edge_count": edges,
            "last_ingest_ms": brain.last_ingest_ms,
            "ingest_roots": list(brain.ingest_roots),
        }
        write_text(directory / _MANIFEST, json.dumps(data, indent=2, ensure_ascii=False) + "\n")

    def manifest_counts(self, brain: Brain) -> tuple[int, int]:
        found = _read_json(self.brain_dir(brain) / _MANIFEST)
        return int(found.get("node_count") or 0), int(found.get("edge_count") or 0)

    def last_port(self) -> int:
        """The port of the last owner; 0 when none is known."""
        try:
            told = self.port_file.read_text(encoding="ascii").strip()
        except (OSError, ValueError):
            return 0
        return int(told) if told.isdigit() and len(told) < 6 and int(told) < 65536 else 0

    def keep_port(self, port: int) -> None:
        if port != self.last_port():
            write_text(self.port_file, f"{port}\n")

    def tokens(self) -> "Tokens":
        """The tokens of this home, each created when it is missing and replaced when its file is damaged."""
        self.ensure()
        found = {path: ensure_token(path) for path in self.token_files}
        agent, human, hook = (found[path][0] for path in self.token_files)
        replaced = tuple(f"{path} ({why})" for path, (_, why) in found.items() if why is not None)
        return Tokens(agent=agent, human=human, hook=hook, replaced=replaced)


@dataclass(frozen=True, slots=True, kw_only=True)
class Tokens:
    """The three tokens of a home: of agents, of persons, and of the hooks of hosts."""

    agent: str
    human: str
    hook: str
    replaced: tuple[str, ...] = ()  # damaged files that were replaced just now, each with the reason

    def __repr__(self) -> str:
        return "Tokens(…)"  # a log or a traceback never shows one


def _brain(found: dict[str, Any]) -> Brain:
    last = found.get("last_ingest_ms")
    roots = found.get("ingest_roots")
    return replace(
        Brain(id=BrainId(str(found.get("id"))), root=str(found["project_root"]), created_ms=int(found.get("created_ms") or 0)),
        last_ingest_ms=last if isinstance(last, int) else None,
        ingest_roots=tuple(one for one in roots if isinstance(one, str)) if isinstance(roots, list) else (),
    )


def _changed_at(directory: Path) -> int:
    try:
        return os.stat(directory).st_mtime_ns
    except OSError:
        return 0


def _read_json(path: Path) -> dict[str, Any]:
    try:
        found = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return found if isinstance(found, dict) else {}
