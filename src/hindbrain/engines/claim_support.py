"""Whether cited lines show what a claim says. All that can be compared has to be there: numbers, names, quoted text, paths, words
by their stems, and whether it says yes or no. A value that is another one contradicts. This compares what is written; it does not
understand it. Pure."""

import functools
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from hindbrain.domain.mission_comparison import Comparison
from hindbrain.engines.claim_content import Content, Item, content_of, numbers_in, root, word_stems
from hindbrain.policy.claim_words import (
    ALIKE,
    AROUND,
    BOUNDARIES,
    CONDITIONAL,
    DECIDES,
    DENYING,
    GLUE,
    KEYWORDS,
    LESS,
    MORE,
    NEGATIVE,
    QUANTIFIERS,
    SIGNS,
    SWITCHES,
)

__all__ = ["Source", "compared"]

_LOOKED_MOST = 400  # passages of one text that are looked at
_LISTED_MOST = 20  # things that a comparison names of each kind
_SAID_MOST = 100  # characters of a line that are told
_LINE_MOST = 2_000  # characters of a line that are read
_SAYS_NO = re.compile(r"\b(?:not|never|no|nothing|nobody|cannot|without|neither|nor|hardly)\b|n['’]t\b|!=|![\w(]", re.IGNORECASE)
_ARROW = re.compile(r"[-=]>|<-|</?[a-zA-Z][^<>]*>")
_BINDING = re.compile(
    r"(?P<name>[A-Za-z_][\w.-]*)[\"']?\s*(?::\s*[\w.\[\], |]+?)?\s*(?:==?|:)\s*"
    r"(?P<value>-?\d[\d_.]*(?![\w.])|True\b|False\b|true\b|false\b|\"[^\"]*\"|'[^']*')(?!\s*[*+/<>-])"
)
_RETURNED = re.compile(
    r"\b(?P<name>return)\s+(?P<value>-?\d[\d_.]*|True|False|true|false|\"[^\"]*\"|'[^']*')\s*;?\s*(?:#.*|//.*)?\Z"
)
_ARITHMETIC = {"+": r"[\w\])] ?\+ ?[\w(]", "-": r"[\w\])] ?- ?[\w(]", "*": r"[\w\])] ?\* ?[\w(]", "/": r"[\w\])] ?//? ?[\w(]"}
_HEADING = re.compile(r"#{1,6}\s")
_SENTENCE = re.compile(r"(?<=[.!?])\s+(?=[A-Z])")
_PART = re.compile(r"(?<=[.!?:;])\s+")
_OPEN_END = ("(", "[", ",", "\\")
_NOTHING = re.compile(r"\b(?:None|False|null|nil|false)\b")
_SHORT = 4  # letters that two words must share at their beginning


@dataclass(frozen=True, slots=True, kw_only=True)
class Source:
    """A text that was cited: all its lines, which of them are meant (all, when none is named), and the file it lies in. What is
    `whole` is one passage, as a statement is; a `run` is that too, and prints words that say nothing about each other."""

    name: str
    lines: tuple[str, ...]
    path: str = ""
    cited: tuple[int, int] | None = None
    whole: bool = False
    run: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class _Look:
    """What one passage shows: items by number, those that only the name of the place shows, and what it says otherwise."""

    name: str
    shown: frozenset[int]
    inside: frozenset[int]
    against: tuple[str, ...]
    turned: bool
    lacks: tuple[str, ...]


class _Passage:
    """Some lines with what stands above them."""

    def __init__(self, name: str, core: tuple[str, ...], near: tuple[str, ...], above: str, *, run: bool = False) -> None:
        self.name = name
        self.core = core
        self.near = near
        self.above = above  # the headings over it, and its path
        self.run = run
        self.text = "\n".join(near)

    @functools.cached_property
    def stems(self) -> set[str]:
        return word_stems(self.text)

    @functools.cached_property
    def names(self) -> set[str]:
        return word_stems(self.above)

    @functools.cached_property
    def numbers(self) -> set[float]:
        return numbers_in(self.text)


