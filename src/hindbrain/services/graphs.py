"""Graphs: takes a checkout's files into the graph of its brain, whole or only what changed. One ingest of a brain at a time."""

import json
import os
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field, replace

from hindbrain.domain.brain import Brain, contains
from hindbrain.domain.errors import Busy
from hindbrain.domain.graph import Edge, FileFacts, Node
from hindbrain.domain.stored import stored_number
from hindbrain.policy.graph import DOCUMENT_OWNERS, STRENGTHS
from hindbrain.policy.ingest import INGEST_SECONDS, INGEST_WAIT_SECONDS, RACY_NS, TOGETHER_EDGES, TOGETHER_LEAST
from hindbrain.services import anchors
from hindbrain.services.brains import OpenBrain
from hindbrain.services.parsing import Wanted, workers
from hindbrain.stores.checkout import FileFound, History, Listing, head_of, history_of, listing
from hindbrain.stores.graph import LocalGraph
from hindbrain.stores.graph_port import Written
from hindbrain.stores.graph_writer import Take
from hindbrain.stores.repository import main_path, repository_of

__all__ = ["Graphs", "Ingested", "Place", "Wish"]

Progress = Callable[[int, int, str], None]


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """An ingest root: where it is, and what its paths begin with in the graph."""

    root: str
    prefix: str
    patterns: tuple[str, ...] | None = None  # of hidden files that are read too


@dataclass(frozen=True, slots=True, kw_only=True)
class Wish:
    """What is to be taken in, and how."""

    root: str
    anew: bool  # everything that was there goes
    only_changed: bool
    patterns: tuple[str, ...] | None = None
    only: Callable[[str], bool] | None = None  # which paths below the root are meant; the others stay as they are
    kept: bool = True  # whether the root is one of the graph's roots from now on
    seconds: float = INGEST_SECONDS


@dataclass(slots=True, kw_only=True)
class Ingested:
    """What came of it."""

    files_scanned: int
    files_parsed: int = 0
    written: Written | None = None
    changed: list[str] = field(default_factory=list)  # paths whose content is another one, or that are gone
    removed: list[str] = field(default_factory=list)
    skipped: list[tuple[str, str]] = field(default_factory=list)
    timed_out: bool = False
    roots: tuple[str, ...] = ()
    lines: int = 0
    read: list[str] = field(default_factory=list)  # paths that were parsed
    refused: list[tuple[str, str]] = field(default_factory=list)
    namespace: str | None = None
    adapters: list[str] = field(default_factory=list)
    evidence_resolved: int = 0
    evidence_unresolved: int = 0
    providers: dict[str, str] = field(default_factory=dict)
    phases: dict[str, float] = field(default_factory=dict)


