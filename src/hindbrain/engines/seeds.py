"""Seeds: the nodes a question names, by label, beginning of a label, tag, path or likeness. Built once per graph."""

import re
from bisect import bisect_left
from collections import defaultdict
from dataclasses import dataclass

import numpy as np

from hindbrain.engines.network import Floats, Ints, Network
from hindbrain.engines.trigrams import Trigrams
from hindbrain.policy.activation import SEEDS
from hindbrain.policy.recall import STOP_WORDS

__all__ = ["Names", "Seeds", "words"]

_TOKEN = re.compile(r"[^\s?!,;(){}\[\]\"'`<>=|]+")
_PARTS = re.compile(r"[A-Z]+(?=[A-Z][a-z])|[A-Z]?[a-z]+|[A-Z]+|\d+|[^\W\d_A-Za-z]+")
_EDGE = ".:/-#*"
_JOINTS = re.compile(r"::|\.|#")  # between the parts of a qualified name
_WEIGHED = 20  # nodes that look alike, for each that is shown
_DEFINED = frozenset({"class", "struct", "enum", "type", "function"})
_CODE = frozenset({"file", "fn", "mod", "const"})  # parts of an id that are code, too; a section, a key and a directory are not


@dataclass(frozen=True, slots=True, kw_only=True)
class Seeds:
    """Nodes with the strength they start with, strongest first."""

    nodes: Ints
    strengths: Floats


def words(query: str) -> list[str]:
    """The words of a question, whole first: as written, at `.`, `/`, `::`, and identifiers in their parts; no stop words."""
    found: dict[str, None] = {}
    for token in _TOKEN.findall(query):
        whole = token.strip(_EDGE)
        pieces = [whole, *re.split(r"[./:\\#]+", whole), *_PARTS.findall(whole)]
        for piece in pieces:
            word = piece.strip("_-").lower()
            if len(word) >= SEEDS.shortest and word not in STOP_WORDS:
                found.setdefault(word)
    return list(found)


