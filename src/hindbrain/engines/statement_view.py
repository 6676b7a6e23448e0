"""One statement as a claim is held against it: its own words, the texts it shows to somebody, the names and conditions around it,
and which value belongs to which name. Pure."""

import functools
import re
from collections.abc import Iterator
from dataclasses import dataclass

from hindbrain.domain.source_statement import Enclosing, Statement
from hindbrain.engines.claim_content import Content, Item, root, word_stems
from hindbrain.engines.quantity import Quantity, quantities
from hindbrain.policy.claim_words import ALIKE, BRANCHES, DEFINING, SIGNS, UNITS

__all__ = ["Atom", "View", "begins_alike", "bindings", "is_word_in"]

_STRING = re.compile(r"\"(?:[^\"\\\n]|\\.)*\"|'(?:[^'\\\n]|\\.)*'|`[^`\n]*`")
_BRANCH = re.compile(BRANCHES)
_AND = re.compile(r"\s+and\s+|\s*&&\s*")
_OR = re.compile(r"\s+or\s+|\s*\|\|\s*")
_RELATION = re.compile(r"(?P<left>[^<>=!&|]+?)\s*(?P<sign><=|>=|<|>)(?![<>=])\s*(?P<right>[^<>=!&|]+)")
_NOT = re.compile(r"\bnot\b|!(?=[\w(\s])|!=|<>|\bis not\b|!\s*-|\[ !")
_NOTHING = re.compile(r"[=!]=\s*(?:\"\"|''|0\b|nil\b|null\b|None\b)|\bis (?:not )?None\b|\.is_?[eE]mpty\(|<>\s*''")
_BOUND = re.compile(
    r"(?P<name>[A-Za-z_][\w.-]*)[\"']?\s*(?::\s*[A-Za-z_][\w.\[\], |<>&?]*?)?\s*(?:=>|:=|=(?!=)|:(?!:))\s*"
    r"(?P<value>-?\d[\w.]*(?:\s*\*\s*[\w.]+)*|true\b|false\b|True\b|False\b|on\b|off\b|yes\b|no\b|\"[^\"\n]*\"|'[^'\n]*'|[A-Za-z_][\w.-]*\Z)"
)
_PLAIN = re.compile(r"\A(?:#define\s+|set\s+|export\s+)?(?P<name>[A-Za-z_][\w.-]*)\s+(?P<value>-?\d\w*|on|off|yes|no)\s*;?\Z")
_RETURNED = re.compile(r"\b(?P<name>return)\s+(?P<value>true|false|True|False)\b")
_DEFAULT_VALUE = re.compile(r"(?<![=!<>])=(?!=|>)\s*(?:\"[^\"]*\"|'[^']*'|[^,()]+)")
_IDENTIFIER = re.compile(r"[A-Za-z_]\w*(?:[-.][A-Za-z_]\w*)*")
_TYPES = frozenset(
    [
        "int",
        "float",
        "str",
        "bool",
        "usize",
        "u8",
        "u16",
        "u32",
        "u64",
        "i32",
        "i64",
        "f64",
        "long",
        "short",
        "char",
        "double",
        "decimal",
        "Decimal",
        "string",
        "const",
        "let",
        "var",
        "static",
        "final",
        "time",
        "Duration",
        "from_secs",
        "from_millis",
        "self",
        "this",
        "pub",
        "export",
        "local",
        "readonly",
    ]
)
_FALLBACK = re.compile(
    r"environ\.get\(|getenv\(|:-|setdefault\(|\.get\([^()]*,|\?\?|\|\||\bor\b|default\s*=|\bdefault\s+\S|\bunwrap_or",
    re.IGNORECASE,
)
_ANNOTATED = re.compile(r"\A\w+\s*:\s*[\w.\[\], |]+=")
_RAISES = re.compile(
    r"\braise\b|\bthrow\b|\bErr\(|\bpanic|errors\.New|\bhttp\.Error|\.status\(\s*[45]|\bexit\s+[1-9]|\babort\b|\breject\("
)
_KEYWORD = re.compile(r"\b(?:return|yield|export|async|await|public|private|static|pub|const|let|var)\b")
_SHORT = 4  # letters that two words must share at their beginning