class Graphs:
    """The graphs of all brains of this process."""

    def __init__(
        self, home: str, clock: Callable[[], int], holds: Callable[[Brain, str], bool] = lambda brain, place: True
    ) -> None:
        self._home = home
        self._clock = clock
        self._holds = holds  # whether a directory still holds what a brain took in from there

    # -- taking in ---------------------------------------------------------------------------------------------------

    def ingest(self, opened: OpenBrain, wish: Wish, progress: Progress) -> Ingested:
        """Take in the files of a directory. The old graph stays until the new one is whole."""
        graph = _graph(opened)
        with self._alone(graph, opened):
            self._never_below(opened, graph)
            place = self._place(opened, graph, wish)
            progress(0, 0, "reading the file list")
            return self._run(opened, graph, place, wish, self._list(place, wish), progress)

    def refresh(self, opened: OpenBrain, wish: Wish, progress: Progress) -> Ingested | None:
        """The same for files that changed; None, and no new generation, when none did."""
        graph = _graph(opened)
        with self._alone(graph, opened):
            place = next((one for one in self.places(opened) if one.root == wish.root), None)
            if place is None or not os.path.isdir(place.root):
                return None
            found = self._list(place, wish)
            known = _below(graph.files(), place.prefix, None)
            last_ns = int(graph.meta(f"ingested_ns:{place.root}") or 0)
            paths = {place.prefix + one.path for one in found.files}
            skipped = set(json.loads(graph.meta(f"skipped:{place.root}") or "[]"))
            suspects = _to_read(found.files, known, place.prefix, last_ns)
            new = [one for one in suspects if one.path not in skipped and _differs(one)]
            if not new and known.keys() <= paths and graph.meta(f"head:{place.root}") == head_of(place.root):
                return None
            return self._run(opened, graph, place, wish, found, progress)

    def _list(self, place: Place, wish: Wish) -> Listing:
        return _only(listing(place.root, patterns=wish.patterns, without=(self._home,)), wish.only)

    def _run(
        self, opened: OpenBrain, graph: LocalGraph, place: Place, wish: Wish, found: Listing, progress: Progress
    ) -> Ingested:
        began = time.monotonic()
        with ThreadPoolExecutor(max_workers=1, thread_name_prefix="hindbrain-log") as beside:
            log = beside.submit(self._history, graph, place, wish)
            done = Ingested(files_scanned=len(found.files), skipped=[(place.prefix + p, why) for p, why in found.skipped])
            self._write(graph, place, wish, found, done, log, progress, until=began + wish.seconds)
        self._remember(opened, graph)
        return done

    @contextmanager
    def _alone(self, graph: LocalGraph, opened: OpenBrain) -> Iterator[None]:
        with graph.turn(INGEST_WAIT_SECONDS) as mine:
            if not mine:
                raise Busy(f"another ingest of {opened.brain.name} is under way", fix="wait for it, then ask again")
            yield

    def _write(
        self,
        graph: LocalGraph,
        place: Place,
        wish: Wish,
        found: Listing,
        done: Ingested,
        log: "Future[History | None]",
        progress: Progress,
        *,
        until: float,
    ) -> None:
        # Documents that were merged stay when the code is replaced (GR-041). Then nothing is wiped: every file is read again, and
        # the nodes of files keep their keys, so that edges from documents to code stay as well.
        owners = graph.owners() if wish.anew else ()
        documents = [name for name in owners if name.startswith(DOCUMENT_OWNERS)]
        known = graph.files() if documents else {} if wish.anew else _below(graph.files(), place.prefix, wish.only)
        places = [] if wish.anew else [one for one in self._places(graph) if one.root != place.root or not wish.kept]
        own = {"directories", f"history:{place.root}", *documents}
        with graph.taking(anew=wish.anew and not documents) as take:
            for name in (one for one in owners if documents and one not in own):
                take.unmerge(name)
            last_ns = int(take.meta(f"ingested_ns:{place.root}") or 0) if wish.only_changed else None
            files = _to_read(found.files, known, place.prefix, last_ns)
            there = {place.prefix + one.path for one in found.files}
            done.removed = [path for path in known if path not in there]
            take.drop(done.removed)
            self._read(take, files, known, done, progress, until)
            began = time.monotonic()
            new_paths = there - known.keys() or done.removed
            if new_paths or wish.anew:
                self._directories(take, graph, place, there, wish)
            history = log.result()
            if history is not None:
                _put_history(take, history, place, there)
            done.phases["history"] = time.monotonic() - began
            began = time.monotonic()
            progress(len(files), len(files), "binding names")
            done.written = take.finish()
            done.phases["bind"] = time.monotonic() - began
            if wish.kept:
                places.append(place)
            done.roots = tuple(one.root for one in places)
            take.set_meta("roots", json.dumps([[one.root, one.prefix, one.patterns] for one in places]))
            take.set_meta(f"ingested_ns:{place.root}", str(time.time_ns()))
            take.set_meta(f"skipped:{place.root}", json.dumps([path for path, _ in done.skipped]))
            if history is not None:
                take.set_meta(f"head:{place.root}", history.head)
        done.changed += done.removed

    @staticmethod
    def _read(
        take: Take, files: Sequence[Wanted], known: Mapping[str, FileFacts], done: Ingested, progress: Progress, until: float
    ) -> None:
        began = time.monotonic()
        sizes = {one.path: one for one in files}
        left = len(files)
        for number, answer in enumerate(workers().parse(files, until=until), 1):
            left -= 1
            if answer.packed is not None:
                take.add(answer.packed)
                done.files_parsed += 1
                done.lines += answer.packed[0][5]
                done.changed.append(answer.path)
                done.read.append(answer.path)
            elif answer.reason:
                done.skipped.append((answer.path, answer.reason))
                if answer.path in known:
                    take.drop([answer.path])
                    done.changed.append(answer.path)
            else:
                one = sizes[answer.path]
                take.touch(answer.path, size=one.size, mtime_ns=one.mtime_ns)
            if number % 50 == 0:
                progress(number, len(files), "reading files")
        done.timed_out = left > 0
        done.phases["read"] = time.monotonic() - began

    # -- places ------------------------------------------------------------------------------------------------------

    def _place(self, opened: OpenBrain, graph: LocalGraph, wish: Wish) -> Place:
        """Paths inside the brain's root are as the repository has them; those of other roots begin with a name for it."""
        root = opened.brain.root or ""
        seen = main_path(wish.root)
        if contains(root, seen):
            inside = os.path.relpath(seen, root)
            return Place(root=wish.root, prefix="" if inside == "." else inside + "/", patterns=wish.patterns)
        others = {one.prefix: one.root for one in self._places(graph) if one.root != wish.root}
        name = base = f"@{os.path.basename(seen)}/"
        number = 1
        while name in others:
            number += 1
            name = f"{base[:-1]}-{number}/"
        return Place(root=wish.root, prefix=name, patterns=wish.patterns)

    @staticmethod
    def _places(graph: LocalGraph) -> list[Place]:
        rows = json.loads(graph.meta("roots") or "[]")
        return [
            Place(root=root, prefix=prefix, patterns=None if patterns is None else tuple(patterns))
            for root, prefix, patterns in rows
        ]

    def places(self, opened: OpenBrain) -> list[Place]:
        """The ingest roots of a brain's graph, oldest first. Where another repository lies by now, nothing is read."""
        graph = opened.graph
        known = [] if graph is None else self._places(graph)
        return [one for one in known if self._is_own(opened.brain, one.root)]

    def _is_own(self, brain: Brain, place: str) -> bool:
        """Whether a directory below the root of a brain is still there and no link, or one elsewhere holds what was taken in."""
        if contains(brain.root or "", main_path(place)):
            return os.path.realpath(place) == place
        return self._holds(brain, place)

    def follow(self, opened: OpenBrain, old: str) -> None:
        """The checkout of a brain moved: what was taken in from the old directory lies in the new one."""
        graph, new = opened.graph if opened.graph_path.exists() else None, opened.brain.root or ""
        if graph is not None:
            rows = json.loads(graph.meta("roots") or "[]")
            told = [[new + root.removeprefix(old) if contains(old, root) else root, *rest] for root, *rest in rows]
            graph.set_meta("roots", json.dumps(told))

    def behind(self, opened: OpenBrain, *, checkout: str | None = None) -> list[str]:
        """Files that are other than the graph has them, new or gone. `checkout` is the worktree that is meant, if it is not the
        one the graph was made from."""
        found: list[str] = []
        graph = opened.graph if opened.graph_path.exists() else None
        if graph is None:
            return found
        for place in self.places(opened):
            root = _as_in(place.root, checkout)
            known = _below(graph.files(), place.prefix, None)
            listed = listing(root, patterns=place.patterns, without=(self._home,)).files if os.path.isdir(root) else ()
            last_ns = int(graph.meta(f"ingested_ns:{place.root}") or 0) if root == place.root else 0
            skipped = set(json.loads(graph.meta(f"skipped:{place.root}") or "[]"))
            suspects = _to_read(listed, known, place.prefix, last_ns)
            found += [one.path for one in suspects if one.path not in skipped and _differs(one)]
            found += sorted(known.keys() - {place.prefix + one.path for one in listed})
        return found

    # -- history and directories -------------------------------------------------------------------------------------

    @staticmethod
    def _history(graph: LocalGraph, place: Place, wish: Wish) -> History | None:
        """What the log says, when it says something new."""
        if not wish.anew and wish.only_changed and graph.meta(f"head:{place.root}") == head_of(place.root):
            return None
        return history_of(place.root)

    @staticmethod
    def _directories(take: Take, graph: LocalGraph, place: Place, there: set[str], wish: Wish) -> None:
        """One node for every directory that holds a file."""
        paths = set(there) if wish.anew else {path for path in take.paths if not path.startswith(place.prefix)} | there
        nodes, edges = _tree(paths, os.path.basename(place.root))
        take.merge("directories", nodes, edges)

    # -- generations -------------------------------------------------------------------------------------------------

    @staticmethod
    def _never_below(opened: OpenBrain, graph: LocalGraph) -> None:
        graph.raise_generation(stored_number(opened.store.meta("graph.generation"), "meta"))

    @staticmethod
    def _remember(opened: OpenBrain, graph: LocalGraph) -> None:
        """A graph that is lost begins again behind the number it had: what was told by a generation stays told."""
        with opened.store.writing() as writer:
            writer.set_meta("graph.generation", str(graph.counts()[2]))


