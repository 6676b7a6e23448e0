"""Transcripts: who said what, read from the logs and exports of agent hosts and chat programs. Lines come in one by one, so that
no log is ever in memory as a whole; a line that cannot be read is counted and passed over."""

import datetime
import json
import re
from collections import deque
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

import msgspec

from hindbrain.engines.noise import stripped
from hindbrain.engines.own_text import without_own_text

__all__ = ["Format", "Reading", "Turn", "cleaned", "detected", "from_document", "from_lines", "time_of"]

_SPEECH = re.compile(r"^(?:(?P<quote>> ?)|(?P<who>user|human|you|assistant|ai|system)\s*:\s*)", re.I)
_USERS = ("user", "human", "you")
_RECENT = 16  # an agent host writes the same message as an event and as an item; the second one is near
_DEEPEST = 100_000  # nodes of one conversation
_YEARS_MS = range(-62_135_596_800_000, 253_402_300_800_000)  # 1 to 9999, what a date can say


class Format(StrEnum):
    """What a source is. `convos` reads a plain text as a transcript; `text` reads anything as text."""

    CLAUDE = "claude"
    CODEX = "codex"
    SLACK = "slack"
    CHATGPT = "chatgpt"
    JSONL = "jsonl"
    CONVOS = "convos"
    TEXT = "text"

    @property
    def by_lines(self) -> bool:
        return self in (Format.CLAUDE, Format.CODEX, Format.JSONL)


@dataclass(frozen=True, slots=True, kw_only=True)
class Turn:
    """One message. Its place in the thread is the order in which it comes."""

    text: str
    thread: str | None = None
    message: str = ""
    speaker: str | None = None
    role: str | None = None
    said_at: int | None = None
    of_people: bool = False  # of a talk between people: whatever the role, a person said it


@dataclass(slots=True, kw_only=True)
class Reading:
    """How a source is to be read, and what was met on the way."""

    strip_noise: bool = True
    keep_tools: bool = False
    broken_lines: int = 0
    replaced: int = 0  # characters that no text can hold
    noise_bytes: int = 0
    recent: deque[tuple[str, str]] = field(default_factory=lambda: deque(maxlen=_RECENT))

    def said(self, text: str, *, noisy: bool) -> str:
        """A text as it is kept: valid, without what Hindbrain put there, and without noise where that was asked for."""
        text, replaced = cleaned(text)
        self.replaced += replaced
        text = self.without_own(text)
        if noisy and self.strip_noise:
            text, noise = stripped(text)
            self.noise_bytes += noise
            return text.strip() if noise else text
        return text

    def without_own(self, text: str) -> str:
        """The text without what Hindbrain put there. That counts as noise, and nobody can ask for it."""
        kept = without_own_text(text)
        if kept is not text:
            self.noise_bytes += len(text.encode("utf-8", "replace")) - len(kept.encode("utf-8", "replace"))
        return kept


def cleaned(text: str) -> tuple[str, int]:
    """The text without NUL characters and half characters, and how many of them there were."""
    if "\x00" not in text and text.isascii():
        return text, 0
    nul = text.count("\x00")
    text = text.replace("\x00", "\ufffd") if nul else text
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        whole = text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
        return whole, nul + sum("\ud800" <= c <= "\udfff" for c in text)
    return text, nul


def time_of(value: Any) -> int | None:
    """A time in milliseconds, from seconds, milliseconds or ISO; None when it is none of these."""
    if isinstance(value, str):
        told = value.strip()
        try:
            value = float(told)
        except ValueError:
            try:
                moment = datetime.datetime.fromisoformat(told)
            except ValueError:
                return None
            moment = moment if moment.tzinfo else moment.replace(tzinfo=datetime.UTC)
            value = moment.timestamp() * 1000
            return int(value) if int(value) in _YEARS_MS else None
    if isinstance(value, bool) or not isinstance(value, int | float) or value != value:
        return None
    ms = value if abs(value) > 100_000_000_000 else value * 1000
    return int(ms) if abs(ms) < 1 << 52 and int(ms) in _YEARS_MS else None