def compared(claim: str, sources: Sequence[Source]) -> Comparison:
    """Compare a claim with what it cites. Of each text the passage counts that shows most; together they must show all."""
    content = content_of(claim)
    items = content.items
    if not items:
        return Comparison(reason="nothing_checkable", not_checked=content.uncompared[:_LISTED_MOST])
    looks = [_best(content, source) for source in sources]
    shown = frozenset[int]().union(*(one.shown for one in looks))
    inside = frozenset[int]().union(*(one.inside for one in looks))
    against = [text for one in looks for text in one.against]
    lacks = [item.text for number, item in enumerate(items) if number not in shown]
    if not lacks and inside:
        turned = [one for one in looks if one.turned]
        straight = any(not one.turned and one.inside for one in looks)
        if turned and not straight:
            against.append(f"{turned[0].name} says {'yes' if content.negated else 'no'}, the claim the opposite")
    lacks += [text for one in looks for text in one.lacks]
    if not inside and not lacks:
        lacks = [item.text for item in items]  # the name of a place says nothing about what stands there
    return Comparison(
        reason="contradicted_by_source" if against else "not_shown_by_source" if lacks else "",
        compared=tuple(dict.fromkeys(one.name for one in looks))[:_LISTED_MOST],
        matched=tuple(dict.fromkeys(items[number].text for number in sorted(shown)))[:_LISTED_MOST],
        contradicted=tuple(dict.fromkeys(against))[:_LISTED_MOST],
        not_shown=tuple(dict.fromkeys(lacks))[:_LISTED_MOST],
        not_checked=content.uncompared[:_LISTED_MOST],
    )


def _best(content: Content, source: Source) -> _Look:
    looks = [_looked(content, passage) for passage in _passages(content, source)]
    whole = len(content.items)
    return max(
        looks, key=lambda one: (len(one.shown) == whole and not one.against and not one.turned, len(one.shown), not one.against)
    )


# -- passages ---------------------------------------------------------------------------------------------------------


def _passages(content: Content, source: Source) -> Iterator[_Passage]:
    """The passages of a text: all of it, the cited lines with those around them, or each line with something of the claim."""
    lines = tuple(line[:_LINE_MOST] for line in source.lines)
    if source.whole or source.run or not lines:
        yield _Passage(source.name, lines, lines, source.path, run=source.run)
        return
    first, last = source.cited or (1, len(lines))
    first, last = max(1, min(first, len(lines))), max(1, min(last, len(lines)))
    if last - first <= 2 * AROUND:
        yield _around(source, lines, first, last)
        return
    marks = _marks(content)
    wanted = [number for number in range(first, last + 1) if any(mark in lines[number - 1].lower() for mark in marks)]
    for number in (wanted or [first])[:_LOOKED_MOST]:
        yield _around(source, lines, number, number)


def _marks(content: Content) -> set[str]:
    """Letters by which a line that may hold something of a claim is found fast."""
    found = set()
    for item in content.items:
        found.add(item.form.lower()[:_SHORT] if item.kind == "word" else item.text.lower())
        found |= {f"{value:g}" for value in item.values}
    return found


def _around(source: Source, lines: tuple[str, ...], first: int, last: int) -> _Passage:
    start, end = max(1, first - AROUND), min(len(lines), last + AROUND)
    near = lines[start - 1 : end]
    path = source.path or source.name
    cited = f"{path}:{first}" if first == last else f"{path}:{first}-{last}"
    above = "\n".join((*_above(lines, first), path))
    return _Passage(f"{cited} (with lines {start} to {end})", lines[first - 1 : last], near, above)


def _above(lines: tuple[str, ...], first: int) -> list[str]:
    """The lines that a line stands below: those that are less indented, and the last heading."""
    depth, found = _indent(lines[first - 1]), []
    for line in reversed(lines[: first - 1]):
        if line.strip() and _indent(line) < depth:
            depth = _indent(line)
            found.append(line)
        if _HEADING.match(line):
            found.append(line)
            break
    return found


def _indent(line: str) -> int:
    return len(line) - len(line.lstrip())


# -- looking ----------------------------------------------------------------------------------------------------------


def _looked(content: Content, passage: _Passage) -> _Look:
    inside = {number for number, item in enumerate(content.items) if _stands_in(item, passage)}
    named = {number for number, item in enumerate(content.items) if number not in inside and _named_above(item, passage)}
    return _Look(
        name=passage.name,
        shown=frozenset(inside | named),
        inside=frozenset(inside),
        against=tuple(_against(content, passage)),
        turned=_turned(content, passage),
        lacks=() if passage.run else tuple(_apart(content, passage)),
    )


def _stands_in(item: Item, passage: _Passage) -> bool:
    text = passage.text
    if item.kind == "quote":
        return _tight(item.form) in _tight(text)
    if item.kind == "path":
        return item.form in text
    if item.kind == "name":
        return _is_name_in(item.form, text)
    if item.kind == "number":
        return any(value in passage.numbers for value in item.values)
    if item.kind == "idiom":
        return re.search(item.form, text) is not None or _tight(item.text) in _tight(text)
    if item.kind == "quantifier":
        return re.search(QUANTIFIERS[item.form], text, re.IGNORECASE) is not None
    return _is_word_in(item.form, text, passage.stems)


