"""Drift: whether a strategy document still says what the code is. Four checks: paths, symbols, tests, and the pair of files.
Pure; whoever asks brings what the files say now."""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Literal

from hindbrain.engines.light_file import header_of, headings_of, markers
from hindbrain.engines.light_graph import evidence_path

__all__ = [
    "CHECKS",
    "Declared",
    "Drift",
    "DriftKind",
    "Facts",
    "covers",
    "declared",
    "defined",
    "drift",
    "is_path",
    "pair_drift",
    "symbol_of",
]

CHECKS = ("path", "symbol", "test", "pair")
DriftKind = Literal[
    "missing",
    "changed",
    "unconfirmed",
    "symbol_missing",
    "test_missing",
    "test_failing",
    "test_not_run",
    "unbound",
    "pair_missing",
    "pairs_unreadable",
    "not_in_prose",
    "not_in_light",
]
# What is told and makes nothing stale: nobody has said yet that it was right, so nothing can have gone from it.
_HARMLESS = frozenset({"unconfirmed", "test_not_run", "unbound"})
_WORD = re.compile(r"[A-Za-z0-9]+")
_VERSION = re.compile(r"v\d+$")
_NAMES_MOST = 5  # words of prose that may name one entity


@dataclass(frozen=True, slots=True, kw_only=True)
class Drift:
    """One thing that a document says and the files do not."""

    kind: DriftKind
    subject: str
    entity: str = ""
    line: int = 0

    @property
    def stale(self) -> bool:
        return self.kind not in _HARMLESS

    @property
    def text(self) -> str:
        return _TEXTS[self.kind].format(subject=self.subject)