def _decoded(line: bytes) -> Any:
    """One line as JSON; None when it is none."""
    try:
        return msgspec.json.decode(line)
    except (msgspec.DecodeError, RecursionError, UnicodeDecodeError):
        pass
    try:
        # Slower and more patient: half characters, bad UTF-8.
        return json.loads(line.decode("utf-8", "replace"))
    except (ValueError, RecursionError):
        return None


# -- which format ----------------------------------------------------------------------------------------------------


def detected(sample: Sequence[bytes]) -> Format | None:
    """The format of a source by its first lines; None when only the whole document can tell (it may be JSON)."""
    lines = [line for line in sample if line.strip()]
    if not lines:
        return Format.TEXT
    first = lines[0].lstrip().removeprefix(b"\xef\xbb\xbf").lstrip()
    objects = [found for found in map(_decoded, lines) if isinstance(found, dict)]
    if first[:1] == b"[" or (first[:1] == b"{" and len(objects) * 2 <= len(lines)):
        return None
    if not objects or len(objects) * 2 <= len(lines):
        return Format.TEXT
    if len(lines) == 1 and {"mapping", "messages"} & objects[0].keys():
        return None
    kinds = {kind for one in objects if isinstance(kind := one.get("type"), str)}
    if "session_meta" in kinds:
        return Format.CODEX if kinds & {"event_msg", "response_item"} else Format.TEXT
    if any(one.get("type") in ("user", "assistant", "human") and _claude_texts(one, tools=True) for one in objects):
        return Format.CLAUDE
    return Format.JSONL if any(_generic_text(one) is not None for one in objects) else Format.TEXT


# -- by lines --------------------------------------------------------------------------------------------------------


def from_lines(lines: Iterable[bytes], form: Format, reading: Reading) -> Iterator[Turn]:
    """The turns of a log, one line after the other."""
    reader = {Format.CLAUDE: _claude, Format.CODEX: _Codex().turns, Format.JSONL: _generic}[form]
    for line in lines:
        if not line.strip():
            continue
        found = _decoded(line)
        if not isinstance(found, dict):
            reading.broken_lines += 1
            continue
        yield from reader(found, reading)


def _word(value: Any) -> str | None:
    """A short name as text; None for anything else."""
    if isinstance(value, str) and value.strip():
        return cleaned(value)[0].strip()[:200]
    return str(value) if isinstance(value, int) and not isinstance(value, bool) else None


def _blocks(content: Any) -> Iterator[tuple[str, str]]:
    """The texts inside the content of a message, each with the kind of its block."""
    if isinstance(content, str):
        yield "text", content
    elif isinstance(content, list):
        for block in content:
            if isinstance(block, str):
                yield "text", block
            elif isinstance(block, dict):
                kind = str(block.get("type"))
                inner = block.get("text")
                if isinstance(inner, str):
                    yield kind, inner
                elif kind == "tool_result":
                    yield from ((kind, text) for _, text in _blocks(block.get("content")))


def _claude_texts(line: Mapping[str, Any], *, tools: bool) -> list[tuple[str, str]]:
    message = line.get("message")
    content = message.get("content") if isinstance(message, dict) else message if message is not None else line.get("content")
    return [
        (kind, text) for kind, text in _blocks(content) if text.strip() and (kind == "text" or (tools and kind == "tool_result"))
    ]


def _claude(line: Mapping[str, Any], reading: Reading) -> Iterator[Turn]:
    if line.get("type") not in ("user", "assistant", "human") or line.get("isMeta") is True:
        return
    thread = _word(line.get("sessionId") or line.get("session_id"))
    if thread and line.get("isSidechain") is True:
        # A helper's own conversation has the session of whoever started it, and its own order.
        thread = f"{thread}/{_word(line.get('agentId')) or 'side'}"
    role = "assistant" if line["type"] == "assistant" else "user"
    texts = _claude_texts(line, tools=reading.keep_tools)
    for kind, group in (("text", role), ("tool_result", "tool")):
        text = reading.said("\n".join(told for found, told in texts if found == kind), noisy=kind == "text")
        if text.strip():
            yield Turn(
                text=text,
                thread=thread,
                message=_word(line.get("uuid")) or "",
                role=group,
                said_at=time_of(line.get("timestamp")),
            )


