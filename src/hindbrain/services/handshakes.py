"""Handshakes: which host began which session, with which build, in which workspace. Written when an MCP session
begins; the only thing that shows that a host is bound anew."""

import hashlib
import os
from collections.abc import Callable, Sequence

from hindbrain.domain.caller import Caller
from hindbrain.domain.handshake import Change, Handshake
from hindbrain.engines.hygiene import redacted
from hindbrain.engines.rebinding import host_of, latest
from hindbrain.policy.recovery import CHANGES_KEPT, HANDSHAKES_KEPT
from hindbrain.stores.home import Home
from hindbrain.stores.installation import started_as
from hindbrain.stores.journal_file import JournalFile
from hindbrain.stores.processes import process

__all__ = ["Handshakes"]

_NAME = 100


class Handshakes:
    """The record of one home: handshakes, and the changes after which new ones are due."""

    def __init__(self, home: Home, clock: Callable[[], int]) -> None:
        self._clock = clock
        place = home.path / "recovery"
        self._shaken: JournalFile[Handshake] = JournalFile(place / "handshakes.jsonl", Handshake, keep=HANDSHAKES_KEPT)
        self._changed: JournalFile[Change] = JournalFile(place / "changes.jsonl", Change, keep=CHANGES_KEPT)

    def record(
        self,
        caller: Caller,
        *,
        client_name: str,
        client_version: str,
        tools: Sequence[str],
        transport: str = "stdio",
        protocol_version: str = "",
        pid: int | None = None,
    ) -> Handshake:
        """A session began. `pid` is the process that the host started for it, when it has one."""
        seen = process(pid) if pid is not None else None
        made = Handshake(
            session_id=caller.session,
            client_name=_word(client_name),
            client_version=_word(client_version),
            at=self._clock(),
            build_id=started_as(),
            tools_digest="sha256:" + hashlib.sha256("\n".join(sorted(tools)).encode("utf-8")).hexdigest(),
            workspace_root=caller.root,
            host=host_of(client_name, caller.agent),
            agent=_word(caller.agent),
            transport=transport,
            protocol_version=_word(protocol_version),
            pid=seen.pid if seen else None,
            process_started=seen.started if seen else None,
            executable=os.path.realpath(seen.executable) if seen else None,
        )
        self._shaken.append(made)
        return made

    def all(self) -> tuple[Handshake, ...]:
        """Every record that is kept, oldest first."""
        return self._shaken.all()

    def seen_at(self, session_id: str) -> int | None:
        """When a session first shook hands; None when it never did."""
        return min((one.at for one in self.all() if one.session_id == session_id), default=None)

    def latest(self, host: str) -> Handshake | None:
        """The newest handshake of a host."""
        return latest(self.all(), host)

    def since(self, at: int, root: str | None) -> Handshake | None:
        """The first session in a workspace that began after a moment."""
        old = {one.session_id for one in self.all() if one.at <= at}
        new = (one for one in self.all() if one.session_id not in old and one.workspace_root == root)
        return min(new, key=lambda one: one.at, default=None)

    def changes(self) -> tuple[Change, ...]:
        """What commands of recovery changed, oldest first."""
        return self._changed.all()

    def changed(self, change: Change) -> None:
        self._changed.append(change)


def _word(text: str) -> str:
    """What a client says of itself, short and without what is nobody's business."""
    return redacted("".join(letter for letter in text if letter.isprintable()))[:_NAME]
