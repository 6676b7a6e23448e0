"""Notes of basic-memory as items: its prose, its observations and its relations. The front matter is read as far as
basic-memory writes it, which is not all of YAML."""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

from hindbrain.domain.moving import Item, ItemKind
from hindbrain.engines.foreign_facts import relation, statement
from hindbrain.engines.legacy_values import line_of
from hindbrain.engines.transcripts import cleaned, time_of
from hindbrain.policy.evidence import TAG_MAX, WORD_MAX

__all__ = ["Head", "has_permalink", "items_of", "split"]

_FENCE = re.compile(r"^ {0,3}(`{3,}|~{3,})")
_HEADING = re.compile(r"^(#{1,6})[ \t]+\S")
_BULLET = re.compile(r"^[ \t]*[-*+][ \t]+")
_OBSERVATION = re.compile(r"^\[([^\[\]()]{1,200})\][ \t]+(\S.*)$")
_TASK = re.compile(r"^\[[ xX-]?\]")
_RELATION = re.compile(r"^([^\[\]]{0,200})\[\[([^\[\]]{1,500})\]\]")
_WORD = re.compile(r"\S+")
_EMPTY = re.compile(r"\n{3,}")
_TAG = re.compile(r"(?<!\S)#([^\s#()\[\]]+)")
_KEY = re.compile(r"^([A-Za-z_][\w-]{0,80}):(?:[ \t]+(.*))?$")
_HEAD_LINES = 200  # of a front matter; more is none
_DEEPEST = 7  # one more than a heading can have marks
_DEFAULT_RELATION = "relates_to"  # what basic-memory calls a link without a word before it


@dataclass(frozen=True, slots=True, kw_only=True)
class Head:
    """The front matter of a note, as far as it is known here."""

    title: str = ""
    type: str = ""
    permalink: str = ""
    tags: tuple[str, ...] = ()
    created: int | None = None


@dataclass(slots=True)
class _Parts:
    """A body, taken apart."""

    prose: list[str] = field(default_factory=list)
    observations: list[tuple[str, str]] = field(default_factory=list)  # category, what is said
    relations: list[tuple[str, str, str]] = field(default_factory=list)  # word, target, context


def has_permalink(start: str) -> bool:
    """Whether a text begins with front matter that names a permalink, as basic-memory gives one to every note."""
    lines = start.removeprefix("\ufeff").splitlines()[:_HEAD_LINES]
    if not lines or lines[0].rstrip() != "---":
        return False
    for line in lines[1:]:
        if line.rstrip() == "---":
            return False
        if line.startswith("permalink:"):
            return True
    return False


def split(text: str) -> tuple[Head, str]:
    """The head and the body of a note. A text without front matter is all body."""
    lines = text.removeprefix("\ufeff").replace("\r\n", "\n").split("\n")
    if lines[0].rstrip() != "---":
        return Head(), "\n".join(lines)
    end = next((at for at, line in enumerate(lines[1 : _HEAD_LINES + 1], 1) if line.rstrip() in ("---", "...")), None)
    if end is None:
        return Head(), "\n".join(lines)
    return _head(lines[1:end]), "\n".join(lines[end + 1 :])


def items_of(name: str, text: str, changed: int | None) -> list[Item]:
    """A note as items: one for its prose, one for each observation and each relation. `name` is its file, relative, without the
    suffix; `changed` is when that file was last written."""
    head, body = split(cleaned(text)[0])
    origin = line_of(head.permalink, WORD_MAX * 5) or name
    title = line_of(head.title, WORD_MAX) or name.rpartition("/")[2]
    at = head.created if head.created is not None else changed
    source, parts = f"memory://{origin}", _parts(body)
    made: list[Item] = []
    if prose := _told(title, parts.prose):
        room = line_of(head.type, WORD_MAX) or "note"
        made.append(Item(kind=ItemKind.EVIDENCE, key=origin, text=prose, at=at, tags=head.tags, room=room, source=source))
    for category, said in parts.observations:
        told, tags = _observed(said)
        marks = (category, *tags, *head.tags)
        made.append(statement(title, told, key=f"{origin}#observation", room=category, tags=marks, source=source, at=at))
    for word, target, context in parts.relations:
        fact = relation(title, word, target, key=f"{origin}#relation", context=context, source=source, at=at, tags=head.tags)
        made += [fact] if fact is not None else []
    return made