class _Codex:
    """A Codex log: the session is named once, and each message comes as an event, as an item, or as both."""

    def __init__(self) -> None:
        self._thread: str | None = None

    def turns(self, line: Mapping[str, Any], reading: Reading) -> Iterator[Turn]:
        payload = line.get("payload")
        if not isinstance(payload, dict):
            return
        if line.get("type") == "session_meta":
            self._thread = _word(payload.get("id")) or self._thread
            return
        found = self._said(str(line.get("type")), payload, reading)
        if found is None:
            return
        role, told = found
        text = reading.said(told, noisy=role != "tool")
        if not text.strip() or (role, text.strip()) in reading.recent:
            return
        reading.recent.append((role, text.strip()))
        yield Turn(text=text, thread=self._thread, role=role, said_at=time_of(line.get("timestamp")))

    @staticmethod
    def _said(kind: str, payload: Mapping[str, Any], reading: Reading) -> tuple[str, str] | None:
        inner = payload.get("type")
        if kind == "event_msg" and inner in ("user_message", "agent_message"):
            message = payload.get("message")
            return ("user" if inner == "user_message" else "assistant", message) if isinstance(message, str) else None
        if kind != "response_item":
            return None
        if inner == "message" and payload.get("role") in ("user", "assistant"):
            return str(payload["role"]), "\n".join(text for _, text in _blocks(payload.get("content")))
        if inner == "function_call_output" and reading.keep_tools and isinstance(payload.get("output"), str):
            return "tool", payload["output"]
        return None


def _first(line: Mapping[str, Any], *names: str) -> Any:
    return next((line[name] for name in names if line.get(name) not in (None, "")), None)


def _generic_text(line: Mapping[str, Any]) -> str | None:
    for name in ("text", "content", "message"):
        value = line.get(name)
        if isinstance(value, dict):
            value = value.get("content", value.get("text"))
        texts = [text for kind, text in _blocks(value) if kind != "tool_result"]
        if texts:
            return "\n".join(texts)
    return None


def _generic(line: Mapping[str, Any], reading: Reading) -> Iterator[Turn]:
    told = _generic_text(line)
    if told is None:
        reading.broken_lines += 1
        return
    text = reading.said(told, noisy=False)
    if text.strip():
        yield Turn(
            text=text,
            thread=_word(_first(line, "session", "thread", "conversation_id", "session_id", "thread_id")),
            message=_word(_first(line, "id", "message_id", "uuid")) or "",
            speaker=_word(_first(line, "speaker", "name", "author")),
            role=_word(line.get("role")),
            said_at=time_of(_first(line, "time", "timestamp", "said_at", "created_at")),
        )


# -- whole documents -------------------------------------------------------------------------------------------------


def from_document(data: bytes, form: Format | None, reading: Reading) -> tuple[Format, list[Turn]]:
    """The turns of a source that has to be read as a whole, and what it was; plain text has none."""
    if form is Format.CONVOS:
        return form, list(_convos(data, reading))
    found = _decoded(data.removeprefix(b"\xef\xbb\xbf"))
    if form in (None, Format.SLACK) and _is_slack(found):
        return Format.SLACK, list(_slack(found, reading))
    if form in (None, Format.CHATGPT):
        turns = [turn for one in _conversations(found) for turn in _chatgpt(one, reading)]
        if turns:
            return Format.CHATGPT, turns
    return form or Format.TEXT, []


def _is_slack(found: Any) -> bool:
    return isinstance(found, list) and any(
        isinstance(one, dict)
        and one.get("type") == "message"
        and isinstance(one.get("text"), str)
        and isinstance(one.get("user") or one.get("username"), str)
        for one in found[:5]
    )


