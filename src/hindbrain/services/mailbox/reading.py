"""Reading letters: the spool and every box that this machine knows, each file read again only when it changed. Writes nothing."""

import os
import threading
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from hindbrain.domain.brain import Brain
from hindbrain.domain.errors import PathRefused
from hindbrain.domain.letter import FIELDS, Letter
from hindbrain.engines.fates import Fate, Replies, counted, open_among, replies
from hindbrain.engines.fence import shown
from hindbrain.engines.hygiene import scan
from hindbrain.engines.letters import Batch, read, secret_in
from hindbrain.services.mailbox.places import PostRoom
from hindbrain.services.mailbox.spool import Spool
from hindbrain.stores.home import BOX, REPO_DIR, Home
from hindbrain.stores.letter_files import box_lines, lines

__all__ = ["Known", "Reading", "shown_letter"]

# What every letter of an answer has, whether the letter says it or not; the rest of what is known only when it is there.
_WORDS = ("what", "expected", "snippet")
_ALWAYS = ("ts", "agent", "class", "repo", "brain", "tool", "what", "expected", "snippet")


@dataclass(frozen=True, slots=True, kw_only=True)
class Known:
    """All letters at one moment: the spool, the boxes by root (the medulla's under None), and what could not be read."""

    spool: Batch
    boxes: dict[str | None, Batch]
    unreachable: tuple[dict[str, str], ...]
    graph: Replies

    @property
    def letters(self) -> tuple[Letter, ...]:
        """Each once, those of the spool first, then those that only boxes have."""
        return tuple(self.graph.letters.values())


