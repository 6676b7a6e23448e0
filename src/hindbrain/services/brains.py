"""Brains: which there are, which covers a directory, and which are open. At most a few stay warm."""

import os
import shlex
import threading
from collections import OrderedDict
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import replace
from functools import partial
from pathlib import Path

from hindbrain.domain.brain import Brain, contains
from hindbrain.domain.claim import parse
from hindbrain.domain.errors import Busy, InvalidLabel, RepositoryChanged, StoreBehind
from hindbrain.domain.label import Slug, former_slug, slug_of
from hindbrain.domain.ledger import Entry
from hindbrain.domain.stored import stored_number
from hindbrain.services.repository_bindings import RepositoryBindings
from hindbrain.settings import Settings
from hindbrain.stores.files import ClaimDirectory
from hindbrain.stores.filestate import FileState
from hindbrain.stores.graph import LocalGraph
from hindbrain.stores.graph_port import ResolveFile, Symbols
from hindbrain.stores.home import REPO_DIR, Home
from hindbrain.stores.learned import LearnedStore
from hindbrain.stores.port import BrainStore, Counts
from hindbrain.stores.repository import git_directory, repository_of, upwards
from hindbrain.stores.schema_look import schema_of

__all__ = ["Brains", "OpenBrain", "StoreOpener", "repository_change", "repository_ways"]

StoreOpener = Callable[[Brain, Path], BrainStore]

_LOOKING: ContextVar[bool] = ContextVar("looking", default=False)  # whether this call may only look


