"""Projects: how a directory gets its brain, and how it gives back what it got. No brain is born in silence."""

import json
import os
import secrets
import shutil
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

import msgspec

from hindbrain.domain.brain import Brain, contains
from hindbrain.domain.caller import Caller, Channel
from hindbrain.domain.errors import (
    AlreadyCovered,
    FederationNeeded,
    InvalidParams,
    MedullaForbidsCode,
    PathRefused,
    UnknownBrain,
)
from hindbrain.engines.guard_recovery import federation
from hindbrain.services.brains import Brains, OpenBrain
from hindbrain.services.ingests import Ingests, Request
from hindbrain.services.reconcile import CONFLICT, SECRET, Reconciler, kept_out
from hindbrain.services.relocation import Relocation
from hindbrain.services.routing import Router, refuse_home_directory
from hindbrain.stores.atomic import write_text
from hindbrain.stores.directories import SHARED, make_directory
from hindbrain.stores.files import ClaimDirectory
from hindbrain.stores.home import IGNORED_IN_REPO, REPO_DIR, Home
from hindbrain.stores.identity import carried_witness, small_text
from hindbrain.stores.repository import canonical_root, is_project, main_path, repository_of

__all__ = ["Projects"]

BOOTSTRAP = "m1nd-project-brain-bootstrap-v0"
WARNING = (
    "memory and letters in .hindbrain/ will be committed with this repository; hindbrain init --private keeps them out of git"
)


