"""Token files: read only when they are whole, written whole or not at all, and what a token proves without being sent."""

from __future__ import annotations

from _blake2 import blake2b
from os import O_CLOEXEC, O_NONBLOCK, O_RDONLY, close, read
from os import open as open_file

# Hooks import this module on every prompt: nothing heavy is loaded before a file must be written.
TYPE_CHECKING = False
if TYPE_CHECKING:
    from pathlib import Path

__all__ = [
    "CHALLENGE",
    "PROVE_PATH",
    "TokenUnreadable",
    "check_token",
    "damage_of",
    "ensure_token",
    "is_challenge",
    "owner_proof",
    "read_token",
    "same_token",
]

# secrets.token_urlsafe(32) has 43. The upper limit is the longest key of BLAKE2b.
SHORTEST, LONGEST = 32, 64
_ALPHABET = frozenset(b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_")
_LOCK_WAIT_S = 5.0

PROVE_PATH = "/api/prove"
CHALLENGE = "Hindbrain-Challenge"
_HEX = frozenset("0123456789abcdef")


class TokenUnreadable(ValueError):
    """A token file that is there and holds no token."""


def check_token(token: str | bytes) -> bytes:
    """Return the token as bytes. Raise TokenUnreadable for one that is empty, short, long or of other characters."""
    raw = token.encode("utf-8", "surrogateescape") if isinstance(token, str) else token
    if not SHORTEST <= len(raw) <= LONGEST:
        raise TokenUnreadable(f"it has {len(raw)} characters; a token has {SHORTEST} to {LONGEST}")
    if not _ALPHABET.issuperset(raw):
        raise TokenUnreadable("it has characters that no token has")
    return raw


def same_token(given: bytes, token: bytes) -> bool:
    """Compare in constant time. What is no token, an empty one first of all, equals nothing."""
    from hmac import compare_digest

    return SHORTEST <= len(token) <= LONGEST and compare_digest(given, token)


def read_token(path: str | Path) -> str:
    """Read the token of a file. Raise FileNotFoundError, another OSError, or TokenUnreadable for a damaged file."""
    # Without waiting: a pipe in its place has no writer, and would hold every call.
    handle = open_file(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC)
    try:
        return check_token(read(handle, 4 * LONGEST).strip()).decode("ascii")
    finally:
        close(handle)


def damage_of(path: Path) -> str | None:
    """Return why a token file cannot be used; None if it can."""
    try:
        read_token(path)
    except (OSError, TokenUnreadable) as damaged:
        return str(damaged)
    return None


def ensure_token(path: Path) -> tuple[str, str | None]:
    """Return the token of a file and why the file was replaced; None if it was good or new.

    A missing file is created and a damaged one is replaced: a token that cannot be read opens nothing for anybody."""
    try:
        return read_token(path), None
    except (FileNotFoundError, TokenUnreadable):
        pass  # both end in a new file, below
    import secrets

    from hindbrain.stores.atomic import write_text
    from hindbrain.stores.locks import locked

    # Two processes that both find no good token must end with the same one.
    with locked(path.with_name("tokens.lock"), wait_s=_LOCK_WAIT_S):
        why = None
        try:
            return read_token(path), None
        except FileNotFoundError:
            pass
        except TokenUnreadable as damaged:
            why = str(damaged)
        fresh = secrets.token_urlsafe(32)
        write_text(path, fresh + "\n")
        return fresh, why


def is_challenge(text: str) -> bool:
    """Return True for a challenge: 32 to 128 lower-case hexadecimal digits."""
    return 32 <= len(text) <= 128 and _HEX.issuperset(text)


def owner_proof(token: str | bytes, challenge: str, host: str, port: int) -> str:
    """Return what only a holder of the token can answer to a challenge.

    The address is part of it: a program on another port cannot pass on the answer of the owner as its own."""
    said = f"{challenge}.{host}.{port}".encode("ascii")
    return blake2b(said, key=check_token(token), digest_size=32, person=b"hindbrain-owner").hexdigest()