def _graph(opened: OpenBrain) -> LocalGraph:
    graph = opened.graph
    if graph is None:
        raise ValueError("the medulla has no graph")  # callers send code to projects only
    return graph


def _below(files: Mapping[str, FileFacts], prefix: str, only: Callable[[str], bool] | None) -> dict[str, FileFacts]:
    """The files of a place, as far as they are meant."""
    inside = {path: facts for path, facts in files.items() if (path.startswith(prefix) if prefix else not path.startswith("@"))}
    return inside if only is None else {path: facts for path, facts in inside.items() if only(path.removeprefix(prefix))}


def _only(found: Listing, only: Callable[[str], bool] | None) -> Listing:
    return found if only is None else replace(found, files=tuple(one for one in found.files if only(one.path)))


def _to_read(files: Sequence[FileFound], known: Mapping[str, FileFacts], prefix: str, last_ns: int | None) -> list[Wanted]:
    """Which files have to be opened: all, or with `last_ns` those that look other than at that time."""
    wanted = []
    for one in files:
        path = prefix + one.path
        facts = known.get(path) if last_ns is not None else None
        digest = ""
        if facts is not None and last_ns is not None:
            # A file that was written in the same moment as it was read may have changed once more without a new time.
            if (one.size, one.mtime_ns) == (facts.size, facts.mtime_ns) and one.mtime_ns < last_ns - RACY_NS:
                continue
            digest = facts.sha256
        wanted.append(Wanted(path, one.full, one.size, digest, one.mtime_ns))
    return wanted


