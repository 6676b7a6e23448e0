"""The passphrase of a home: kept only as a salted scrypt hash, with the times of recent wrong tries beside it."""

import hashlib
import hmac
import json
import secrets
import unicodedata
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from hindbrain.stores.atomic import write_text
from hindbrain.stores.locks import locked

__all__ = ["PassphraseFile"]

_SCHEMA = "hindbrain-passphrase-v0"
_LOCK_WAIT_S = 10.0
_MEMORY = 128 * 1024 * 1024  # what scrypt may use; a file that asks for more is damaged


class PassphraseFile:
    """One file with the hash, one with wrong tries. A hash file that is there and damaged matches nothing."""

    def __init__(self, directory: Path) -> None:
        self.path = directory / "passphrase"
        self._tries = directory / "passphrase.tries"
        self._lock = directory / "passphrase.lock"

    def is_set(self) -> bool:
        """Return True if human acts need a passphrase. A damaged file needs one as well, which nobody has."""
        return self.path.is_symlink() or self.path.exists()

    def damage(self) -> str | None:
        """Return why the file cannot be used; None if it can or is not there."""
        try:
            self._read()
        except FileNotFoundError:
            return None
        except (OSError, ValueError, KeyError, TypeError) as damaged:
            return str(damaged) or type(damaged).__name__
        return None

    def store(self, passphrase: str, cost: Mapping[str, int]) -> None:
        """Replace the hash, and forget wrong tries."""
        salt = secrets.token_bytes(16)
        found = {"schema": _SCHEMA, **cost, "salt": salt.hex(), "hash": _hash(passphrase, salt, cost).hex()}
        write_text(self.path, json.dumps(found) + "\n")
        self._tries.unlink(missing_ok=True)

    def remove(self) -> None:
        """From now on human acts need no passphrase."""
        self.path.unlink(missing_ok=True)
        self._tries.unlink(missing_ok=True)

    def matches(self, passphrase: str) -> bool:
        """Return True for the right passphrase."""
        try:
            found = self._read()
            cost = {name: int(found[name]) for name in ("n", "r", "p")}
            made = _hash(passphrase, bytes.fromhex(found["salt"]), cost)
            return hmac.compare_digest(made, bytes.fromhex(found["hash"]))
        except (OSError, ValueError, KeyError, TypeError):
            return False

    @contextmanager
    def one_at_a_time(self) -> Iterator[None]:
        """Hold the lock of all tries on this machine: guessing in parallel is no faster."""
        with locked(self._lock, wait_s=_LOCK_WAIT_S):
            yield

    def wrong_tries(self) -> list[int]:
        """Return the times of wrong tries, in milliseconds."""
        try:
            found = json.loads(self._tries.read_text(encoding="ascii"))
        except (OSError, ValueError):
            return []
        return [one for one in found if isinstance(one, int)] if isinstance(found, list) else []

    def keep_tries(self, tries: list[int]) -> None:
        """Write down the times of wrong tries."""
        write_text(self._tries, json.dumps(tries) + "\n")

    def _read(self) -> dict[str, Any]:
        found = json.loads(self.path.read_text(encoding="ascii"))
        if not isinstance(found, dict) or found.get("schema") != _SCHEMA or len(bytes.fromhex(found["hash"])) != 32:
            raise ValueError("it holds no hash of a passphrase")
        return found


def _hash(passphrase: str, salt: bytes, cost: Mapping[str, int]) -> bytes:
    # The same letters can be typed in two forms; both are the same passphrase.
    typed = unicodedata.normalize("NFC", passphrase).encode("utf-8")
    return hashlib.scrypt(typed, salt=salt, n=cost["n"], r=cost["r"], p=cost["p"], maxmem=_MEMORY, dklen=32)
