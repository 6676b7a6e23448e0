"""Code search: which files and symbols a text about code is about. Weighs signs that others looked up; asks no index. Pure."""

import math
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from hindbrain.engines.code_question import CodeQuestion
from hindbrain.engines.code_terms import code_terms
from hindbrain.engines.code_view import CodeView, module_name
from hindbrain.policy.code_search import (
    ABSENT_AT,
    BEST_CHUNKS,
    FEW_ROWS,
    GROUPS,
    KIND_BIAS,
    NAME_ALONE,
    NAMED_SURE,
    SURE_AT,
    UNSURE,
    WEIGHTS,
    CodeWeights,
)

__all__ = [
    "Hit",
    "Ranked",
    "Signs",
    "best_chunks",
    "by_file",
    "confidence",
    "fused",
    "idf",
    "lies_in",
    "name_share",
    "part_weights",
    "shares_of",
    "signs_in_text",
]

Scores = dict[str, float]
Signs = dict[str, Scores]  # sign -> path -> strength


class Hit(Protocol):
    """A stretch of a file that full text found."""

    @property
    def path(self) -> str: ...
    @property
    def line_start(self) -> int: ...
    @property
    def line_end(self) -> int: ...
    @property
    def score(self) -> float: ...


def best_chunks(hits: Iterable[Hit]) -> Scores:
    """A file scores by its best stretches, each further one half as much as the one before."""
    found: dict[str, list[float]] = defaultdict(list)
    for hit in hits:
        if len(found[hit.path]) < BEST_CHUNKS:
            found[hit.path].append(hit.score)
    return {path: sum(score / 2**at for at, score in enumerate(scores)) for path, scores in found.items()}


def signs_in_text(question: CodeQuestion, view: CodeView, path_of: Callable[[int], str]) -> Signs:
    """What the text itself names: definitions, files, modules, frames, words of paths."""
    return {
        "defined": _defined(question, view, path_of),
        "mentioned": _mentioned(question, view),
        "traced": _traced(question, view),
        "called": _called(question, view),
        "path": _path_words(question, view),
    }


def _defined(question: CodeQuestion, view: CodeView, path_of: Callable[[int], str]) -> Scores:
    found: Scores = defaultdict(float)
    for name, strength in question.names.items():
        places = {path_of(node) for node in view.defined.get(name, ())}
        sources = [path for path in places if view.kind.get(path) == "source"] or list(places)
        for path in sources:
            found[path] += strength * view.rarity(len(sources))
    return dict(found)


def _mentioned(question: CodeQuestion, view: CodeView) -> Scores:
    found: Scores = defaultdict(float)
    for name in question.files:
        base = name.rsplit("/", 1)[-1]
        same = view.by_name.get(base, ())
        whole = [path for path in same if "/" in name and (_ends(path, name) or _ends(name, path) or _ends(name, _tail(path)))]
        for path in whole or ([] if "/" in name else same):
            found[path] += 1.0 if whole else len(same) ** -0.5
    for dotted in question.modules:
        parts = dotted.split(".")
        for depth in range(len(parts), 0, -1):
            spelled = ".".join(parts[:depth])
            for path in view.by_module.get(parts[depth - 1], ()):
                module = module_name(path)
                if module == spelled:
                    found[path] += 0.5 * module.count(".") if "." in module else 0.1
                elif depth > 1 and module.endswith("." + spelled):
                    found[path] += 0.5
    return {path: min(score, 3.0) for path, score in found.items()}


def _traced(question: CodeQuestion, view: CodeView) -> Scores:
    """Every frame a little, the place where it broke most."""
    found: Scores = {}
    for frame in question.frames:
        for path in view.by_name.get(frame.path.rsplit("/", 1)[-1], ()):
            if _ends(frame.path, _tail(path)):
                found.pop(path, None)
                found[path] = 1.0
    if found:
        found[list(found)[-1]] = 2.0
    return found


def _called(question: CodeQuestion, view: CodeView) -> Scores:
    found: Scores = {}
    for word in question.words & view.by_stem.keys():
        for path in view.by_stem[word]:
            found[path] = 1.0 if word in question.title_words else 0.5
    return found


def _path_words(question: CodeQuestion, view: CodeView) -> Scores:
    found: Scores = defaultdict(float)
    for term, count in question.counts.items():
        paths = view.by_path_term.get(term, ())
        for path in paths:
            found[path] += 2 * count / (count + 1) * view.rarity(len(paths))
    return dict(found)


def _tail(path: str) -> str:
    return "/".join(path.split("/")[-2:])


def _ends(path: str, tail: str) -> bool:
    return path == tail or path.endswith("/" + tail)


# Signs that speak for a file only beside others: what changes often and what lies in a likely directory is not yet a hit.
_ALONE_NOTHING = ("changed", "told", "path", "called")