class Reading:
    """One reader for all letters of this home."""

    def __init__(self, home: Home, spool: Spool, room: PostRoom, *, foreign_tools: Iterable[str]) -> None:
        self._home = home
        self._spool = spool
        self._room = room
        self._foreign = tuple(foreign_tools)
        self._lock = threading.Lock()
        self._seen: dict[Path, tuple[tuple[int, int, int], Batch]] = {}
        self._graph: tuple[object, Replies] | None = None

    # -- files -------------------------------------------------------------------------------------------------------

    def box(self, root: str | None) -> Batch | None:
        """The letters of one box; None when there is no such file. Raises OSError when it is there and cannot be read."""
        if root is None:
            return self._file(self._home.medulla_box)
        return self._batch(Path(root, REPO_DIR, BOX), lambda: box_lines(root))

    def spool(self) -> Batch:
        return self._file(self._home.field_reports_file) or Batch(letters=())

    def _file(self, path: Path) -> Batch | None:
        return self._batch(path, lambda: lines(path))

    def _batch(self, path: Path, given: Callable[[], Iterator[bytes | None]]) -> Batch | None:
        try:
            facts = os.lstat(path)
        except (FileNotFoundError, NotADirectoryError):
            return None
        stamp = (facts.st_ino, facts.st_size, facts.st_mtime_ns)
        with self._lock:
            if (held := self._seen.get(path)) is not None and held[0] == stamp:
                return held[1]
        batch = read(given())
        with self._lock:
            self._seen[path] = (stamp, batch)
        return batch

    # -- all of it ---------------------------------------------------------------------------------------------------

    def known(self, more: Iterable[str] = ()) -> Known:
        """Everything there is, with the reply graph over it. `more` are roots that may have a box though nobody knows them."""
        boxes: dict[str | None, Batch] = {}
        unreachable: list[dict[str, str]] = []
        roots = self._room.known()
        for root in (None, *roots, *(one for one in dict.fromkeys(more) if one not in roots)):
            try:
                batch = self.box(root)
            except OSError as wrong:
                unreachable.append({"box": root or "medulla", "reason": wrong.strerror or "it cannot be read"})
                continue
            if batch is not None:
                boxes[root] = batch
            elif root is not None and not os.path.isdir(root):
                unreachable.append({"box": root, "reason": "the repository is not on this machine"})
        return Known(
            spool=(spool := self.spool()), boxes=boxes, unreachable=tuple(unreachable), graph=self._replies(spool, boxes)
        )

    def _replies(self, spool: Batch, boxes: dict[str | None, Batch]) -> Replies:
        batches, links = (spool, *boxes.values()), self._spool.links()
        with self._lock:
            # The same batches are the same letters: files that did not change give the objects that were read before.
            if self._graph is not None and _same(self._graph[0], (*batches, links)):
                return self._graph[1]
        graph = replies((one for batch in batches for one in batch.letters), links, foreign_tools=self._foreign)
        with self._lock:
            self._graph = ((*batches, links), graph)
        return graph

    # -- one box -----------------------------------------------------------------------------------------------------

    def open_count(self, brain: Brain) -> int | None:
        """How many letters of a brain's box wait for an answer; None where there is no box that can be read."""
        return self.open_counts((brain,))[brain.name]

    def open_counts(self, brains: Iterable[Brain]) -> dict[str, int | None]:
        """The same for several brains at once, by their names."""
        found: dict[str, int | None] = {}
        graph: Replies | None = None
        for brain in brains:
            try:
                batch = self.box(brain.root)
            except OSError:
                batch = None
            if batch is not None and graph is None:
                graph = self.known().graph
            found[brain.name] = None if batch is None or graph is None else open_among(counted(batch.letters, graph))
        return found

    def show(self, brain: Brain) -> dict[str, Any]:
        """The letters of one box in the order of its file, with the fate that answers anywhere gave them."""
        try:
            batch = self.box(brain.root) or Batch(letters=())
        except OSError as wrong:
            place = self._home.medulla_box if brain.root is None else Path(brain.root, REPO_DIR, BOX)
            raise PathRefused(
                f"the box {shown(str(place))[:200]!r} cannot be read: {wrong.strerror or 'an error of the disk'}",
                fix="a box is a plain file of letters; move away what lies in its place",
            ) from wrong
        graph = self.known().graph
        here = {letter.id for letter in batch.letters}
        written = {letter.id for letter in self.spool().letters}
        counts = counted(batch.letters, graph)
        return {
            "served_brain": {"project_root": brain.root, "display_name": brain.display_name},
            "letters": [shown_letter(letter, graph, here=here, arrived=letter.id not in written) for letter in batch.letters],
            "counts": counts,
            "open": open_among(counts),
            "malformed": batch.malformed,
        }


def shown_letter(letter: Letter, graph: Replies, *, arrived: bool, here: set[Any] | None = None) -> dict[str, Any]:
    """A letter as answers show it: what is known of its fields, its fate, and who answered it.

    A letter that is not in this home's own spool arrived by file, and its agent is only stated.
    """
    told = letter.told()
    answers = [one.id for one in graph.answered_by(letter)]
    fate: Fate = graph.fate(letter)
    row: dict[str, Any] = {"id": letter.id} | {name: told.get(name) for name in _ALWAYS}
    row |= {name: told[name] for name in FIELDS if name in told and name not in row}
    row |= {"state": fate.value, "answers": list(letter.answers), "answered_by": answers}
    if arrived:
        row["arrived_by"] = "file"
    if here is not None and answers:
        row["answered_by_here"] = all(one in here for one in answers)
    return without_secret(row) if secret_in(letter) else row


def without_secret(row: dict[str, Any]) -> dict[str, Any]:
    """A letter without the words that hold what must not be repeated; it names the fields that are kept back."""
    held = [name for name, value in row.items() if isinstance(value, str) and scan(value)] or list(_WORDS)
    return row | dict.fromkeys(held) | {"withheld": held, "flagged": "hygiene"}


def _same(first: object, second: tuple[object, ...]) -> bool:
    return (
        isinstance(first, tuple)
        and len(first) == len(second)
        and all(a is b or a == b for a, b in zip(first, second, strict=True))
    )