_TEXTS: Mapping[str, str] = {
    "missing": "{subject} is gone",
    "changed": "{subject} is not what it was when the document was last confirmed",
    "unconfirmed": "nobody has confirmed the document since it binds {subject}",
    "symbol_missing": "{subject} is not defined there any more",
    "test_missing": "the test {subject} does not exist",
    "test_failing": "the last recorded run of {subject} failed",
    "test_not_run": "no run of {subject} is recorded here",
    "unbound": "{subject} names no file",
    "pair_missing": "{subject}, the other file of the pair, is missing",
    "pairs_unreadable": "{subject} declares no pairs that can be read",
    "not_in_prose": "the prose does not mention {subject}",
    "not_in_light": "the L1GHT file does not mention {subject}",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Declared:
    """What a document commits itself to. Pairs are (entity, value) with the line."""

    entities: tuple[str, ...] = ()
    headings: tuple[str, ...] = ()
    bindings: tuple[tuple[str, str, int], ...] = ()
    tests: tuple[tuple[str, str, int], ...] = ()
    signed: bool = False  # a claim of somebody, whose evidence is looked after elsewhere

    @property
    def paths(self) -> tuple[str, ...]:
        """Every file that must be looked at."""
        values = [value for _, value, _ in (*self.bindings, *self.tests) if is_path(value)]
        return tuple(dict.fromkeys(map(evidence_path, values)))


@dataclass(frozen=True, slots=True, kw_only=True)
class Facts:
    """What is so now. A file that is not in `digests` is not there."""

    digests: Mapping[str, str] = field(default_factory=dict)
    confirmed: Mapping[str, str] = field(default_factory=dict)
    symbols: Mapping[str, frozenset[tuple[str, ...]]] = field(default_factory=dict)  # path -> names from the outside in
    passed: Mapping[str, bool] = field(default_factory=dict)  # test as written -> whether its last recorded run passed


def is_path(value: str) -> bool:
    """Whether a value names a file rather than an idea."""
    path = evidence_path(value)
    return bool(path) and " " not in path and ("/" in path or "." in path.rsplit("/", 1)[-1][1:])


def symbol_of(value: str) -> tuple[str, ...]:
    """The names behind `path::`, from the outside in."""
    _, mark, symbol = value.strip().partition("::")
    return tuple(part for part in re.split(r"::|\.|#", re.sub(r"\[.*$", "", symbol)) if part) if mark else ()


def declared(text: str) -> Declared:
    """What a document says of itself and of the code."""
    found = list(markers(text))
    return Declared(
        entities=tuple(dict.fromkeys(one.value for one in found if one.name == "entity")),
        headings=tuple(title for _, title in headings_of(text)),
        bindings=tuple((one.entity, one.value, one.line) for one in found if one.name == "binds_to"),
        tests=tuple((one.entity, one.value, one.line) for one in found if one.name == "tests"),
        signed="source_agent" in header_of(text),
    )


def drift(said: Declared, facts: Facts) -> tuple[Drift, ...]:
    """Where the code has left the document."""
    found = []
    for entity, value, line in said.bindings:
        if (kind := _binding(value, facts)) is not None:
            found.append(Drift(kind=kind, subject=value, entity=entity, line=line))
    for entity, value, line in said.tests:
        if (kind := _test(value, facts)) is not None:
            found.append(Drift(kind=kind, subject=value, entity=entity, line=line))
    return tuple(found)


def _binding(value: str, facts: Facts) -> DriftKind | None:
    if not is_path(value):
        return "unbound"
    path, names = evidence_path(value), symbol_of(value)
    now = facts.digests.get(path)
    if now is None:
        return "missing"
    if names:
        return None if defined(names, facts.symbols.get(path, frozenset())) else "symbol_missing"
    confirmed = facts.confirmed.get(path)
    if confirmed is None:
        return "unconfirmed"
    return None if confirmed == now else "changed"


def _test(value: str, facts: Facts) -> DriftKind | None:
    if not is_path(value):
        return "unbound"
    path, names = evidence_path(value), symbol_of(value)
    if path not in facts.digests or (names and not defined(names, facts.symbols.get(path, frozenset()))):
        return "test_missing"
    passed = facts.passed.get(value)
    if passed is None:
        return "test_not_run"
    return None if passed else "test_failing"


def defined(names: tuple[str, ...], symbols: Iterable[tuple[str, ...]]) -> bool:
    """Whether a file defines these names, one within the other."""
    return any(one[-len(names) :] == names for one in symbols)


def covers(command: str, test: str) -> bool:
    """Whether a command runs a test: it names the test, its file or a directory above it, or no place at all."""
    path = evidence_path(test)
    words = (word for word in command.split() if "/" in word or "::" in word or word.endswith(".py"))
    places = [word for word in words if not word.startswith("-") and not word.rsplit("/", 1)[-1].startswith(("python", "pytest"))]
    if not places:
        return True
    return any(
        test == word or path == word.rstrip("/") or path.startswith(word.rstrip("/") + "/") or test.startswith(word + "::")
        for word in (one.removeprefix("./") for one in places)
    )


# -- the pair ----------------------------------------------------------------------------------------------------------


def pair_drift(light: str, prose: str, *, headings: tuple[str, ...] | None = None) -> tuple[Drift, ...]:
    """Entities that the prose does not mention, and declared headings of the prose that the L1GHT file does not. Without a list
    every heading of the second level is declared."""
    said = _names(prose)
    found = [Drift(kind="not_in_prose", subject=entity) for entity in declared(light).entities if _folded(entity) not in said]
    known = _names(light)
    wanted = headings if headings is not None else tuple(title for level, title in headings_of(prose) if level == 2)
    found += [Drift(kind="not_in_light", subject=title) for title in wanted if _folded(title) not in known]
    return tuple(found)


def _folded(name: str) -> str:
    """A name however it is written: `MissionKernelV1`, `Mission Kernel` and `mission_kernel` are one."""
    return _VERSION.sub("", "".join(_WORD.findall(name)).lower())


def _names(text: str) -> frozenset[str]:
    """Everything that a text may be said to name: up to a few words of one line in a row."""
    found = set()
    for line in text.split("\n"):
        words = _WORD.findall(line)
        for begin in range(len(words)):
            for end in range(begin + 1, min(len(words), begin + _NAMES_MOST) + 1):
                found.add(_folded("".join(words[begin:end])))
    return frozenset(found)