class Projects:
    """Bootstrap, init, uninit, and what a project takes in."""

    def __init__(
        self,
        home: Home,
        brains: Brains,
        router: Router,
        reconciler: Reconciler,
        ingests: Ingests,
        relocation: Relocation,
        clock: Callable[[], int],
    ) -> None:
        self._home = home
        self._brains = brains
        self._router = router
        self._reconciler = reconciler
        self._ingests = ingests
        self._relocation = relocation
        self._clock = clock

    # -- bootstrap ---------------------------------------------------------------------------------------------------

    def ingest(
        self,
        caller: Caller,
        request: Request,
        *,
        project_root: str | None,
        tier: str | None,
        progress: Callable[[int, int, str], None],
        federation_intent: bool = False,
    ) -> dict[str, Any]:
        """Take a repository's files, or a brain's own claim files, into a brain; with project_root it creates the brain."""
        self._ingests.check(request)
        target = self._existing(request.path) if request.adapter != "code" else self._existing_directory(request.path)
        medulla_store = str(self._home.medulla_dir / "agent-memory")
        if tier == "medulla" or (project_root is None and canonical_root(target) == canonical_root(medulla_store)):
            return self._ingest_medulla(target, request.adapter)
        if project_root is None:
            brain, reused, moved_from = self._router.write_route(caller), True, None
        else:
            brain, reused, moved_from = self._bootstrap(caller, self._existing_directory(project_root))
        with self._brains.use(brain) as opened:
            if request.adapter == "light" and any(contains(str(place.path), target) for place in opened.places):
                return self._light(opened)
            self._refuse_managed(target)
            self._refuse_second(brain, target, intent=federation_intent)
            # The whole project: its own claim files are L1GHT too, wherever its brain keeps them.
            own = self._light(opened) if request.adapter == "light" and target == brain.root else {}
            ingest = self._take_tree(caller, opened, replace(request, path=target), progress)
        return {
            "ok": True,
            "schema": BOOTSTRAP,
            "project_root": brain.root,
            "store_dir": str(self._home.brain_dir(brain)),
            "reused_existing_brain": reused,
            "moved_from": moved_from,
            "ingest": ingest,
            "routing": {"bound_project_root": brain.root, "session": caller.session},
            **{key: own[key] for key in ("files_loaded", "refused") if key in own},
        }

    def _refuse_managed(self, target: str) -> None:
        """What Hindbrain keeps for itself is nobody's source: another brain's memory lies there, too."""
        if contains(canonical_root(self._home.path), target):
            raise PathRefused(
                f"{target[:200]} lies in the home of Hindbrain: a folder it manages is no workspace",
                fix="give the directory of a repository",
            )

    @staticmethod
    def _refuse_second(brain: Brain, target: str, *, intent: bool) -> None:
        """One graph holds one repository, unless somebody says that several are meant."""
        if intent or brain.root is None or brain.covers(main_path(target)) or not os.path.isdir(target):
            return
        refuse_home_directory(main_path(target))
        if not is_project(target):
            return
        why = f"{target[:200]} is another repository than {brain.root}, and nobody said that both are meant"
        way = federation(brain.root, target, repo=target, present=False, why=why)
        raise FederationNeeded(
            why,
            fix="give it a brain of its own with project_root, or say federation_intent for a task that truly spans both",
            federation=msgspec.to_builtins(way),
        )

    def _take_tree(
        self, caller: Caller, opened: OpenBrain, request: Request, progress: Callable[[int, int, str], None]
    ) -> dict[str, Any]:
        """Into the graph; a directory that the brain does not cover yet becomes one of its roots."""
        seen = main_path(request.path)
        if not opened.brain.covers(seen):
            refuse_home_directory(seen)
        answer = self._ingests.run(caller, opened, request, progress)
        if not opened.brain.covers(seen) and os.path.isdir(request.path):
            opened.brain = replace(opened.brain, ingest_roots=(*opened.brain.ingest_roots, request.path))
            self._home.add_ingest_root(request.path, opened.brain.root or "")
            self._home.save(opened.brain, nodes=answer["node_count"], edges=answer["edge_count"])
            self._brains.bindings.bind(opened.brain, request.path)
        self._relocation.tell_lineage(opened)
        return answer

    @staticmethod
    def _existing(path: str) -> str:
        """A file or directory that is there, by its canonical name."""
        if os.path.isabs(os.path.expanduser(path)) and "\x00" not in path and os.path.isfile(canonical_root(path)):
            return canonical_root(path)
        return Projects._existing_directory(path)

    @staticmethod
    def _existing_directory(path: str) -> str:
        if "\x00" in path or not os.path.isabs(os.path.expanduser(path)):
            raise PathRefused(f"{path[:120]!r} is not an absolute path", fix="give the absolute directory")
        real = canonical_root(path)
        if not _is_text(real):
            raise PathRefused(f"{path[:120]!r} is not UTF-8", fix="rename the directory, or work in one above it")
        if not os.path.isdir(real):
            raise InvalidParams(f"{path[:120]!r} is not a directory", fix="give a directory that exists")
        return real

    def _ingest_medulla(self, target: str, adapter: str) -> dict[str, Any]:
        own = canonical_root(str(self._home.medulla_dir / "agent-memory"))
        if adapter != "light" or target != own:
            raise MedullaForbidsCode(
                "the medulla belongs to no project and holds no code; a repository goes into its own project brain",
                fix={"tool": "ingest", "arguments": {"path": target, "project_root": target}},
            )
        with self._brains.use(self._home.medulla()) as opened:
            return self._light(opened)

    def _light(self, opened: OpenBrain) -> dict[str, Any]:
        """Take in a brain's own claim files; those with an unfinished merge are kept out and named."""
        began = self._clock()
        looked_at = self._take_in(opened)
        refused = [(one, path) for one, path in kept_out(opened).values() if one.kind in (CONFLICT, SECRET)]
        return {
            "ok": True,
            "schema": "hindbrain-ingest-v0",
            "adapter": "light",
            "files_loaded": looked_at - sum(one.at >= began for one, _ in refused),
            "refused": [
                {"path": str(path), "reason": "conflict_marker" if one.kind == CONFLICT else "hygiene"} for one, path in refused
            ],
        }

    def _take_in(self, opened: OpenBrain) -> int:
        """The claim files of a brain, also those that were written to wait for this."""
        loaded = sum(self._reconciler.scan(opened, place) for place in opened.places)
        self._reconciler.take_up(opened)
        return loaded

    def _bootstrap(self, caller: Caller, root: str) -> tuple[Brain, bool, str | None]:
        """The brain of a directory, whether it was there before, and where it was if the directory moved."""
        if os.path.isdir(main_path(root)):
            root = main_path(root)
        refuse_home_directory(root)
        self._relocation.refuse_replaced(root)
        moved_from = self._relocation.follow(caller, root)
        existing = self._home.project(root)
        if existing is not None:
            self._router.bind(caller, existing)
            return existing, True, moved_from
        covering = self._brains.covering(root)
        if covering is not None and covering.root == self._brains.bound_root:
            raise AlreadyCovered(
                f"{root} is covered by the brain of {covering.root}: you are home already",
                fix="go on; memory of this directory lives in that brain",
            )
        brain = self._home.register(root, brain_id=self._relocation.joined_id(caller, root), now=self._clock())
        self._brains.bindings.bind(brain)
        with self._brains.use(brain) as opened:
            self._relocation.note(caller, opened.store, "brain.create", {})
            self._relocation.tell_lineage(opened)
        self._router.bind(caller, brain)
        return brain, False, None

    @staticmethod
    def _refuse_links(carried: Path) -> None:
        """A repository may come with links in here: following one would read or write another brain's memory."""
        memory = carried / "agent-memory"
        for path in (carried, memory, memory / ".history", memory / ".locks"):
            if path.is_symlink():
                raise PathRefused(f"{path} is a link; memory is kept in real directories only", fix="look at where it leads")

    # -- init and uninit ---------------------------------------------------------------------------------------------

    def init(self, caller: Caller, *, path: str, private: bool, progress: Callable[[int, int, str], None]) -> dict[str, Any]:
        """Give a repository its brain, with memory that travels with git. Also adopts the memory a clone brought along."""
        repository = repository_of(self._existing_directory(path))
        root = repository.root
        warns = repository.git and not private
        refuse_home_directory(root)
        self._refuse_links(Path(root) / REPO_DIR)
        carried = Path(root) / REPO_DIR
        with _writable(carried):
            brain, reused, moved_from = self._bootstrap(caller, root)
            try:
                written = self._write_repo_files(carried, brain, private)
                self._leave_witness(carried, brain)
            except OSError:
                if not reused:
                    self._unregister(brain)
                raise
        self._brains.bindings.bind(brain)
        with self._brains.use(brain) as opened:
            moved = self._move_claims(opened, carried / "agent-memory")
            self._relocation.note(caller, opened.store, "brain.init", {"private": private})
            before = opened.store.arrived(Channel.FILE.value)
            for place in opened.places:
                self._reconciler.scan(opened, place)
            adopted = max(0, opened.store.arrived(Channel.FILE.value) - before)
            waiting = sum(opened.waiting.values())
            request = Request(path=root, incremental=opened.brain.last_ingest_ms is not None)
            ingest = self._take_tree(caller, opened, request, progress)
        return {
            "ok": True,
            "schema": "hindbrain-init-v0",
            "project_root": root,
            "store_dir": str(carried / "agent-memory"),
            "reused_existing_brain": reused,
            "moved_from": moved_from,
            "claims_moved": moved,
            "claims_adopted": adopted,
            "claims_waiting": waiting,
            "written": written,
            "private": private,
            "warning": WARNING if warns else None,
            "ingest": ingest,
            "rendered": "\n".join([_welcome(root, moved_from), *_adoption(adopted, waiting), *([WARNING] if warns else [])]),
        }

    def _unregister(self, brain: Brain) -> None:
        """Take back a brain that was born a moment ago: a refused init leaves none."""
        self._brains.drop(brain)
        shutil.rmtree(self._home.brain_dir(brain), ignore_errors=True)

    @staticmethod
    def _write_repo_files(carried: Path, brain: Brain, private: bool) -> list[str]:
        ignored = [*IGNORED_IN_REPO, *(["agent-memory/", "inbox.jsonl"] if private else [])]
        make_directory(carried / "agent-memory", mode=SHARED)
        files = {
            "brain.json": json.dumps({"schema": "hindbrain-brain-v0", "id": brain.id}, indent=2) + "\n",
            ".gitignore": "\n".join(ignored) + "\n",
        }
        written = []
        for name, text in files.items():
            target = carried / name
            if not _is_file(target) or (name == ".gitignore" and small_text(target) != text):
                write_text(target, text, mode=0o644)
                written.append(f"{REPO_DIR}/{name}")
        return written

    def _leave_witness(self, carried: Path, brain: Brain) -> None:
        """A secret that moves with the directory and not with git: a clone or a copied id never inherits a brain by it."""
        known = self._home.brain_dir(brain) / "witness"
        if not known.exists():
            write_text(known, secrets.token_hex(16) + "\n")
        if carried_witness(str(carried.parent)) != self._brains.bindings.witness(brain):
            write_text(carried / ".witness", known.read_text(encoding="ascii"))

    def _move_claims(self, opened: OpenBrain, target: Path) -> int:
        """Claims that lay beside the owner go into the repository, history too; each is whole in one place or the other."""
        source, moved = ClaimDirectory(opened.directory / "agent-memory"), 0
        carried = ClaimDirectory(target)
        for facts in list(source.scan()):
            with source.lock(facts.slug, wait_s=30):
                if not carried.file(facts.slug).exists():
                    make_directory(carried.history_path)
                    for _, path in source.history(facts.slug):
                        shutil.move(str(path), str(carried.history_path / path.name))
                    shutil.move(str(source.file(facts.slug)), str(carried.file(facts.slug)))
                    seen = opened.state.get(str(source.path), facts.slug)
                    now = carried.facts(facts.slug)
                    if seen is not None and now is not None and seen.same(facts) and seen.agreed:
                        opened.state.put(str(carried.path), now, seen.digest)
                    opened.state.drop(str(source.path), facts.slug)
                    moved += 1
        return moved

    def rebind(self, caller: Caller, *, old: str, new: str) -> dict[str, Any]:
        """Give the brain of a directory that is gone, or that holds another repository by now, to the one it was moved to."""
        away = self._relocation.away_from(old)
        target = self._existing_directory(new)
        self._relocation.move(caller, away, target)
        return {"ok": True, "schema": "hindbrain-rebind-v0", "moved_from": old, "project_root": target}

    # -- what a person decides about a directory that holds another repository ---------------------------------------

    def confirm(self, caller: Caller, *, path: str) -> dict[str, Any]:
        """A person says that a directory holds the repository of its brain, or may join the brain whose id it carries."""
        root = main_path(self._existing_directory(path))
        brain = self._home.project(root)
        if brain is None:
            refuse_home_directory(root)
            brain, _, _ = self._bootstrap(caller, root)
        self._brains.bindings.bind(brain)
        carried = Path(root, REPO_DIR)
        if (carried / "brain.json").exists():
            self._refuse_links(carried)
            self._leave_witness(carried, brain)
            self._brains.bindings.bind(brain)
        self._brains.drop(brain)
        with self._brains.use(brain) as opened:
            self._relocation.note(caller, opened.store, "brain.confirm", {"root": root})
        return {
            "ok": True,
            "schema": "hindbrain-brain-v0",
            "project_root": root,
            "rendered": f"{root} is the repository of its brain.",
        }

    def uninit(self, caller: Caller, *, path: str) -> dict[str, Any]:
        """Take away exactly what init added to the repository; the claims move back beside the owner."""
        root = repository_of(self._existing_directory(path)).root
        brain = self._home.project(root)
        carried = Path(root) / REPO_DIR
        if brain is None or not (carried / "brain.json").exists():
            raise UnknownBrain(f"{root} was not initialised here", fix="hindbrain status shows the brains of this home")
        self._refuse_links(carried)
        with self._brains.use(brain) as opened:
            for known in opened.places:
                self._reconciler.scan(opened, known)
            place, own = ClaimDirectory(carried / "agent-memory"), ClaimDirectory(opened.directory / "agent-memory")
            make_directory(own.history_path)
            moved = 0
            for facts in list(place.scan()):
                with place.lock(facts.slug, wait_s=30):
                    self._reconciler.settle(opened, facts.slug)
                    for _, archived in place.history(facts.slug):
                        shutil.move(str(archived), str(own.history_path / archived.name))
                    shutil.move(str(place.file(facts.slug)), str(own.file(facts.slug)))
                    os.chmod(own.file(facts.slug), 0o600)
                    seen, now = opened.state.get(str(place.path), facts.slug), own.facts(facts.slug)
                    if seen is not None and now is not None and seen.same(facts) and seen.agreed:
                        opened.state.put(str(own.path), now, seen.digest)
                    opened.state.drop(str(place.path), facts.slug)
                    moved += 1
            if place.history_path.is_dir():
                for left in place.history_path.iterdir():
                    shutil.move(str(left), str(own.history_path / left.name))
            self._relocation.note(caller, opened.store, "brain.uninit", {"claims": moved})
            opened.state.drop_directory(str(place.path))
        removed = self._remove_added(carried)
        return {"ok": True, "schema": "hindbrain-uninit-v0", "project_root": root, "claims_moved": moved, "removed": removed}

    @staticmethod
    def _remove_added(carried: Path) -> list[str]:
        """Only what init wrote; a file of the user's own in there stays, and so does its directory."""
        removed = []
        for name in ("agent-memory/.history", "agent-memory/.locks"):
            shutil.rmtree(carried / name, ignore_errors=True)
        for name in ("brain.json", ".gitignore", ".witness"):
            if (carried / name).exists():
                (carried / name).unlink()
                removed.append(f"{REPO_DIR}/{name}")
        for directory in (carried / "agent-memory", carried):
            if directory.is_dir() and not any(directory.iterdir()):
                directory.rmdir()
                removed.append(str(directory.relative_to(carried.parent)))
        return removed


