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
        named = self._labels.get(name.lower(), [])
        return named[0] if len(named) == 1 else None

    def nearest(self, name: str, count: int) -> list[str]:
        """Ids that look most like an unknown one."""
        score = self.trigrams.scores(re.split(r"::|/", name)[-1] or name)
        best = np.argsort(-score, kind="stable")[: count * 8]
        alike = [(-float(score[row]), row) for row in best if score[row] > 0]
        return [self._net.ids[row] for _, row in sorted(alike)[:count]]

    def seeds(self, query: str, most: int) -> Seeds:
        """What a question names, at most so many; of equal ones those that the rarest word brought, then by id."""
        best: dict[int, tuple[float, int]] = {}

        def take(rows: list[int], strength: float) -> None:
            for row in rows:
                had = best.get(row)
                if had is None or (strength, -len(rows)) > (had[0], -had[1]):
                    best[row] = (strength, len(rows))

        whole = query.strip()
        if whole in self._net.index:
            take([self._net.index[whole]], SEEDS.exact)
        take(self._labels.get(whole.lower(), []), SEEDS.exact)
        asked = words(query)
        if len(asked) > SEEDS.words:
            asked = sorted(asked, key=lambda word: len(self._labels.get(word, ())) or len(self._labels))[: SEEDS.words]
        strange = []
        for word in asked:
            named = [self._labels.get(word, []), self._paths.get(word, []), self._begun(word), self._tags.get(word, [])]
            for rows, strength in zip(named, (SEEDS.exact, SEEDS.exact, SEEDS.prefix, SEEDS.tag), strict=True):
                take(rows, strength)
            if not any(named):
                strange.append(word)
        if len(best) < most:
            self._alike(strange if asked else [whole.lower()], best)
        order = sorted(best.items(), key=lambda item: (-item[1][0], item[1][1], item[0]))[: min(most, SEEDS.most)]
        return Seeds(
            nodes=np.array([row for row, _ in order], dtype=np.int64),
            strengths=np.array([strength for _, (strength, _) in order], dtype=np.float64),
        )

    def _begun(self, word: str) -> list[int]:
        """Nodes whose label begins with a word; a beginning that very many share names none of them."""
        found: list[int] = []
        for at in range(bisect_left(self._sorted, word), len(self._sorted)):
            label = self._sorted[at]
            if not label.startswith(word) or len(found) > SEEDS.prefixes:
                break
            if label != word:
                found += self._labels[label]
        return found if len(found) <= SEEDS.prefixes else []

    def _alike(self, asked: list[str], best: dict[int, tuple[float, int]]) -> None:
        """Labels that are spelled much like a word that names nothing."""
        for word in asked[: SEEDS.guessed]:
            score = self.trigrams.scores(word)
            rows = np.flatnonzero(score >= SEEDS.similar)
            rows = rows[np.argsort(-score[rows], kind="stable")][: SEEDS.most]
            for row, alike in zip(rows.tolist(), score[rows].tolist(), strict=True):
                strength = SEEDS.fuzzy * min(alike, 1.0)
                if strength >= SEEDS.least and best.get(row, (0.0, 0))[0] < strength:
                    best[row] = (strength, len(rows))