class Names:
    """Every way in which a node of a network can be named."""

    def __init__(self, net: Network) -> None:
        self._net = net
        self.trigrams = Trigrams(net.labels)
        self._labels: dict[str, list[int]] = defaultdict(list)
        self._tags: dict[str, list[int]] = defaultdict(list)
        self._paths: dict[str, list[int]] = defaultdict(list)
        for row, label in enumerate(net.labels):
            self._labels[label.lower()].append(row)
        for row, tags in enumerate(net.tags):
            for tag in tags.split():
                self._tags[tag.lower()].append(row)
        for row, (kind, path) in enumerate(zip(net.kinds, net.paths, strict=True)):
            if kind == "file" and path:
                self._paths[path.lower()].append(row)
        self._sorted = sorted(self._labels)

    def resolve(self, name: str) -> int | None:
        """The one node that a caller means: an external id, a path, or a label that only one node has."""
        index = self._net.index
        for form in (name, f"file::{name.removeprefix('./')}"):
            if form in index:
                return index[form]
        named = self.called(name)
        return named[0] if len(named) == 1 else None

    def called(self, name: str) -> list[int]:
        """The nodes of a name, bare (`Flask`) or qualified (`Flask.run`, `src/app.py::Flask`).

        As it is written comes before another case. What code defines comes before modules, constants and files, and these
        before sections of documents, directories and claims. Of equal ones the outermost count.
        """
        found = self._labels.get(name.lower(), []) or self._qualified(name)
        own = [row for row in found if self._net.labels[row] == name]
        ranked = [(self._rank(row), row) for row in own or found]
        best = min((rank for rank, _ in ranked), default=(0, 0))
        return [row for rank, row in ranked if rank == best]

    def _rank(self, row: int) -> tuple[int, int]:
        """What a node is, and how deep inside others."""
        parts = self._net.ids[row].split("::")
        if parts[0] != "file":
            return 2, 0
        return 0 if self._net.kinds[row] in _DEFINED else 1 if parts[-2] in _CODE else 2, len(parts)

    def _qualified(self, name: str) -> list[int]:
        """Nodes of code whose path and outer names end as a name does."""
        path, mark, symbol = name.removeprefix("./").partition("::")
        inside = f"file::{path}::" if mark and f"file::{path}" in self._net.index else ""
        wanted = [part for part in _JOINTS.split(symbol if inside else name) if part]
        if not inside and len(wanted) < 2:
            return []
        rows = self._labels.get(wanted[-1].lower(), []) if wanted else []
        ids = ((row, self._net.ids[row]) for row in rows)
        return [row for row, id_ in ids if id_.startswith(inside or "file::") and id_.split("::")[3::2][-len(wanted) :] == wanted]

    def nearest(self, name: str, count: int) -> list[str]:
        """Ids of the nodes that share a name, else of those that look most like it."""
        if shared := self.called(name):
            return [self._net.ids[row] for row in shared[:count]]
        rows, score = self.trigrams.scores(re.split(r"::|/", name)[-1] or name, 0.0)
        best = np.argsort(-score, kind="stable")[: _WEIGHED * count]
        alike = sorted(best.tolist(), key=lambda at: (-score[at], self._rank(int(rows[at]))))
        return [self._net.ids[int(rows[at])] for at in alike[:count]]

    def seeds(self, query: str, most: int) -> Seeds:
        """What a question names, at most so many; of equal ones those that the rarest word brought, then by id."""
        whole = query.strip()
        asked = words(query)
        if len(asked) > SEEDS.words:
            asked = sorted(asked, key=lambda word: len(self._labels.get(word, ())) or len(self._labels))[: SEEDS.words]
        found = [
            ([self._net.index[whole]] if whole in self._net.index else [], SEEDS.exact),
            (self._labels.get(whole.lower(), []), SEEDS.exact),
        ]
        strange, vague = [], not asked
        for word in asked:
            named = self._named(word)
            found += named
            common = self._common(word)
            vague |= common
            if not common and not any(rows for rows, _ in named):
                strange.append(word)
        rows = np.concatenate([np.array(rows, dtype=np.int64) for rows, _ in found])
        strengths = np.repeat([strength for _, strength in found], [len(rows) for rows, _ in found])
        rarity = np.repeat([len(rows) for rows, _ in found], [len(rows) for rows, _ in found])
        guesses = [self.trigrams.scores(word, SEEDS.similar) for word in strange[: SEEDS.guessed]]
        if vague:  # its words begin too many labels to name any: those count that consist of such words
            guesses.append(self.trigrams.covered("_".join(asked) or whole, SEEDS.covered))
        for guess in guesses:
            alike, score = _strongest(*guess)
            rows, strengths = np.concatenate([rows, alike]), np.concatenate([strengths, score])
            rarity = np.concatenate([rarity, np.full(len(alike), len(alike))])
        order = np.lexsort((rarity, -strengths, rows))  # each row's best first
        rows, strengths, rarity = rows[order], strengths[order], rarity[order]
        first = np.flatnonzero(np.append(True, rows[1:] != rows[:-1])[: len(rows)])
        best = first[np.lexsort((rows[first], rarity[first], -strengths[first]))][: min(most, SEEDS.most)]
        return Seeds(nodes=rows[best], strengths=strengths[best])

    def _named(self, word: str) -> list[tuple[list[int], float]]:
        return [
            (self._labels.get(word, []), SEEDS.exact),
            (self._paths.get(word, []), SEEDS.exact),
            (self._begun(word), SEEDS.prefix),
            (self._tags.get(word, []), SEEDS.tag),
        ]

    def _begun(self, word: str) -> list[int]:
        """Nodes whose label begins with a word; a beginning that very many share names none of them."""
        if self._common(word):
            return []
        first, last = self._stretch(word)  # short: it is not common
        return [row for label in self._sorted[first:last] if label != word for row in self._labels[label]]

    def _stretch(self, word: str) -> tuple[int, int]:
        return bisect_left(self._sorted, word), bisect_left(self._sorted, word + "\U0010ffff")

    def _common(self, word: str) -> bool:
        first, last = self._stretch(word)
        return last - first > SEEDS.prefixes


def _strongest(rows: Ints, score: Floats) -> tuple[Ints, Floats]:
    best = np.argsort(-score, kind="stable")[: SEEDS.most]
    return rows[best], SEEDS.fuzzy * score[best]
