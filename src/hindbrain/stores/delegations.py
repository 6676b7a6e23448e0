"""Delegation records: one file per packet and one line per debrief, in the brain's own directory. Files of one user, whole or not
there at all; a record is found only below the brain that it belongs to."""

import os
import re
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import msgspec

from hindbrain.domain.delegation import DelegationRecord, OutcomeRow
from hindbrain.domain.typed import decoded
from hindbrain.policy.limits import LOCK_WAIT_S
from hindbrain.stores.atomic import write_text
from hindbrain.stores.directories import make_directory
from hindbrain.stores.line_file import append_lines
from hindbrain.stores.locks import locked

__all__ = ["DelegationFiles", "is_delegation_id"]

_ID = re.compile(r"dlg_(\d{1,16})_[a-z0-9]{4,16}")


def is_delegation_id(text: str) -> bool:
    """Whether a text can be the id of a packet; nothing else ever becomes the name of a file."""
    return _ID.fullmatch(text) is not None


class DelegationFiles:
    """The records of one brain."""

    def __init__(self, place: Path) -> None:
        self._place = place
        self._outcomes = place / "outcomes.jsonl"

    def read(self, delegation_id: str) -> DelegationRecord | None:
        """A record, or None when there is none that can be read."""
        if not is_delegation_id(delegation_id):
            return None
        try:
            handle = os.open(self._place / f"{delegation_id}.json", os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC)
        except OSError:
            return None
        with os.fdopen(handle, "rb") as file:
            try:
                found = decoded(file.read(), DelegationRecord)
            except (msgspec.MsgspecError, UnicodeDecodeError):
                return None
        return found if found.delegation_id == delegation_id else None

    def write(self, record: DelegationRecord) -> None:
        """Make or replace a record."""
        make_directory(self._place)
        text = msgspec.json.format(msgspec.json.encode(record), indent=2).decode("utf-8")
        write_text(self._place / f"{record.delegation_id}.json", text + "\n")

    @contextmanager
    def held(self) -> Iterator[None]:
        """One debrief of this brain at a time: what two of them tell is compared with what was told before."""
        make_directory(self._place)
        with locked(self._place / ".lock", wait_s=LOCK_WAIT_S):
            yield

    def outcomes(self) -> tuple[OutcomeRow, ...]:
        """Every debrief, oldest first. A line that cannot be read is left out."""
        try:
            lines = self._outcomes.read_bytes().splitlines()
        except FileNotFoundError:
            return ()
        found = []
        for line in lines:
            with suppress(msgspec.MsgspecError, UnicodeDecodeError):
                found.append(decoded(line, OutcomeRow))
        return tuple(found)

    def append(self, row: OutcomeRow) -> None:
        """One more line; the caller holds the lock. A line that a dead process left unfinished stays a line by itself."""
        append_lines(self._outcomes, msgspec.json.encode(row) + b"\n")

    def forget_before(self, created_ms: int) -> int:
        """Remove records of packets that were made before a time; how many there were."""
        old = []
        for path in self._place.glob("dlg_*.json") if self._place.is_dir() else ():
            named = _ID.fullmatch(path.stem)
            if named is not None and int(named[1]) < created_ms:
                old.append(path)
        for path in old:
            path.unlink(missing_ok=True)
        return len(old)