class OpenBrain:
    """A warm brain: its database, its claim files, and what those looked like last."""

    def __init__(self, brain: Brain, directory: Path, store: BrainStore) -> None:
        self.brain = brain
        self.directory = directory
        self.store = store
        self.state = FileState(directory / "files.db")
        self._own = ClaimDirectory(directory / "agent-memory")
        # A root that became a link belongs to the directory it leads to, and so does the memory in there.
        carries = brain.root is not None and os.path.realpath(brain.root) == brain.root
        self._carried = ClaimDirectory(Path(brain.root or "", REPO_DIR, "agent-memory")) if carries else None
        self.users = 0
        self.graph_path = directory / "graph.db"  # where the graph lies once something was taken in
        self.learned_path = directory / "learned.db"
        self._graph: LocalGraph | None = None
        self._learned: LearnedStore | None = None
        self._graph_lock = threading.Lock()
        self.lock = threading.RLock()
        self.counts: dict[tuple[str, str], int] = {}
        self.warned: set[str] = set()
        self.waiting: dict[str, int] = {}  # place -> files beyond memory_adopt_cap, which a person has not let in

    @property
    def places(self) -> tuple[ClaimDirectory, ...]:
        """Where claim files are read from; the first is where they are written."""
        if self._carried is not None and self._carried.is_own():
            return (self._carried, self._own)
        return (self._own,)

    @property
    def place(self) -> ClaimDirectory:
        return self.places[0]

    def holding(self, slug: str) -> ClaimDirectory:
        """The directory that has the file of a slug, else the one where it would be written."""
        places = self.places
        return next((place for place in places if place.has(slug)), places[0]) if len(places) > 1 else places[0]

    @property
    def carried(self) -> ClaimDirectory | None:
        """The directory of claims that travels with the repository, whether or not this checkout has it now."""
        return self._carried

    def checkout_of(self, place: ClaimDirectory) -> str | None:
        """Return the repository whose checkouts hold a directory of claims; None for a directory that git does not carry."""
        carried = self._carried is not None and place.path == self._carried.path
        return self.brain.root if carried and self.brain.root is not None and git_directory(self.brain.root) else None

    def lost_directory(self) -> tuple[str, str] | None:
        """What to say, and the command that puts it right, when the repository's directory of claims went as a whole."""
        root, place = self.brain.root, self._carried
        if root is None or place is None or not os.path.isdir(root) or os.path.lexists(place.path):
            return None
        if self.state.directory(str(place.path)) is None:  # it never was there
            return None
        text = f"this checkout has no {place.path}; its claims stay in memory, and the repository does not carry them"
        return text, f"hindbrain init {shlex.quote(root)}"

    def slug_for(self, label: str) -> Slug:
        """The slug under which this brain has a label, else the one that the label gives.

        0.1.0 dropped letters outside a-z: a claim that it wrote keeps its name.
        """
        slug, former = slug_of(label), former_slug(label)
        if former in ("", slug) or self.store.live([slug]):
            return slug
        last = next(iter(self.store.versions(former)), None)
        try:
            return former if last is not None and slug_of(parse(last.text, fallback_label=former).label) == slug else slug
        except InvalidLabel:
            return slug

    @property
    def graph(self) -> LocalGraph | None:
        """The graph of the checkout, opened when it is first asked for; the medulla has none and never holds code."""
        if self.brain.root is None:
            return None
        with self._graph_lock:
            if self._graph is None:
                self._graph = LocalGraph(self.directory, _resolver)
            return self._graph

    @property
    def graph_lost(self) -> bool:
        """Whether code was taken in once, and the file that held it is gone or was begun anew."""
        if self.brain.root is None or not stored_number(self.store.meta("graph.generation"), "meta"):
            return False
        graph = self.graph if self.graph_path.exists() else None
        return graph is None or graph.meta("nodes") is None

    def counted(self) -> Counts:
        """How much the brain holds: claims, and nodes and edges of claims and code together. Makes no graph to count it."""
        own = self.store.counts()
        graph = self.graph if self.graph_path.exists() else None
        if graph is None:
            return own
        nodes, edges, generation = graph.counts()
        return replace(own, nodes=own.nodes + nodes, edges=own.edges + edges, generation=own.generation + generation)

    @property
    def learned(self) -> LearnedStore:
        """What use has taught about the graph, opened when it is first asked for."""
        with self._graph_lock:
            if self._learned is None:
                self._learned = LearnedStore(self.learned_path)
            return self._learned

    @property
    def plasticity_generation(self) -> int:
        """How often the graph has learned; 0 without opening anything when it never did."""
        if self._learned is None and not self.learned_path.exists():
            return 0
        return self.learned.generation

    def close(self) -> None:
        with self._graph_lock:
            if self._graph is not None:
                self._graph.close()
            if self._learned is not None:
                self._learned.close()
        self.state.close()
        self.store.close()


def repository_change(root: str) -> str:
    """What is wrong with the directory of a brain that serves nobody who stands in it."""
    if not os.path.isdir(root):
        return f"{root} is gone: a caller in it cannot be known"
    return f"{root} holds another repository than the one its brain was made for"


def repository_ways(root: str) -> str:
    """What a person can do about a directory that is gone, or holds another repository than its brain was made for."""
    quoted = shlex.quote(root)
    if not os.path.isdir(root):
        return f"bring the directory back, or give its brain to the place it was moved to: `hindbrain rebind {quoted} NEW`"
    return (
        f"a person decides in a terminal: `hindbrain brain confirm {quoted}` if it is the same project, "
        f"`hindbrain brain detach {quoted}` if it is another one; detaching deletes nothing"
    )


def _resolver(symbols: Symbols) -> ResolveFile:
    from hindbrain.engines.code.resolve import resolver  # only who writes a graph needs it

    return resolver(symbols)


