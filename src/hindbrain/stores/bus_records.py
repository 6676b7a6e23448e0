"""Bus records: registry, channels, sessions, inboxes and log of one bus, in domain values. A line nobody can read is counted."""

import re
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import TypeVar

import msgspec

from hindbrain.domain.cowork import Agent, CoworkChannel, CoworkEvent, CoworkMessage, CoworkSession, Handed
from hindbrain.domain.errors import StoreDamaged
from hindbrain.domain.typed import decoded, decoder, names_its_schema
from hindbrain.stores.bus_files import BusFiles, FileLook, FileTurn
from hindbrain.stores.home import Home

__all__ = [
    "AGENTS",
    "AgentsFile",
    "Bus",
    "BusLook",
    "BusTurn",
    "EventLog",
    "Lines",
    "SessionsFile",
    "inbox_file",
    "records_of",
]

AGENTS = "agents.json"
SESSIONS = "sessions.json"
EVENTS = "events.jsonl"
_EVENT_PART = re.compile(r"events-(\d{1,9})\.jsonl")

Record = TypeVar("Record", bound=msgspec.Struct)


class AgentsFile(msgspec.Struct, frozen=True, kw_only=True):
    """Who is registered on a bus, and its channels."""

    schema: str = "hindbrain-cowork-agents-v0"
    project: str = ""  # whose bus it is: the name of the directory does not say
    agents: tuple[Agent, ...] = ()
    channels: tuple[CoworkChannel, ...] = ()


class SessionsFile(msgspec.Struct, frozen=True, kw_only=True):
    """The sessions of a bus."""

    schema: str = "hindbrain-cowork-sessions-v0"
    sessions: tuple[CoworkSession, ...] = ()


class Lines(msgspec.Struct, frozen=True, kw_only=True):
    """How many lines of a file were skipped because nobody can read them, and its size."""

    skipped: int
    size: int


class BusLook:
    """One bus at one moment."""

    def __init__(self, files: FileLook) -> None:
        self._files = files

    def agents(self) -> dict[str, Agent]:
        """Every registered agent by its id, in the order of the ids."""
        return {agent.agent_id: agent for agent in sorted(self._registry().agents, key=lambda one: one.agent_id)}

    def channels(self) -> dict[str, CoworkChannel]:
        return {one.channel: one for one in sorted(self._registry().channels, key=lambda one: one.channel)}

    def sessions(self) -> dict[str, CoworkSession]:
        found = self._whole(SESSIONS, SessionsFile) or SessionsFile()
        return {one.session_id: one for one in sorted(found.sessions, key=lambda one: one.session_id)}

    def inbox(self, agent_id: str) -> tuple[list[CoworkMessage], Lines]:
        """What waits for an agent, oldest first."""
        return records_of(self._files.read(inbox_file(agent_id)), CoworkMessage)

    def handed(self, agent_id: str) -> Handed | None:
        """The last named batch of an agent."""
        return self._whole(_handed_file(agent_id), Handed)

    def events(self, *, holding: Iterable[str] | None = None) -> tuple[list[CoworkEvent], int]:
        """The log in the order in which it was written, and how many lines of it nobody can read. With `holding` only lines
        with one of these texts: a few of a long log, without reading all of it as records."""
        wanted = None if holding is None else [text.encode() for text in holding]
        found: list[CoworkEvent] = []
        skipped = 0
        for name in self.log_parts():
            events, lines = records_of(self._files.read(name), CoworkEvent, wanted)
            found += events
            skipped += lines.skipped
        return found, skipped

    def history(self) -> "EventLog":
        """The log as it is now, for a walk that may take long: nobody has to wait for it, because it needs the bus no more."""
        *whole, last = self.log_parts()
        return EventLog(self._files, whole, self._files.read(last))

    def log_parts(self) -> list[str]:
        """The files of the log, oldest first."""
        numbers = sorted(int(match[1]) for name in self._files.names() if (match := _EVENT_PART.fullmatch(name)))
        return [*(f"events-{number}.jsonl" for number in numbers), EVENTS]

    def _registry(self) -> AgentsFile:
        return self._whole(AGENTS, AgentsFile) or AgentsFile()

    def _whole(self, name: str, kind: type[Record]) -> Record | None:
        raw = self._files.read(name)
        if not raw:
            return None
        try:
            found = decoded(raw, kind)
        except (msgspec.MsgspecError, UnicodeDecodeError) as damaged:
            raise _damaged(name) from damaged
        if not names_its_schema(found):
            raise _damaged(name)  # of another release: it is not written over
        return found