def _as_in(root: str, checkout: str | None) -> str:
    """A root as another worktree of its repository has it; itself where that is none."""
    if checkout is None or contains(checkout, root):
        return root
    there, here = repository_of(checkout), repository_of(root)
    if there.root != here.root or there.worktree == here.worktree:
        return root
    return there.worktree + root.removeprefix(here.worktree)


def _differs(one: Wanted) -> bool:
    """Whether a file that looks changed is."""
    return not one.digest or anchors.file_digest(os.path.dirname(one.full), os.path.basename(one.full)) != one.digest


def _tree(paths: set[str], name: str) -> tuple[list[Node], list[Edge]]:
    """Files in their directories, up to the root. Without a file there is no root either: such a graph is empty."""
    if not paths:
        return [], []
    nodes = {"directory::.": Node(id="directory::.", kind="directory", label=name, path=".")}
    edges = []
    contained = STRENGTHS["contains"]
    for path in sorted(paths):
        child, parent = f"file::{path}", os.path.dirname(path)
        while True:
            above = f"directory::{parent or '.'}"
            edges.append(Edge(source=above, target=child, relation="contains", weight=contained.weight, causal=contained.causal))
            if above in nodes:
                break
            nodes[above] = Node(id=above, kind="directory", label=os.path.basename(parent), path=parent)
            child, parent = above, os.path.dirname(parent)
    return list(nodes.values()), edges


def _put_history(take: Take, history: History, place: Place, there: set[str]) -> None:
    """Commits per file, and an edge between files that were committed together more than once."""
    prefix = place.prefix
    commits = {prefix + path: value for path, value in history.commits.items()}
    together = {prefix + path: [(prefix + other, n) for other, n in found] for path, found in history.together.items()}
    take.history(commits, together, below=there)
    best = {path: {other: n for other, n in found[:TOGETHER_EDGES] if n >= TOGETHER_LEAST} for path, found in together.items()}
    pairs = {(min(path, other), max(path, other)): n for path, found in best.items() for other, n in found.items()}
    edges = [
        Edge(
            source=f"file::{one}",
            target=f"file::{other}",
            relation="co_changes",
            weight=count / max(commits[one][0], commits[other][0]),
            bidirectional=True,
        )
        for (one, other), count in sorted(pairs.items())
        if one in there and other in there
    ]
    take.merge(f"history:{place.root}", [], edges)