class Brains:
    """The shelf of brains of one home."""

    def __init__(
        self,
        home: Home,
        settings: Settings,
        open_store: StoreOpener,
        on_open: Callable[[OpenBrain], None],
        bound_root: str | None,
    ) -> None:
        self.home = home
        self.bindings = RepositoryBindings(home)
        self.bound_root = bound_root
        self._cap = settings.number("warm_brain_cap")
        self._open_store = open_store
        self._shared_store = bool(settings.text("store_url"))
        self._on_open = on_open
        self._warm: OrderedDict[str, OpenBrain] = OrderedDict()
        self._lock = threading.RLock()
        self.before_close: Callable[[OpenBrain], None] = lambda _: None
        self.committed: Callable[[str, Sequence[Entry], Sequence[str]], None] = lambda name, entries, slugs: None

    def all(self) -> list[Brain]:
        """Every project brain, from disk, whether or not it is loaded."""
        return list(self.home.projects())

    def covering(self, root: str) -> Brain | None:
        """The brain of the nearest directory at or above a canonical root; a linked worktree belongs to its repository.

        None also where that directory holds another repository than the one the brain was made for, and where it is gone: the
        caller may be of another one that was there meanwhile.
        """
        brain, place = self._nearest(root)
        return brain if brain is not None and self._covers(brain, place) else None

    def name_covering(self, root: str) -> str | None:
        """The name of that brain."""
        brain = self.covering(root)
        return brain.name if brain is not None else None

    def project(self, root: str) -> Brain | None:
        """The brain registered for exactly this root, if the directory still holds its repository."""
        brain = self.home.project(root)
        return brain if brain is not None and self._holds(brain) else None

    def replaced(self, root: str) -> Brain | None:
        """The brain that would cover a root, if its directory were there and did not hold another repository by now."""
        brain, place = self._nearest(root)
        return brain if brain is not None and not self._covers(brain, place) else None

    def place_of(self, root: str) -> tuple[str, str]:
        """The project that a canonical directory belongs to, and the checkout of it that holds the directory.

        A brain inside a repository is a project of its own; without one the repository is the project.
        """
        repository, brain = repository_of(root), self.covering(root)
        own = brain.root if brain is not None else None
        if own is not None and contains(repository.root, own):
            return own, repository.worktree + own.removeprefix(repository.root)
        if own is not None and not repository.git and contains(own, root):
            return own, own
        return repository.root, repository.worktree

    def _covers(self, brain: Brain, place: str | None) -> bool:
        return os.path.isdir(place or brain.root or os.sep) and self._holds(brain, place)

    def _holds(self, brain: Brain, place: str | None = None) -> bool:
        return self.bindings.holds(brain, place, record=not _LOOKING.get())

    def _nearest(self, root: str) -> tuple[Brain | None, str | None]:
        """The nearest registered brain, and the directory of it that covers. A repository of git ends where it begins: what
        lies above is another project. A submodule belongs to its superproject, and a linked worktree to its repository."""
        repository = repository_of(root)
        linked = repository.root != repository.worktree
        inside = [path for path in upwards(root) if not repository.git or contains(repository.worktree, path)]
        for candidate in inside:
            names = [candidate]
            if linked:
                names.append(repository.root + candidate.removeprefix(repository.worktree))
            if brain := next((found for name in names if (found := self.home.project(name))), None):
                return brain, None
        outer = repository.root if linked else repository.superproject
        if outer is not None:
            above = self._nearest(outer)
            if above[0] is not None:
                return above
        extra = self.home.ingest_roots()
        for candidate in inside:
            if owner := extra.get(candidate):
                return self.home.project(owner), candidate
        return None, None

    @property
    def served(self) -> bool:
        """Whether the brains lie on a server, not in files of this home."""
        return self._shared_store

    def store_of(self, brain: Brain) -> BrainStore:
        """A store of one's own on a brain, beside the shelf: nothing is woken by it. Whoever asks closes it."""
        return self._open_store(brain, self.home.brain_dir(brain))

    def has_medulla(self) -> bool:
        """False until something was shared: reading never creates the medulla."""
        return self._shared_store or self.home.medulla_dir.is_dir()

    def born_in(self, origin: str | None) -> Brain | None:
        """Return the brain of this home that an origin names; None when it is unknown here, or an absent medulla."""
        found = self.home.origin(origin) if origin else None
        return None if found is not None and found.root is None and not self.has_medulla() else found

    def related(self, root: str) -> list[Brain]:
        """Brains above or below a directory that none covers."""
        return [
            b
            for b in self.all()
            if b.root and os.path.isabs(b.root) and (b.root.startswith(root.rstrip("/") + "/") or b.covers(root))
        ]

    def warm(self) -> set[str]:
        with self._lock:
            return set(self._warm)

    @contextmanager
    def looking(self) -> Iterator[None]:
        """In this block no database is made or brought forward: one that would have to be is told as StoreBehind."""
        before = _LOOKING.set(True)
        try:
            yield
        finally:
            _LOOKING.reset(before)

    def _look(self, directory: Path) -> None:
        found = schema_of(directory / "brain.db")
        if found.error is None and (found.behind or not found.exists):
            told = f"schema version {found.version}" if found.exists else "no database yet"
            raise StoreBehind(f"{directory} has {told}", fix="the next ordinary call brings it up to date", found=found.version)

    @contextmanager
    def use(self, brain: Brain) -> Iterator[OpenBrain]:
        """The open brain, kept open for the block."""
        opened = self._take(brain)
        try:
            yield opened
        finally:
            with self._lock:
                opened.users -= 1

    def _take(self, brain: Brain) -> OpenBrain:
        if not self._holds(brain):
            raise RepositoryChanged(
                f"{brain.root} holds another repository than the one its brain was made for",
                fix=repository_ways(brain.root or ""),
                project_root=brain.root,
            )
        with self._lock:
            opened = self._warm.get(brain.name)
            if opened is not None and opened.brain.mark != brain.mark:  # another process gave the directory another brain
                if opened.users:
                    raise Busy(
                        f"the brain of {brain.name} is being replaced", fix="try again when the calls that use it are done"
                    )
                self._drop(brain.name)
                opened = None
            if opened is None:
                self._make_room(brain)
                directory = self.home.brain_dir(brain)
                if _LOOKING.get() and not self._shared_store:
                    self._look(directory)
                self.home.make(directory)
                opened = OpenBrain(brain, directory, self._open_store(brain, directory))
                opened.store.committed = partial(self.committed, brain.name)
                self._warm[brain.name] = opened
                fresh = True
            else:
                opened.brain = replace(brain) if opened.brain != brain else opened.brain
                fresh = False
            self._warm.move_to_end(brain.name)
            opened.users += 1
        if fresh:
            try:
                self._on_open(opened)
            except BaseException:
                with self._lock:
                    opened.users -= 1
                raise
        return opened

    def _make_room(self, coming: Brain) -> None:
        """Close the least recently used idle project brains; the bound one and the medulla stay and do not count."""
        if coming.root is None or coming.root == self.bound_root:
            return
        kept = {"medulla", self.bound_root}
        idle = [name for name, one in self._warm.items() if name not in kept and one.users == 0]
        count = sum(name not in kept for name in self._warm)
        while count >= self._cap and idle:
            self._drop(idle.pop(0))
            count -= 1

    def _drop(self, name: str) -> None:
        opened = self._warm.pop(name)
        self.before_close(opened)
        opened.close()

    def drop(self, brain: Brain) -> None:
        """Close a brain if it is open and idle."""
        with self._lock:
            if (opened := self._warm.get(brain.name)) and opened.users == 0:
                self._drop(brain.name)

    def each_warm(self) -> list[OpenBrain]:
        """The open brains. One whose directory holds another repository by now is closed instead."""
        with self._lock:
            warm = list(self._warm.values())
        kept = [opened for opened in warm if self._holds(opened.brain)]
        for opened in warm:
            if opened not in kept:
                self.drop(opened.brain)
        return kept

    def close(self) -> None:
        with self._lock:
            for name in list(self._warm):
                self._drop(name)
