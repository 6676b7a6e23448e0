"""Code questions: what a text about code asks for. Its words, its title, and the names, files and frames it spells out. Pure."""

import re
from collections import Counter
from dataclasses import dataclass
from functools import cached_property

from hindbrain.engines.change_memory import without_trailers
from hindbrain.engines.code_terms import code_terms
from hindbrain.policy.code_search import QUESTION_CHARS, QUESTION_TERMS, REPEATED, TITLE_CHARS
from hindbrain.policy.recall import STOP_WORDS

__all__ = ["CodeQuestion", "Frame"]

_DOTTED = re.compile(r"[A-Za-z_$][\w$]*(?:\.[A-Za-z_$][\w$]*)*")
_FILE = re.compile(
    r"[\w@.+/\\-]*[\w+-]\.(?:pyi?|tsx?|jsx?|mjs|cjs|go|rs|java|c|h|cc|cpp|hpp|cs|rb|php|sh|md|toml|ya?ml|json)\b(?!\()", re.ASCII
)
_IMPORT = re.compile(r"from\s+([\w.]+)\s+import\s+\(?([\w, ]+)")
_PYTHON_FRAME = re.compile(r'File "([^"\n]+)", line (\d+)(?:, in ([\w<>]+))?')
_OTHER_FRAME = re.compile(r"(?:^|[\s(])((?:[A-Za-z]:)?[\w@./\\+-]+\.\w{1,4}):(\d+)(?::\d+)?", re.MULTILINE)
_TICKED = re.compile(r"`([^`\n]+)`")
_WORD = re.compile(r"[A-Za-z_$][\w$]*")
_SHAPED = re.compile(r"[a-z0-9][A-Z]|[A-Za-z0-9]_[A-Za-z0-9]")


# No name is this long. Patterns that look for paths and names try every start in a run of letters: quadratic in its length.
_ENDLESS = re.compile(r"(\S{200})\S+")

# Words by which people ask, which no code answers to: a question is not less answered for them.
_ASKING = frozenset(["much", "many", "often", "far", "long", "happens", "works", "work", "find", "show", "explain"])


@dataclass(frozen=True, slots=True)
class Frame:
    """A line of a stack trace."""

    path: str
    line: int
    function: str = ""


@dataclass(frozen=True)
class CodeQuestion:
    """A text, read once."""

    text: str

    @cached_property
    def title(self) -> str:
        """The first line: writers say there what it is about, and below it how they came there."""
        return next((line.strip() for line in self._read.split("\n") if line.strip()), "")[:TITLE_CHARS]

    @cached_property
    def _read(self) -> str:
        return _ENDLESS.sub(r"\1 ", self.text[:QUESTION_CHARS])

    @property
    def about_tests(self) -> bool:
        """Who asks for tests gets tests."""
        return not self.title_words.isdisjoint(("test", "tests", "testing", "spec", "specs", "fixture", "fixtures"))

    @cached_property
    def counts(self) -> Counter[str]:
        return Counter(code_terms(without_trailers(self._read)))

    @cached_property
    def terms(self) -> tuple[str, ...]:
        """Every term once, those said often twice: the index counts a repeated term as often as it is asked."""
        kept = dict(self.counts.most_common(QUESTION_TERMS)) if len(self.counts) > QUESTION_TERMS else self.counts
        return tuple(term for term, count in kept.items() for _ in range(2 if count >= REPEATED else 1))

    @cached_property
    def title_terms(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(term for term in code_terms(self.title) if term not in _ASKING))

    @cached_property
    def names(self) -> dict[str, float]:
        """Identifiers that the text spells out, with how sure it is that they are meant as such."""
        ticked = {word for span in _TICKED.findall(self._read) for word in _WORD.findall(span)}
        found: dict[str, float] = {}
        for match in _DOTTED.finditer(self._read):
            spelled = match[0]
            called = self._read[match.end() : match.end() + 1] == "("
            for part in spelled.split("."):
                if len(part) < 3 or part.lower() in STOP_WORDS:
                    continue
                sure = called or "." in spelled or part in ticked or bool(_SHAPED.search(part))
                strength = 1.0 if sure else 0.5 if part[0].isupper() else 0.0
                if strength > found.get(part, 0.0):
                    found[part] = strength
        return found

    @cached_property
    def named_share(self) -> float:
        """How much of the text is names that it spells out, from 0 to 1."""
        spelled = {term for name, strength in self.names.items() if strength >= 1 for term in code_terms(name)}
        spelled |= {term for name in self.files for term in code_terms(name)}
        return len(spelled & self.counts.keys()) / len(self.counts) if self.counts else 0.0

    @cached_property
    def words(self) -> frozenset[str]:
        return frozenset(word.lower() for word in _WORD.findall(self._read))

    @cached_property
    def title_words(self) -> frozenset[str]:
        return frozenset(word.lower() for word in _WORD.findall(self.title))

    @cached_property
    def files(self) -> frozenset[str]:
        return frozenset(name.replace("\\", "/").removeprefix("./") for name in _FILE.findall(self._read))

    @cached_property
    def modules(self) -> frozenset[str]:
        """Dotted names, and what is imported from where."""
        dotted = {match[0] for match in _DOTTED.finditer(self._read) if "." in match[0]}
        imported = {f"{module}.{name.strip()}" for module, names in _IMPORT.findall(self._read) for name in names.split(",")}
        return frozenset(dotted | {one.rstrip(".") for one in imported})

    @cached_property
    def frames(self) -> tuple[Frame, ...]:
        """In the order they stand there; in Python the last one is where it broke."""
        python = [Frame(path.replace("\\", "/"), int(line), name) for path, line, name in _PYTHON_FRAME.findall(self._read)]
        if python:
            return tuple(python)
        return tuple(Frame(path.replace("\\", "/"), int(line)) for path, line in _OTHER_FRAME.findall(self._read))