class EventLog:
    """The events of a log in the order in which they were written, one part in memory at a time. Only its last part still grows,
    and that was read with the bus. `skipped` counts the lines of the last walk that nobody can read."""

    def __init__(self, files: FileLook, whole: Sequence[str], last: bytes) -> None:
        self._files = files
        self._whole = whole
        self._last = last
        self.skipped = 0

    def __iter__(self) -> Iterator[CoworkEvent]:
        self.skipped = 0
        for name in (*self._whole, None):
            raw = self._last if name is None else self._files.read(name)
            events, lines = records_of(raw, CoworkEvent)
            self.skipped += lines.skipped
            yield from events


class BusTurn(BusLook):
    """One turn of the bus: what it changes is written together or not at all."""

    def __init__(self, files: FileTurn, *, root: str, part_bytes: int) -> None:
        super().__init__(files)
        self._turn = files
        self._root = root
        self._part_bytes = part_bytes

    def put_agent(self, agent: Agent) -> None:
        found = self._registry()
        others = [one for one in found.agents if one.agent_id != agent.agent_id]
        self._put(AGENTS, msgspec.structs.replace(found, project=self._root, agents=(*others, agent)))

    def put_channel(self, channel: CoworkChannel) -> None:
        found = self._registry()
        others = [one for one in found.channels if one.channel != channel.channel]
        self._put(AGENTS, msgspec.structs.replace(found, channels=(*others, channel)))

    def put_session(self, session: CoworkSession) -> None:
        others = [one for one in self.sessions().values() if one.session_id != session.session_id]
        self._put(SESSIONS, SessionsFile(sessions=(*others, session)))

    def push(self, agent_id: str, message: CoworkMessage) -> int:
        """Add a message to an inbox. Returns the size of its file after it."""
        self._turn.append(inbox_file(agent_id), msgspec.json.encode(message) + b"\n")
        return self._turn.size(inbox_file(agent_id))

    def take(self, agent_id: str) -> None:
        """Empty an inbox."""
        self._turn.remove(inbox_file(agent_id))

    def hand(self, agent_id: str, handed: Handed) -> None:
        """Keep a named batch until the next one."""
        self._turn.replace(_handed_file(agent_id), msgspec.json.encode(handed))

    def log(self, event: CoworkEvent) -> None:
        """Add an event. A log that is long enough becomes a part of its own first."""
        if self._turn.size(EVENTS) >= self._part_bytes and not self._turn.touched(EVENTS):
            parts = self.log_parts()[:-1]
            last = int(parts[-1].removeprefix("events-").removesuffix(".jsonl")) if parts else 0
            self._turn.rename(EVENTS, f"events-{last + 1}.jsonl")
        self._turn.append(EVENTS, msgspec.json.encode(event) + b"\n")

    def _put(self, name: str, record: msgspec.Struct) -> None:
        self._turn.replace(name, msgspec.json.format(msgspec.json.encode(record), indent=2) + b"\n")


class Bus:
    """The bus of one checkout."""

    def __init__(self, home: Home, root: str, *, wait_s: float, part_bytes: int) -> None:
        self.root = root
        self.files = BusFiles(home, root, wait_s=wait_s)
        self._part_bytes = part_bytes

    @contextmanager
    def look(self) -> Iterator[BusLook]:
        """Read the bus as it is at one moment, without changing it."""
        with self.files.look() as look:
            yield BusLook(look)

    @contextmanager
    def turn(self, *, make: bool = False) -> Iterator[BusTurn]:
        """Read and change the bus, all or nothing."""
        with self.files.turn(make=make) as turn:
            yield BusTurn(turn, root=self.root, part_bytes=self._part_bytes)


def _damaged(name: str) -> StoreDamaged:
    return StoreDamaged(
        f"{name} of this bus is damaged or of another release",
        fix="run hindbrain doctor --fix; agents register again with hindbrain cowork register --agent-id AGENT --tool TOOL",
        path=name,
    )


def inbox_file(agent_id: str) -> str:
    return f"inbox/{agent_id}.jsonl"


def _handed_file(agent_id: str) -> str:
    return f"handed/{agent_id}.json"


def records_of(raw: bytes, kind: type[Record], wanted: Sequence[bytes] | None = None) -> tuple[list[Record], Lines]:
    """The records of a file of lines, in its order."""
    found: list[Record] = []
    skipped = 0
    reader = decoder(kind)
    for line in raw.split(b"\n"):
        if not line or (wanted is not None and not any(text in line for text in wanted)):
            continue
        try:
            found.append(reader.decode(line))
        except (msgspec.MsgspecError, UnicodeDecodeError):
            skipped += 1
    return found, Lines(skipped=skipped, size=len(raw))