def _named_above(item: Item, passage: _Passage) -> bool:
    """Whether the place is called so: by its path, or by a heading over it."""
    above = passage.above
    if item.kind == "path":
        plain = re.sub(r":\d+\Z", "", item.form).removeprefix("./")
        return plain in above.split("\n")[-1]
    if item.kind in ("quote", "name"):
        return _is_name_in(item.form, above) or _tight(item.form) in _tight(above)
    return item.kind == "word" and (root(item.form) in passage.names or _begins_alike(item.form, passage.names))


def _tight(text: str) -> str:
    return re.sub(r"\s+", "", text)


def _is_name_in(name: str, text: str) -> bool:
    """A name as it is written; an abbreviation in capitals in any case. Of `a.b` both parts."""
    flags = re.IGNORECASE if name.isupper() and "_" not in name and len(name) > 1 else 0
    if re.search(rf"(?<!\w){re.escape(name)}(?!\w)", text, flags):
        return True
    parts = name.split(".")
    return len(parts) > 1 and all(re.search(rf"(?<!\w){re.escape(part)}(?!\w)", text) for part in parts if part != "self")


def _is_word_in(word: str, text: str, stems: set[str]) -> bool:
    base = root(word)
    if base in SIGNS:
        # As a name it is only meant where it is written just so: `add subtracts`.
        return re.search(SIGNS[base], text) is not None or (word == base and re.search(rf"\b{word}\b", text) is not None)
    if word in SWITCHES:
        switch = "|".join(one for one, on in SWITCHES.items() if on is SWITCHES[word])
        return re.search(rf"\b(?:{switch})\b", text, re.IGNORECASE) is not None
    if not word.isascii():
        return word in text.lower() or word_stems(word) <= stems
    for words, sign in (MORE, LESS):
        if word in words and re.search(sign, _ARROW.sub(" ", text)):
            return True
    if base in stems or _begins_alike(word, stems):
        return True
    return any(base in group and (group & stems or re.search(sign, text)) for group, sign in _alike())


@functools.cache
def _alike() -> tuple[tuple[frozenset[str], str], ...]:
    return tuple((frozenset(map(root, words)), sign) for words, sign in ALIKE)


def _begins_alike(word: str, stems: set[str]) -> bool:
    """`config` and `configuration`: one is the beginning of the other, and more than half of it."""
    base = root(word)
    if len(base) < _SHORT or base in SIGNS:
        return False
    return any(
        len(one) >= _SHORT
        and (one.startswith(base) or base.startswith(one))
        and 2 * min(len(one), len(base)) > max(len(one), len(base)) - 4
        for one in stems
    )


# -- against ----------------------------------------------------------------------------------------------------------


def _against(content: Content, passage: _Passage) -> Iterator[str]:
    """What a passage says otherwise: a name that is bound to another value, or another sign than the word."""
    clauses = {item.clause for item in content.items}
    for clause in sorted(clauses):
        items = [item for item in content.items if item.clause == clause]
        yield from _other_value(content, items, passage)
        yield from _other_number(items, passage)
    if not passage.run:
        yield from _other_sign(content, passage)


def _other_value(content: Content, items: Sequence[Item], passage: _Passage) -> Iterator[str]:
    numbers = [item for item in items if item.kind == "number"]
    switched = {SWITCHES[item.form] for item in items if item.kind == "word" and item.form in SWITCHES}
    if not numbers and not switched:
        return
    said = {one for item in items if item.kind in ("word", "name") for one in (root(item.form), *word_stems(item.text))}
    bound: dict[str, list[tuple[str, bool]]] = {}
    for line in passage.near:
        for found in (*_BINDING.finditer(line), *_RETURNED.finditer(line)):
            bound.setdefault(found["name"], []).append((found["value"], line in passage.core))
    for name, values in bound.items():
        words = word_stems(name) - {name.lower().replace("_", "")} or word_stems(name)
        shared = words & said
        full = len(name) > 1 and words <= said and name != "return"
        if not shared or not (full or any(core for _, core in values)):
            continue
        for kind, differs in (("number", _no_number(numbers, values)), ("switch", _no_switch(switched, content, values))):
            if differs and (
                full or kind == "switch" or not any(value in passage.numbers for one in numbers for value in one.values)
            ):
                told = ", ".join(one.text for one in numbers) if kind == "number" else "the opposite"
                yield f"{passage.name} says {name} = {values[0][0]}, the claim says {told}"


def _other_number(items: Sequence[Item], passage: _Passage) -> Iterator[str]:
    """A sentence or line that says all the rest, and another number."""
    numbers = [item for item in items if item.kind == "number" and not _stands_in(item, passage)]
    rest = [item for item in items if item.kind != "number"]
    if not numbers or not rest or passage.run:
        return
    for one in _sentences(passage.near):
        line = _line(one)
        here = [item for item in rest if _stands_in(item, line)]
        if here and line.numbers and all(item in here or _named_above(item, passage) for item in rest):
            yield f"{passage.name} says {one.strip()[:_SAID_MOST]!r}, the claim says {', '.join(item.text for item in numbers)}"
            return