@dataclass(frozen=True, slots=True)
class Ranked:
    """A file with its score and what each sign gave to it."""

    path: str
    score: float
    signs: Mapping[str, float]  # weighted: their sum and the bias are the score
    bias: float

    def scaled(self, share: float) -> "Ranked":
        """The same in proportion."""
        return Ranked(
            self.path,
            min(1.0, self.score * share),
            {name: value * share for name, value in self.signs.items()},
            self.bias * share,
        )

    def breakdown(self, shares: Mapping[str, float]) -> dict[str, float]:
        """The parts of the score before their weights."""
        weights = part_weights(shares)
        parts = {
            part: sum(self.signs.get(sign, 0.0) for sign in signs) / weights[part] if weights[part] else 0.0
            for part, signs in GROUPS.items()
        }
        return parts | {"path_bias": self.bias + self.signs.get("path", 0.0)}


def shares_of(question: CodeQuestion, signs: Signs, weights: CodeWeights = WEIGHTS) -> dict[str, float]:
    """Each sign's part of the whole for one question; a sign that no file shows has none.

    A short question that is little more than a name asks for what is called so: the more of it is names, the more they count.
    """
    active = {name: getattr(weights, name) for name, scores in signs.items() if scores}
    for name in ("defined", "mentioned"):
        if name in active:
            active[name] += NAME_ALONE * question.named_share**2
    total = sum(active.values()) or 1.0
    return {name: active.get(name, 0.0) / total for name in signs}


def part_weights(shares: Mapping[str, float]) -> dict[str, float]:
    """What each part of a breakdown counts: the sum over the parts is the score."""
    return {part: sum(shares.get(sign, 0.0) for sign in signs) for part, signs in GROUPS.items()} | {"path_bias": 1.0}


def fused(signs: Signs, view: CodeView, shares: Mapping[str, float], *, tests_meant: bool = False) -> list[Ranked]:
    """Files by the weighted sum of their signs, best first, ties by path. Each sign counts against the source that shows it most,
    and no other file more than that: a change log is changed with everything and says nothing by it."""
    best = {
        name: max((score for path, score in scores.items() if path in view.sources), default=0.0) or max(scores.values())
        for name, scores in signs.items()
        if scores
    }
    scales = {name: 1 / value for name, value in best.items() if value > 0}
    ranked = []
    for path in {path for name, scores in signs.items() if name not in _ALONE_NOTHING for path in scores}:
        if path not in view.kind:
            continue
        own = {name: shares[name] * min(1.0, scale * signs[name].get(path, 0.0)) for name, scale in scales.items()}
        kind = view.kind[path]
        bias = 0.0 if tests_meant and kind == "test" else KIND_BIAS[kind]
        ranked.append(Ranked(path, sum(own.values()) + bias, own, bias))
    return sorted(ranked, key=lambda one: (-one.score, one.path))


def confidence(question: CodeQuestion, signs: Signs, best: float, frequencies: Mapping[str, int], rows: int) -> float:
    """How much of what is asked is there at all, from nearly 0 to 1: the best of nothing is nothing.

    The best stretch for the title, as a share of what the title's words weigh together; words that stand nowhere weigh most.
    """
    weight = sum(idf(frequencies.get(term, 0), rows) for term in question.title_terms)
    sure = (best / weight - ABSENT_AT) / (SURE_AT - ABSENT_AT) if weight > 0 else 0.0
    named = NAMED_SURE if signs["defined"] or signs["mentioned"] or signs["traced"] else 0.0
    return min(1.0, max(sure, named, _present(question, frequencies) if rows < FEW_ROWS else 0.0, UNSURE))


def _present(question: CodeQuestion, frequencies: Mapping[str, int]) -> float:
    """The share of the title's words that stand anywhere; nothing when it is not half of them."""
    there = sum(frequencies.get(term, 0) > 0 for term in question.title_terms)
    share = there / len(question.title_terms) if question.title_terms else 0.0
    return share if share >= 0.5 else 0.0


def idf(holding: int, rows: int) -> float:
    """What a word weighs that so many of the rows hold."""
    return max(1e-6, math.log((rows - holding + 0.5) / (holding + 0.5))) if rows else 0.0


def by_file(hits: Iterable[Hit]) -> dict[str, list[Hit]]:
    """Stretches that were found, by file, in the order they came."""
    found: dict[str, list[Hit]] = defaultdict(list)
    for hit in hits:
        found[hit.path].append(hit)
    return dict(found)


def name_share(question: CodeQuestion, label: str) -> float:
    """What part of its file's score a symbol deserves by its name: spelled out in the text, or made of words of it."""
    if label in question.names:
        return 0.98 if question.names[label] >= 1.0 else 0.95
    words = set(code_terms(label))
    return 0.5 * len(words & question.counts.keys()) / len(words) if words else 0.0


def lies_in(first: int, last: int, stretches: Sequence[Hit]) -> float:
    """What lines add to that: most in the best stretch that was found."""
    at = next((at for at, hit in enumerate(stretches) if hit.line_start <= last and first <= hit.line_end), None)
    return 0.0 if at is None else 0.3 / (1 + at)
