"""Perceiving without a model: what a request says, by rules. Whatever is vague stays vague: whoever plans knows more."""

import re
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, datetime

from hindbrain.domain.task import Constraints
from hindbrain.engines.slug import words_of
from hindbrain.engines.wording import paths_in, quoted_in, sentences_of
from hindbrain.policy.perceiving import (
    ACTIONS,
    CHAT,
    CHAT_LONGEST,
    CONTENT_WORDS,
    FILLERS,
    HISTORY,
    SUMMARY_CUT,
    WORD_CHARACTERS,
)

__all__ = [
    "Exchange",
    "Perception",
    "chat_answer",
    "faithful",
    "first_sentence",
    "heard_of",
    "may_chat",
    "perceived",
    "questions_for",
    "task_class",
]

_ISO = re.compile(r"\b(\d{4}-\d{2}-\d{2}(?:[T ]\d{2}:\d{2}(?::\d{2}(?:\.\d{1,6})?)?(?:Z|[+-]\d{2}:?\d{2})?)?)(?![\w-])")
_DECLARED = re.compile(
    r"^(?:always|never|from now on|remember (?:that|to)|i (?:prefer|like|want you to always))\b", re.IGNORECASE
)
# A reaction or an amendment: it means the task before, done anew with this change.
_REACTION = re.compile(
    r"^(?:no|nope|wrong|that'?s wrong|not (?:right|correct|what)|incorrect|try again|again|redo|that is not)\b", re.IGNORECASE
)
_AMENDED = re.compile(
    r"^(?:(?:now |but |and |make it |please )*(?:shorter|longer|simpler|more |less |fewer|bigger|smaller|faster|better)"
    r"|(?:answer |reply |say it |but |and |now )*in (?:[A-Z]\w+|upper ?case|lower ?case|english|french|german|chinese|spanish)\b"
    r"|without |instead|with )",
    re.IGNORECASE,
)
_PRONOUN = re.compile(r"\b(?:it|that|them|those|the same|this one)\b", re.IGNORECASE)


@dataclass(frozen=True, slots=True, kw_only=True)
class Exchange:
    """One earlier request and what came of it."""

    said: str
    result: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Perception:
    """What a request says."""

    intent: str
    constraints: Constraints
    task_class: str
    declarative: bool = False


def heard_of(history: Sequence[Exchange]) -> tuple[Exchange, ...]:
    """The newest exchanges, each result cut."""
    return tuple(Exchange(said=one.said, result=one.result[:SUMMARY_CUT]) for one in history[-HISTORY:])


def first_sentence(text: str) -> str:
    """The first sentence, in one line; of a list its first line."""
    return next((" ".join(one.split()) for one in sentences_of(text)), "")


def task_class(intent: str) -> str:
    """The first three words with content, in snake case."""
    words = [word for word in words_of(intent) if word not in FILLERS][:CONTENT_WORDS] or list(words_of(intent)[:CONTENT_WORDS])
    return "_".join(word[:32] for word in words) or "unnamed"


def perceived(text: str, history: Sequence[Exchange] = ()) -> Perception:
    """A request by rules: first sentence, first path or quotation, first date, first words."""
    intent = first_sentence(text) or " ".join(text.split())
    before = history[-1] if history else None
    if before is not None and _refers_back(intent):
        intent = (
            f"{first_sentence(before.said).rstrip('.!?')}, {intent}" if not _REACTION.match(intent) else _redone(before, intent)
        )
    return Perception(
        intent=intent,
        constraints=Constraints(scope=_scope(text), deadline=_deadline(text)),
        task_class=task_class(intent),
        declarative=_DECLARED.match(intent) is not None,
    )


def questions_for(text: str) -> tuple[str, ...]:
    """What has to be asked before anything can be done: only where there is nothing to read."""
    letters = sum(1 for char in unicodedata.normalize("NFKC", text) if char.isalnum())
    return ("What is to be done? One sentence is enough.",) if letters < WORD_CHARACTERS else ()


def may_chat(text: str) -> bool:
    """Whether a text is short talk: nothing in it asks for something to be done."""
    plain = text.strip()
    words = words_of(plain)
    return bool(words) and len(plain) <= CHAT_LONGEST and not ACTIONS & set(words) and not paths_in(plain)


def chat_answer(text: str) -> str | None:
    """What to say to short talk by rule; None where the rules know no answer."""
    if not may_chat(text):
        return None
    return next((answer for pattern, answer in CHAT if re.match(pattern, text.strip(), re.IGNORECASE)), None)


def faithful(intent: str, known: Sequence[str]) -> bool:
    """Whether a restatement holds no path, number or date that nobody said."""
    told = " ".join(known)
    numbers = set(re.findall(r"\d+", told))
    return all(path in told for path in paths_in(intent)) and all(one in numbers for one in re.findall(r"\d+", intent))


def _refers_back(intent: str) -> bool:
    words = words_of(intent)
    if _REACTION.match(intent) or _AMENDED.match(intent):
        return True
    return bool(_PRONOUN.search(intent)) and len(words) <= 8 and not paths_in(intent) and not quoted_in(intent)


def _redone(before: Exchange, reaction: str) -> str:
    """The task before, once more, with what was said against it."""
    return f"{first_sentence(before.said).rstrip('.!?')}, not as before: {reaction}"


def _scope(text: str) -> str | None:
    paths, quotes = paths_in(text), tuple(one for one in quoted_in(text) if one.strip())
    if not paths or not quotes:
        return (paths or quotes or (None,))[0]
    return paths[0] if text.find(paths[0]) <= text.find(quotes[0]) else quotes[0]


def _deadline(text: str) -> str | None:
    for match in _ISO.finditer(text):
        try:
            date.fromisoformat(match[1]) if len(match[1]) == 10 else datetime.fromisoformat(match[1])
        except ValueError:
            continue
        return match[1]
    return None
