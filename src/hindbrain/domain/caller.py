"""Callers: who calls, from where, and by which channel. Trust follows the channel, never what a text says of itself."""

from dataclasses import dataclass, field
from enum import StrEnum
from typing import NewType

__all__ = ["FINISHER", "UNKNOWN_AGENT", "AgentId", "Caller", "Channel", "RootSource", "SessionId", "is_root"]

AgentId = NewType("AgentId", str)
SessionId = NewType("SessionId", str)

UNKNOWN_AGENT = AgentId("unknown")


class Channel(StrEnum):
    """How a write came in."""

    HUMAN = "human"
    AGENT = "agent"
    IMPORT = "import"
    FILE = "file"
    RESEARCH = "research"
    RUNTIME = "runtime"
    DREAM = "dream"


class RootSource(StrEnum):
    """Where the caller root was learned."""

    CALL = "call"
    HEADER = "header"
    SESSION = "session"
    ENVIRONMENT = "environment"
    DIRECTORY = "directory"
    ROOTS = "roots"  # a client of MCP offered it
    UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True, kw_only=True)
class Caller:
    """Agent id, caller root, session and channel of one call. The agent id is self-declared; the channel is not."""

    agent: AgentId
    root: str | None
    root_source: RootSource
    session: SessionId
    channel: Channel = Channel.AGENT
    reads_files: bool = True  # a process of the user, which can read them itself; over MCP an agent may have no shell
    listed_tools: tuple[str, ...] | None = None  # tools that MCP lists for this session; None for any other surface
    told_root: str | None = None  # what the call itself says, if a host or a person registered it; heard last
    refused_root: str | None = None  # what the call itself says, and nobody registered: it opens nothing
    delegation: str | None = None  # the packet that the caller works under, as its environment says
    offered_roots: tuple[str, ...] = ()  # directories that a client of MCP says are open; the guard checks them
    visit: str | None = None  # the visit to the Hall that the call comes from
    passphrase: str | None = field(default=None, repr=False)  # what a person typed to confirm this act

    def reads_all_brains(self, *, wide: bool) -> bool:
        """A person always; a process of the user unless the machine is not `wide`; an agent without a shell never."""
        return self.channel is Channel.HUMAN or (wide and self.reads_files)

    @property
    def signature(self) -> str | None:
        """The agent's name on one line; None for one that gave none."""
        return " ".join(self.agent.split()) if self.agent != UNKNOWN_AGENT else None


def is_root(text: str) -> bool:
    """Whether a text can be a caller root: an absolute path without NUL and without steps upwards."""
    return text.startswith("/") and "\x00" not in text and ".." not in text.split("/")


# Who completes what a dead process began.
FINISHER = Caller(
    agent=AgentId("hindbrain"),
    root=None,
    root_source=RootSource.UNKNOWN,
    session=SessionId("recovery"),
    channel=Channel.RUNTIME,
)