def _parts(body: str) -> _Parts:
    parts, fence = _Parts(), ""
    for line in body.split("\n"):
        fence = _fenced(line, fence)
        bullet = _BULLET.match(line) if not fence else None
        said = line[bullet.end() :].strip() if bullet else ""
        if said and (seen := _OBSERVATION.match(said)) and not _TASK.match(said):
            parts.observations.append((line_of(seen[1], WORD_MAX), seen[2]))
        elif said and (link := _related(said)) is not None:
            parts.relations.append(link)
        else:
            parts.prose.append(line)
    return parts


def _related(said: str) -> tuple[str, str, str] | None:
    """The word, the target and the context of a relation; None for a line that says more than that."""
    link = _RELATION.match(said)
    if link is None:
        return None
    context = said[link.end() :].strip()
    if context and not (context.startswith("(") and context.endswith(")")):
        return None
    word = line_of(link[1], WORD_MAX).strip("\"' ") or _DEFAULT_RELATION
    return word, link[2].partition("|")[0].strip(), line_of(context[1:-1], WORD_MAX)


def _observed(said: str) -> tuple[str, tuple[str, ...]]:
    """The words of an observation, and the tags in it. Tags at its end and the context behind them stand beside the words."""
    said, context = said.strip(), ""
    if said.endswith(")") and (start := said.rfind("(")) > 0:
        said, context = said[:start].rstrip(), said[start + 1 : -1].strip()
    tags = tuple(line_of(one, TAG_MAX) for one in _TAG.findall(said))
    end = len(said)
    for word in reversed(list(_WORD.finditer(said))):
        if not word[0].startswith("#"):
            break
        end = word.start()
    bare = said[:end].rstrip() or said
    return (f"{bare}\nContext: {context}" if context else bare), tags


def _told(title: str, lines: list[str]) -> str:
    """The prose under its title, without headings under which nothing is left. Empty when nothing was said."""
    levels, fence = [], ""
    for line in lines:
        fence = _fenced(line, fence)
        heading = _HEADING.match(line) if not fence else None
        levels.append(len(heading[1]) if heading else 0)
    if not any(line.strip() for line, level in zip(lines, levels, strict=True) if not level):
        return ""
    kept: list[str] = []
    open_to = 0  # read from the end: sections of a level below this one have words in them
    for line, level in zip(reversed(lines), reversed(levels), strict=True):
        if level == 0:
            kept.append(line)
            open_to = _DEEPEST if line.strip() else open_to
            continue
        if level < open_to:
            kept.append(line)
        open_to = min(open_to, level)
    text = _EMPTY.sub("\n\n", "\n".join(reversed(kept)).strip())
    return text if _HEADING.match(text) else f"{title}\n\n{text}"


def _fenced(line: str, fence: str) -> str:
    """The fence of code that a line stands in, its own included."""
    found = _FENCE.match(line)
    if found is None:
        return fence
    return found[1] if not fence else "" if found[1].startswith(fence) else fence


# -- front matter ----------------------------------------------------------------------------------------------------


def _head(lines: list[str]) -> Head:
    values: dict[str, list[str]] = {}
    key = ""
    for line in lines:
        if found := _KEY.match(line):
            key = found[1].lower()
            values[key] = list(_values(found[2] or ""))
        elif key and (item := re.match(r"^[ \t]*-[ \t]+(.*)$", line)):
            values[key].append(_bare(item[1]))

    def one(name: str) -> str:
        return ", ".join(values.get(name, []))

    tags = [part.strip().lstrip("#") for told in values.get("tags", []) for part in told.split(",")]
    return Head(
        title=one("title"),
        type=one("type"),
        permalink=one("permalink"),
        tags=tuple(filter(None, (line_of(tag, TAG_MAX) for tag in tags))),
        created=time_of(one("created")) if values.get("created") else None,
    )


def _values(told: str) -> Iterator[str]:
    told = told.strip()
    if told.startswith("[") and told.endswith("]"):
        yield from filter(None, (_bare(part) for part in told[1:-1].split(",")))
    elif told:
        yield _bare(told)


def _bare(told: str) -> str:
    told = told.strip()
    if len(told) > 1 and told[0] == told[-1] and told[0] in "\"'":
        return told[1:-1].replace("''", "'") if told[0] == "'" else told[1:-1].replace('\\"', '"')
    return told