def _is_text(path: str) -> bool:
    try:
        path.encode("utf-8")
    except UnicodeEncodeError:
        return False
    return True


def _is_file(path: Path) -> bool:
    return path.is_file() and not path.is_symlink()


def _adoption(adopted: int, waiting: int) -> list[str]:
    """How many claims of a clone became memory, in words."""
    named = "1 claim" if adopted == 1 else f"{adopted} claims"
    lines = [f"Adopted {named} from files. Their authors are stated, not checked."] if adopted else []
    return lines + ([f"{waiting} more wait: a person raises memory_adopt_cap in config.toml."] if waiting else [])


def _welcome(root: str, moved_from: str | None) -> str:
    return f"{os.path.basename(root)} has a brain" + (f", which came along from {moved_from}." if moved_from else ".")


@contextmanager
def _writable(carried: Path) -> Iterator[None]:
    """The directories of a repository's memory, writable before a brain is registered; new ones go again if the block fails."""
    memory = carried / "agent-memory"
    made = [place for place in (memory, carried) if not place.exists()]
    try:
        make_directory(memory, mode=SHARED)
        for place in (carried, memory):
            handle, name = tempfile.mkstemp(dir=place)
            os.close(handle)
            os.unlink(name)
        yield
    except BaseException:
        for place in made:
            with suppress(OSError):
                place.rmdir()
        raise