def _no_number(numbers: Sequence[Item], values: Sequence[tuple[str, bool]]) -> bool:
    """Whether a name is bound to numbers, and to none of those that are claimed."""
    held = {float(value.replace("_", "")) for value, _ in values if re.fullmatch(r"-?\d[\d_]*(?:\.\d+)?", value)}
    return bool(numbers and held) and not any(value in held for one in numbers for value in one.values)


def _no_switch(claimed: set[bool], content: Content, values: Sequence[tuple[str, bool]]) -> bool:
    held = {value.lower() == "true" for value, _ in values if value.lower() in ("true", "false")}
    meant = {not one for one in claimed} if content.negated else claimed
    return bool(meant and held) and not meant & held


def _other_sign(content: Content, passage: _Passage) -> Iterator[str]:
    """A word for a sign, where the cited lines have another sign of its kind and not this one."""
    core = "\n".join(passage.core)
    there = [sign for sign, pattern in _ARITHMETIC.items() if re.search(pattern, core)]
    for item in content.items:
        base = root(item.form) if item.kind == "word" else ""
        if base in SIGNS and there and not _is_word_in(item.form, passage.text + "\n" + passage.above, set()):
            yield f"{passage.name} has {' '.join(there)}, the claim says {item.text}"


def _turned(content: Content, passage: _Passage) -> bool:
    """Whether the claim says yes where the lines say no, or the other way round. The lines that hold most of the claim count."""
    if passage.run:
        return content.negated and not _SAYS_NO.search(passage.text)
    parts = [one for line in passage.near for one in _PART.split(line) if one.strip()]
    held = [(sum(_stands_in(item, _line(one)) for item in content.items), one) for one in parts]
    most = max((count for count, _ in held), default=0)
    said = [one for count, one in held if count == most and most] or list(passage.core)
    plainly = any(_SAYS_NO.search(one) and not re.search(DECIDES, one) for one in said)
    decides = any(_SAYS_NO.search(one) and re.search(DECIDES, one) for one in said)
    if content.never:
        return not plainly
    if content.negated:
        text = "\n".join(said)
        nothing = _NOTHING.search(text) and not any(_NOTHING.search(item.text) for item in content.items)
        meant = {root(item.form) for item in content.items if item.kind == "word"}
        return not (plainly or decides or nothing or word_stems(text) & _roots(NEGATIVE) - meant)
    if any(_SAYS_NO.search(item.text) for item in content.items if item.kind == "quote"):
        return False
    words = {root(word) for _, word in content.words}
    conditional = any(word in CONDITIONAL for _, word in content.words)
    return (plainly or (decides and conditional)) and not words & _roots(DENYING)


@functools.cache
def _roots(words: frozenset[str]) -> frozenset[str]:
    return frozenset(map(root, words))


def _sentences(lines: Sequence[str]) -> list[str]:
    return [one for line in lines for one in _SENTENCE.split(line) if one.strip()]


def _line(line: str) -> _Passage:
    return _Passage("", (line,), (line,), "")


def _apart(content: Content, passage: _Passage) -> Iterator[str]:
    """Words that belong together and do not stand together: what is returned, raised or imported; which way is compared."""
    for place, (_, word) in enumerate(content.words):
        pattern = KEYWORDS.get(root(word))
        lines = [one for one in _statements(passage.near) if re.search(pattern, one)] if pattern else []
        if not lines:
            continue
        following = _object(content, place)
        if following is not None and not any(_stands_in(following, _line(one)) for one in lines):
            yield f"{word} {following.text}"
    core = _ARROW.sub(" ", "\n".join(passage.core))
    said = " ".join(word for _, word in content.words)
    for phrases, sign, other in (
        ("more than|greater than|older than|above", ">", "<"),
        ("less than|fewer than|younger than|below", "<", ">"),
    ):
        found = re.search(rf"\b(?:{phrases})\b", said)
        if found and other in core and sign not in core:
            yield found[0]


def _object(content: Content, place: int) -> Item | None:
    """The first thing after a word, before the sentence takes another turn."""
    by_place = {item.at: item for item in content.items}
    for at, word in content.words[place + 1 :]:
        if word in BOUNDARIES:
            return None
        if at in by_place:
            return by_place[at]
        if word not in GLUE and not word.isalpha() and word not in "`\"'“":
            return None
    return None


def _statements(lines: Sequence[str]) -> list[str]:
    """Lines, with the next one where a line is not over at its end."""
    return [
        f"{line} {lines[number + 1]}" if line.rstrip().endswith(_OPEN_END) and number + 1 < len(lines) else line
        for number, line in enumerate(lines)
    ]
