"""Goal words: which words of a sentence a goal leaves out. A goal with a word left out is refused, and the words are named."""

import re
from collections.abc import Iterable
from dataclasses import dataclass

from hindbrain.engines.goals import Goal, readings_of, without_lead
from hindbrain.engines.wording import PATH, QUOTED, paths_in, quoted_in
from hindbrain.policy.goal_words import CHANGE_WORDS, COUNT_WORDS, DENIAL_WORDS, FORMS, FUNCTION_WORDS, KIND_WORDS
from hindbrain.policy.planning import FILE_KINDS

__all__ = ["Refusal", "goal_of", "read"]

_WORD = re.compile(r"[^\W_]+(?:['\u2019][^\W_]+)*")
_PLACE_NOUN = r"(?:folder|directory|dir|tree)"
_HERE = re.compile(rf"\b(?:this|the current|current|the project|project)\s+{_PLACE_NOUN}\b", re.IGNORECASE)


@dataclass(frozen=True, slots=True, kw_only=True)
class Refusal:
    """A sentence that no rule can plan: the words that none accounts for, and a form that one could."""

    sentence: str
    words: tuple[str, ...]
    form: str


def read(sentence: str) -> Goal | Refusal:
    """The goal of a sentence, or which of its words no rule accounts for: those that the nearest rule leaves out."""
    text = without_lead(sentence)
    refusals: list[Refusal] = []
    for kind, goal in readings_of(sentence):
        words = _left_out(text, goal) if goal is not None else _unknown(text, kind)
        if goal is not None and not words:
            return goal
        refusals.append(Refusal(sentence=sentence.strip(), words=words, form=FORMS[kind]))
    if refusals:
        return min(refusals, key=lambda one: len(one.words))
    return Refusal(sentence=sentence.strip(), words=_left(text, (), FUNCTION_WORDS), form=FORMS["count_files"])


def goal_of(sentence: str) -> Goal | None:
    """The goal of a sentence; None where a rule would leave a word of it out."""
    found = read(sentence)
    return found if isinstance(found, Goal) else None


def _left_out(text: str, goal: Goal) -> tuple[str, ...]:
    values = tuple(value for value in _values(goal) if value)
    place = goal.parts.get("place", "")
    spoken = re.sub(rf"\b{_PLACE_NOUN}\b", " ", text, count=1, flags=re.IGNORECASE) if place else text
    return _left(spoken, values, FUNCTION_WORDS | _vocabulary(goal))


def _unknown(text: str, kind: str) -> tuple[str, ...]:
    """The words that the kind does not know, where its parts are not all there. Names of files are known to every kind."""
    return _left(text, paths_in(text), FUNCTION_WORDS | KIND_WORDS[kind])


def _values(goal: Goal) -> Iterable[str]:
    """The parts that the plan really uses."""
    parts = goal.parts
    yield from goal.files
    yield from (parts.get(name, "") for name in ("into", "content", "command", "query", "place", "file", "digest"))
    yield from (str(args[name]) for _, args in goal.changes for name in ("old", "new") if name in args)
    pattern = parts.get("pattern", "")
    if pattern != "*":
        yield pattern
    if "text" in parts and (goal.kind != "count_in_file" or parts["what"].startswith("match")):
        yield parts["text"]


def _vocabulary(goal: Goal) -> frozenset[str]:
    """The words that stand for what the goal is, beside its parts."""
    words = set(KIND_WORDS[goal.kind])
    words |= COUNT_WORDS.get(goal.parts.get("what", ""), frozenset()) if goal.kind.startswith("count") else frozenset()
    for name, args in goal.changes:
        words |= CHANGE_WORDS[name]
        words |= {"reverse", "reversed", "descending"} if args.get("reverse") else frozenset()
        words |= {"numeric", "numerically", "by", "number"} if args.get("numeric") else frozenset()
    if goal.parts.get("absent") or goal.parts.get("differ"):
        words |= DENIAL_WORDS
    words.add(goal.parts.get("by", ""))
    pattern = goal.parts.get("pattern", "")
    for word, meant in FILE_KINDS.items():
        if meant == pattern:
            words |= {word, f"{word}s"}
    if pattern.startswith("*."):
        words.add(pattern[2:].lower())
    return frozenset(words)


def _left(text: str, values: Iterable[str], known: frozenset[str]) -> tuple[str, ...]:
    """What is left of a text without these values and words, in its order: quotations, paths and words."""
    quotes = set(quoted_in(text))
    held = {value for value in values if value}
    rest = _HERE.sub(" ", text)
    for value in sorted((one for one in held if one not in quotes), key=len, reverse=True):
        rest = re.sub(rf"(?<!\w){re.escape(value)}(?!\w)", " ", rest, count=1)
    found: list[tuple[int, str]] = []

    def quotation(match: re.Match[str]) -> str:
        value = next((group for group in match.groups() if group is not None), "")
        if value.strip() and value not in held:
            found.append((match.start(), match.group()))
        return " " * len(match.group())

    def path(match: re.Match[str]) -> str:
        value = match.group().rstrip(".,;:!?")
        if value not in held and any(char.isalnum() or char in "*?" for char in value):
            found.append((match.start(), value))
        return " " * len(match.group())

    rest = PATH.sub(path, QUOTED.sub(quotation, rest))
    found += [
        (one.start(), one.group()) for one in _WORD.finditer(rest) if one.group().lower().replace("\u2019", "'") not in known
    ]
    return tuple(dict.fromkeys(word for _, word in sorted(found)))