def _slack(found: Any, reading: Reading) -> Iterator[Turn]:
    first: str | None = None
    for one in found:
        who = _word(one.get("user") or one.get("username")) if isinstance(one, dict) else None
        if who is None or not isinstance(one.get("text"), str):
            continue
        first = first or who
        text = reading.said(one["text"], noisy=False)
        if text.strip():
            yield Turn(
                text=text,
                message=_word(one.get("client_msg_id") or one.get("ts")) or "",
                speaker=who,
                role="user" if who == first else "assistant",
                said_at=time_of(one.get("ts")),
                of_people=not isinstance(one.get("bot_id"), str),
            )


def _conversations(found: Any) -> Sequence[Mapping[str, Any]]:
    """An export is one conversation, a list of them, or the bare messages of one."""
    if isinstance(found, dict):
        return [found] if "mapping" in found or "messages" in found else []
    if not isinstance(found, list):
        return []
    objects = [one for one in found if isinstance(one, dict)]
    if any("mapping" in one or "messages" in one for one in objects):
        return objects
    return [{"messages": objects}]


def _chatgpt(conversation: Mapping[str, Any], reading: Reading) -> Iterator[Turn]:
    thread = _word(_first(conversation, "conversation_id", "id", "title"))
    mapping = conversation.get("mapping")
    messages = _walked(mapping) if isinstance(mapping, dict) else conversation.get("messages")
    for message in messages if isinstance(messages, Iterable) else ():
        if not isinstance(message, dict):
            continue
        author = message.get("author")
        author = author if isinstance(author, dict) else {"role": author or message.get("role")}
        role = _word(author.get("role"))
        if role in (None, "system") or (role == "tool" and not reading.keep_tools):
            continue
        content = message.get("content", message.get("text"))
        content = content.get("parts", content.get("text")) if isinstance(content, dict) else content
        text = reading.said("\n".join(told for _, told in _blocks(content)), noisy=False)
        if text.strip():
            yield Turn(
                text=text,
                thread=thread,
                message=_word(message.get("id")) or "",
                speaker=_word(author.get("name")),
                role=role,
                said_at=time_of(_first(message, "create_time", "timestamp", "time")),
            )


def _walked(mapping: Mapping[str, Any]) -> Iterator[Any]:
    """The messages of a tree, depth first from what has no parent; each node once, however the links go."""
    nodes = {key: node for key, node in mapping.items() if isinstance(node, dict)}
    waiting = [key for key, node in nodes.items() if node.get("parent") not in nodes][::-1]
    seen: set[str] = set()
    while waiting and len(seen) < _DEEPEST:
        key = waiting.pop()
        if key in seen or key not in nodes:
            continue
        seen.add(key)
        yield nodes[key].get("message")
        children = nodes[key].get("children")
        if isinstance(children, list):
            waiting += [child for child in reversed(children) if isinstance(child, str)]


def _convos(data: bytes, reading: Reading) -> Iterator[Turn]:
    """A plain transcript: lines of the user begin with `> ` or with who speaks; what follows belongs to the answer."""
    role, lines = "assistant", list[str]()
    # Before it falls into turns: what Hindbrain put there has lines that begin with who speaks.
    for line in reading.without_own(data.decode("utf-8", "replace")).splitlines(keepends=True):
        mark = _SPEECH.match(line)
        said = role if mark is None and role != "user" else _role(mark)
        if said != role or (mark and mark["who"]):
            yield from _turn_of(role, lines, reading)
            role, lines = said, []
        lines.append(line[mark.end() :] if mark else line)
    yield from _turn_of(role, lines, reading)


def _role(mark: re.Match[str] | None) -> str:
    if mark is None:
        return "assistant"
    who = (mark["who"] or "user").lower()
    return "user" if who in _USERS else "system" if who == "system" else "assistant"


def _turn_of(role: str, lines: list[str], reading: Reading) -> Iterator[Turn]:
    text = reading.said("".join(lines).strip(), noisy=False)
    if text:
        yield Turn(text=text, role=role)
