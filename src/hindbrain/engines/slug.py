"""Slugs: the short name under which a task's experience is kept and asked for. Who asks and who writes take it from here, so that
it is the same."""

import hashlib
import unicodedata

__all__ = ["ENTITY", "GLOBAL_SPACE", "class_space", "intent_space", "path_entity", "slug", "tool_space", "words_of"]

ENTITY = "env:local"  # the entity of tasks on this machine
GLOBAL_SPACE = "global:user"  # what the person said about everything
_WORDS = 3
_LONGEST = 32


def words_of(text: str) -> tuple[str, ...]:
    """The words of a text, normalised and lower-cased, in order."""
    plain = unicodedata.normalize("NFKC", text).lower()
    # Letters and digits of every script, and the marks that belong to letters.
    return tuple("".join(char if unicodedata.category(char)[0] in "LNM" else " " for char in plain).split())


def slug(text: str) -> str:
    """The first three words joined by underscores; the digest of the text where it has no word."""
    words = [word[:_LONGEST] for word in words_of(text)[:_WORDS]]
    return "_".join(words) if words else f"h_{hashlib.sha256(text.encode()).hexdigest()[:12]}"


def intent_space(intent: str) -> str:
    """The space of what was asked for."""
    return f"intent:{slug(intent)}"


def class_space(task_class: str) -> str:
    """The space of a kind of task."""
    return f"intent:{task_class}"


def tool_space(tool: str) -> str:
    """The space of what was done with a tool."""
    return f"tool:{tool}"


def path_entity(target: str | None) -> str:
    """The entity of what a tool was pointed at."""
    return f"path:{target}" if target else "path:*"