@dataclass(frozen=True, slots=True, kw_only=True)
class Atom:
    """One part of a condition. `against` is whether it says no; `joined` whether the other parts have to hold too."""

    text: str
    against: bool
    nothing: bool
    joined: bool
    negated_branch: bool

    @property
    def relation(self) -> tuple[str, str, str] | None:
        found = _RELATION.search(re.sub(r"->|=>|<-", "  ", self.text))
        return (found["left"], found["sign"], found["right"]) if found else None


class View:
    """A statement, cut into what it does itself and what stands around it."""

    def __init__(self, statement: Statement, *, path: str = "", aside: str = "") -> None:
        self.statement = statement
        self.path = path
        self.raw = statement.text
        messages = [found[0] for found in _STRING.finditer(self.raw) if " " in found[0].strip("\"'`").strip()]
        # Of several texts the first says what happened; the others advise or explain.
        self.message = messages[0] if messages and statement.kind in ("code", "header") else ""
        self.text = self.raw
        for one in messages if self.message else ():
            self.text = self.text.replace(one, '""')
        self.aside = aside
        inner = next(
            (at for at in range(len(statement.enclosing) - 1, -1, -1) if statement.enclosing[at].role == "definition"), -1
        )
        self._inside = statement.enclosing[inner + 1 :]

    @functools.cached_property
    def stems(self) -> set[str]:
        return word_stems(self.text)

    @functools.cached_property
    def names(self) -> str:
        """What the place is called: definitions, sections and headings around it, the file, and for a run its command."""
        lines = [_named(one) for one in self.statement.enclosing if one.role in ("definition", "section", "heading")]
        stem = self.path.rsplit("/", 1)[-1].rsplit(".", 1)[0]
        return "\n".join([*lines, stem, self.aside])

    @functools.cached_property
    def name_stems(self) -> set[str]:
        return word_stems(self.names)

    @functools.cached_property
    def loops(self) -> str:
        return "\n".join(one.text for one in self._inside if one.role in ("loop", "block"))

    @functools.cached_property
    def guards(self) -> tuple[Enclosing, ...]:
        return tuple(one for one in self._inside if one.role == "guard")

    @functools.cached_property
    def atoms(self) -> tuple[tuple[Atom, ...], ...]:
        """The parts of every condition around it, one group a condition."""
        return tuple(tuple(_atoms(one)) for one in self.guards)

    @functools.cached_property
    def quantities(self) -> tuple[Quantity, ...]:
        return quantities(self.raw)

    @property
    def raises(self) -> bool:
        return _RAISES.search(self.raw) is not None

    @property
    def defaults(self) -> bool:
        """Whether a value in it holds only as long as nobody gives another one."""
        one = self.statement
        inside = one.enclosing[-1] if one.enclosing else None
        field = inside is not None and inside.role == "definition" and _ANNOTATED.match(self.text) is not None
        return (one.kind == "header" and one.role == "definition") or _FALLBACK.search(self.text) is not None or field

    @functools.cached_property
    def default_spans(self) -> tuple[tuple[int, int], ...]:
        """Where the values stand that hold only as long as nobody gives another one."""
        one = self.statement
        if one.kind == "header" and one.role == "definition":
            return tuple(found.span() for found in _DEFAULT_VALUE.finditer(self.raw))
        if not self.defaults:
            return ()
        found = _FALLBACK.search(self.raw) or re.search(r"=", self.raw)
        return ((found.end() - 1, len(self.raw)),) if found else ()

    def unit_beside(self, owner: str) -> str:
        """The unit that a comment at the statement names, if it names just one."""
        words = {word for word in re.findall(r"[a-z]+", self.statement.note.lower()) if word in UNITS and len(word) > 1}
        kinds = {one for one in words if UNITS[one][0] != "count"}
        return next(iter(kinds)) if len(kinds) == 1 else ""

    def owners(self, at: int) -> tuple[str, ...]:
        """Names that a value at this place may belong to, the nearest first: what is bound, called, or stands before it."""
        before = self.text[:at] if self.text == self.raw else self.raw[:at]
        found = [
            one
            for one in _IDENTIFIER.findall(_STRING.sub(lambda said: said[0] if " " not in said[0] else "", before))
            if one not in _TYPES
        ]
        depth, opened = 0, ""
        for place in range(len(before) - 1, -1, -1):
            if before[place] in ")]}":
                depth += 1
            elif before[place] in "([{":
                if depth == 0:
                    called = re.search(r"[\w.:]+\Z", before[:place])
                    opened = called[0] if called else ""
                    break
                depth -= 1
        nearest = found[-1] if found else ""
        near = re.search(r"(?P<name>[\w.-]+)[\"']?\s*[:=]\s*\Z", before)
        if near is None or near["name"] in _TYPES:
            near = re.search(r"(?P<name>[\w.-]+)[\"']?\s*(?::[^=,(){}]*)?(?:=|:|==|!=|<|>|<=|>=|\+=|-=)\s*[-\"'\[({]*\Z", before)
        if near:
            return (near["name"],)
        return tuple(dict.fromkeys(one for one in (nearest, opened, found[0] if found else "") if one))

    def mentions(self, content: Content, name: str) -> bool:
        """Whether a claim names it, at least by one of its words."""
        parts = word_stems(name)
        units = {one for one in parts if one in UNITS}
        return any(_said(one, content) for one in (parts - units) or parts)

    def names_all_of(self, content: Content, name: str) -> bool:
        whole = re.sub(r"[_\-.\s]", "", name).lower()
        parts = {one for one in word_stems(name) if one != whole and one not in UNITS} or {root(name)}
        return all(_said(one, content) for one in parts)

    def accounts(self, item: Item) -> bool:
        """Whether the statement itself says a word, a name, a quotation, a path or an idiom."""
        if item.kind == "quote":
            return _quotes(item.form, self.raw)
        if item.kind == "path":
            return item.form in self.raw
        if item.kind == "name":
            return name_in(item.form, self.raw)
        if item.kind == "idiom":
            return re.search(item.form, self.text) is not None or _tight(item.text) in _tight(self.text)
        defined = self.statement.kind == "header" and self.statement.role == "definition"
        if (
            defined
            and item.kind == "word"
            and any(root(item.form) in group and re.search(sign, self.text) for group, sign in _defining())
        ):
            return True
        return is_word_in(item.form, self.text, self.stems, signs=not defined)

    @staticmethod
    def is_path(name: str, path: str) -> bool:
        """Whether a claim means this file by its name, or by the end of its path."""
        plain = re.sub(r":\d+\Z", "", name).removeprefix("./")
        return path == plain or path.endswith(f"/{plain}")

    def named(self, item: Item) -> bool:
        """Whether the place is called so."""
        if item.kind == "path":
            return self.is_path(item.form, self.path) or item.form in self.names
        if item.kind == "quote":
            return _quotes(item.form, self.names)
        if item.kind == "name":
            return name_in(item.form, self.names)
        return item.kind == "word" and is_word_in(item.form, self.names, self.name_stems, signs=False, verbs=False)


