"""Rows of claude-mem as items: observations, summaries of sessions and what people asked. All of it is evidence: a model wrote
down what it saw, and nobody checked it."""

from collections.abc import Iterable, Mapping
from typing import Any

from hindbrain.domain.evidence import Provenance, SourceType
from hindbrain.domain.moving import Item, ItemKind
from hindbrain.engines.legacy_values import json_of, line_of, whole_of
from hindbrain.engines.transcripts import cleaned, time_of
from hindbrain.policy.evidence import WORD_MAX

__all__ = ["from_observation", "from_prompt", "from_summary", "project_of"]

_SUMMARY = (
    ("request", "Asked"),
    ("investigated", "Looked at"),
    ("learned", "Learned"),
    ("completed", "Done"),
    ("next_steps", "Next"),
    ("notes", "Notes"),
)


def project_of(row: Mapping[str, Any]) -> str:
    """The project of a row: what it was merged into, else its own. A worktree is named behind its repository."""
    named = line_of(row.get("merged_into_project") or row.get("project"), WORD_MAX)
    return named.partition("/")[0] if not named.startswith("/") else named


def from_observation(row: Mapping[str, Any]) -> Item:
    """One observation: title, story, facts and files as a text; its type and concepts as tags."""
    odd: list[str] = []
    facts, concepts = _list(row.get("facts"), "facts", odd), _list(row.get("concepts"), "concepts", odd)
    read, changed = _list(row.get("files_read"), "files_read", odd), _list(row.get("files_modified"), "files_modified", odd)
    parts = [_text(row.get(name)) for name in ("title", "subtitle", "narrative", "text")]
    parts += ["\n".join(f"- {one}" for one in facts)]
    parts += [f"Files read: {', '.join(read)}" if read else "", f"Files changed: {', '.join(changed)}" if changed else ""]
    kind = line_of(row.get("type"), WORD_MAX)
    return _item(row, "observation", parts, tags=(kind, *concepts), room=kind or None, odd=odd)


def from_summary(row: Mapping[str, Any]) -> Item:
    """What a session was about, as it was summed up at its end."""
    odd: list[str] = []
    parts = [f"{word}: {told}" if (told := _text(row.get(name))) else "" for name, word in _SUMMARY]
    read, changed = _list(row.get("files_read"), "files_read", odd), _list(row.get("files_edited"), "files_edited", odd)
    parts += [f"Files read: {', '.join(read)}" if read else "", f"Files changed: {', '.join(changed)}" if changed else ""]
    return _item(row, "summary", parts, tags=("session-summary",), room="session-summary", odd=odd)


def from_prompt(row: Mapping[str, Any], project: str | None) -> Item:
    """What a person asked, in its place among what they asked in that session."""
    place = whole_of(row.get("prompt_number"), 0)
    session = line_of(row.get("content_session_id") or row.get("claude_session_id"), WORD_MAX)
    return Item(
        kind=ItemKind.EVIDENCE,
        key=f"prompt:{row.get('id')}",
        text=_text(row.get("prompt_text")),
        author="user",
        at=_at(row),
        tags=("prompt",),
        project=project or "",
        room="prompt",
        source_type=SourceType.CONVERSATION,
        provenance=Provenance.HUMAN,
        thread=f"claude-mem:{session}" if session else None,
        place=max(0, place),
    )


def _item(
    row: Mapping[str, Any], named: str, parts: Iterable[str], *, tags: tuple[str, ...], room: str | None, odd: list[str]
) -> Item:
    return Item(
        kind=ItemKind.EVIDENCE,
        key=f"{named}:{row.get('id')}",
        text="\n\n".join(filter(None, parts)),
        author=line_of(row.get("agent_type") or row.get("generated_by_model"), WORD_MAX) or "claude-mem",
        at=_at(row),
        tags=tags,
        project=project_of(row),
        room=room,
        odd=tuple(odd),
    )


def _at(row: Mapping[str, Any]) -> int | None:
    made = time_of(row.get("created_at_epoch"))
    return made if made is not None else time_of(row.get("created_at"))


def _text(value: Any) -> str:
    return cleaned(value)[0].strip() if isinstance(value, str) else ""


def _list(value: Any, name: str, odd: list[str]) -> list[str]:
    """A list of texts as it is kept there: JSON in a cell."""
    found = json_of(value, [], name, odd) if isinstance(value, str) else []
    return [cleaned(one)[0].strip() for one in found if isinstance(one, str) and one.strip()] if isinstance(found, list) else []
