"""Handshakes of hosts, and changes after which a new one is due."""

import msgspec

__all__ = ["Change", "Handshake"]


class Handshake(msgspec.Struct, frozen=True, kw_only=True):
    """One host began one session with one server. Written by the server, in its own words; only the client's name is told."""

    session_id: str
    client_name: str
    client_version: str
    at: int
    build_id: str
    tools_digest: str
    workspace_root: str | None
    host: str | None = None  # one of the known hosts, by the client's name or the agent's
    agent: str | None = None
    transport: str = "stdio"
    protocol_version: str = ""
    pid: int | None = None  # of the process that the host started
    process_started: str | None = None
    executable: str | None = None


class Change(msgspec.Struct, frozen=True, kw_only=True):
    """Something that a command of recovery changed, and how to go back."""

    change_id: str
    kind: str  # hosts.apply, uninstall, update.apply, update.rollback, restart
    at: int
    host: str | None = None  # None: every host
    file: str | None = None
    written: str | None = None  # digest of the entry that was written
    backup: str | None = None
    version: str | None = None
    was_version: str | None = None
    build: str | None = None
    was_build: str | None = None
    undone: str | None = None  # the change that this one takes back