def bindings(text: str) -> Iterator[tuple[str, str]]:
    """Every name of a statement with the plain value that it gets."""
    bare = text.rstrip(",;")
    for found in (*_BOUND.finditer(bare), *_PLAIN.finditer(bare), *_RETURNED.finditer(bare)):
        yield found["name"].rsplit(".", 1)[-1], found["value"]


def name_in(name: str, text: str) -> bool:
    """A name as it is written; an abbreviation in capitals in any case. Of `a.b` both parts."""
    flags = re.IGNORECASE if name.isupper() and "_" not in name and len(name) > 1 else 0
    if re.search(rf"(?<!\w){re.escape(name)}(?!\w)", text, flags):
        return True
    parts = re.split(r"\.|::", name)
    return len(parts) > 1 and all(re.search(rf"(?<!\w){re.escape(part)}(?!\w)", text) for part in parts if part != "self")


def is_word_in(word: str, text: str, stems: set[str], *, signs: bool = True, verbs: bool = True) -> bool:
    """Whether a text has a word: by its stem, as a part of a name, in another word of its group, or as a sign of code. Without
    `verbs` only groups of things count."""
    base = root(word)
    if base in SIGNS:
        # As a name it is only meant where it is written just so: `add subtracts`.
        return (signs and re.search(SIGNS[base], text) is not None) or (
            word == base and re.search(rf"\b{word}\b", text) is not None
        )
    if not word.isascii():
        return word in text.lower() or word_stems(word) <= stems
    if "-" in word:
        return word_stems(word) <= stems or word in text.lower()
    if base in stems or begins_alike(word, stems):
        return True
    return any(
        base in group and (group & stems or (signs and re.search(sign, text)))
        for group, sign in _alike()
        if verbs or sign == "(?!)"
    )


