"""Slugs: the short name under which a task's experience is kept and asked for. Who asks and who writes take it from here, so that
it is the same."""

import hashlib
import unicodedata

__all__ = [
    "ENTITY",
    "GLOBAL_SPACE",
    "class_print",
    "class_space",
    "intent_slug",
    "intent_space",
    "path_entity",
    "tool_space",
    "words_of",
]

ENTITY = "env:local"  # the entity of tasks on this machine
GLOBAL_SPACE = "global:user"  # what the person said about everything
_WORDS = 3
_TARGET_MOST = 400  # characters of a target that are its name
_LONGEST = 32  # a script without spaces gives one word, which would else be the whole text


def words_of(text: str) -> tuple[str, ...]:
    """The words of a text between spaces, normalised and lower-cased: letters and digits of every script, with their marks."""
    parts = unicodedata.normalize("NFKC", text).lower().split()
    words = ("".join(char for char in part if unicodedata.category(char)[0] in "LNM") for part in parts)
    return tuple(word for word in words if word)


def intent_slug(intent: str) -> str:
    """The first three words joined by underscores; a digest where there are none."""
    words = [word[:_LONGEST] for word in words_of(intent)[:_WORDS]]
    return "_".join(words) if words else f"h_{hashlib.sha256(intent.encode()).hexdigest()[:12]}"


def intent_space(intent: str) -> str:
    """The space of what was asked for."""
    return f"intent:{intent_slug(intent)}"


def class_space(task_class: str) -> str:
    """The space of a kind of task."""
    return f"intent:{task_class}"


def tool_space(tool: str) -> str:
    """The space of what was done with a tool."""
    return f"tool:{tool}"


def class_print(task_class: str) -> str:
    """A class of tasks where no words of a task may stand: enough to know it again. None for none."""
    return hashlib.sha256(task_class.encode()).hexdigest()[:16] if task_class else ""


def path_entity(target: str | None) -> str:
    """The entity of what a tool was pointed at: one line, and a long one is named by its beginning and its digest."""
    told = " ".join("".join(char if ord(char) >= 32 else " " for char in target or "").split())
    if len(told) > _TARGET_MOST:
        told = f"{told[:_TARGET_MOST]}#{hashlib.sha256(told.encode()).hexdigest()[:16]}"
    return f"path:{told or '*'}"