def begins_alike(word: str, stems: set[str]) -> bool:
    """`config` and `configuration`: one is the beginning of the other, and most of it."""
    base = root(word)
    if len(base) < _SHORT or base in SIGNS:
        return False
    return any(
        len(one) >= _SHORT
        and (one.startswith(base) or base.startswith(one))
        and 2 * min(len(one), len(base)) > max(len(one), len(base)) - 1
        for one in stems
    )


@functools.cache
def _defining() -> tuple[tuple[frozenset[str], str], ...]:
    return tuple((frozenset(map(root, words)), sign) for words, sign in DEFINING)


@functools.cache
def _alike() -> tuple[tuple[frozenset[str], str], ...]:
    return tuple((frozenset(map(root, words)), sign) for words, sign in ALIKE)


def _said(stem: str, content: Content) -> bool:
    said = _claim_stems(content.claim)
    return stem in said or begins_alike(stem, said) or any(stem in group and group & said for group, _ in _alike())


@functools.lru_cache(maxsize=256)
def _claim_stems(claim: str) -> set[str]:
    return word_stems(claim)


def _quotes(form: str, text: str) -> bool:
    """Whether a quotation stands in a text, and is not only the beginning or the end of another word."""
    tokens = r"\s*".join(re.escape(one) for one in re.findall(r"\w+|\S", form))
    edge = (r"(?<!\w)" if form[:1].isalnum() else "", r"(?!\w)" if form[-1:].isalnum() else "")
    return re.search(f"{edge[0]}{tokens}{edge[1]}", text) is not None


def _tight(text: str) -> str:
    return re.sub(r"\s+", "", text)


def _named(one: Enclosing) -> str:
    return _KEYWORD.sub(" ", _DEFAULT_VALUE.sub(" ", one.text)) if one.role == "definition" else one.text


def _atoms(one: Enclosing) -> Iterator[Atom]:
    text = _BRANCH.sub("", one.text, count=1).strip().rstrip(":{").strip()
    text = text[1:-1] if text.startswith("(") and text.endswith(")") else text
    joined = _AND.search(text) is not None
    for part in (half for whole in _AND.split(text) for half in _OR.split(whole)):
        yield Atom(
            text=part,
            against=len(_NOT.findall(part)) % 2 == 1,
            nothing=_NOTHING.search(part) is not None,
            joined=joined and not one.negated,
            negated_branch=one.negated,
        )
