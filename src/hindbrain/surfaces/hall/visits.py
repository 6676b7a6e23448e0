"""Visits: how a browser gets to be a person's. A ticket once by address, then a cookie for the files and a key for the calls."""

import hashlib
import hmac
import secrets
import threading
import time
from collections.abc import Callable

__all__ = ["KEY_MS", "Visits"]

TICKET_S = 300  # long enough to copy the address from a terminal without a screen into a browser elsewhere
KEY_MS = 12 * 3600 * 1000  # a working day; a page that stays open has it renewed
_TICKETS = 64  # waiting at once; the oldest goes first
_COOKIES = 20  # of our name that are looked at

# A cookie goes to every port of the machine, a key only where the page sends it. So the cookie opens nothing but the files of
# the page, which anybody may read in the package, and the key is what carries a person's rights.
_FILES, _CALLS, _NAME = "files", "calls", "name"


class Visits:
    """Tickets, cookies and keys of one home. Signed with its human token: they outlive an owner and end with it."""

    def __init__(self, human_token: str, *, now_ms: Callable[[], int] | None = None) -> None:
        self._secret = human_token.encode("ascii")
        # Cookies know no ports: two homes on one machine must not overwrite each other's. The next owner may have another port.
        self.cookie_name = f"hindbrain-{self._mac(_NAME, '')[:12]}"
        self._now_ms = now_ms or (lambda: time.time_ns() // 1_000_000)
        self._tickets: dict[str, float] = {}
        self._lock = threading.Lock()

    def ticket(self) -> str:
        """A word that opens one visit, soon and once."""
        made = secrets.token_urlsafe(24)
        with self._lock:
            while len(self._tickets) >= _TICKETS:
                self._tickets.pop(next(iter(self._tickets)))
            self._tickets[made] = time.monotonic() + TICKET_S
        return made

    def take(self, ticket: str) -> bool:
        """Whether the ticket opens a visit; from now on it does not any more."""
        with self._lock:
            until = self._tickets.pop(ticket, None)
        return until is not None and time.monotonic() < until

    def key(self) -> str:
        """What the page sends with each call."""
        return self._signed(_CALLS)

    def is_key(self, word: bytes) -> bool:
        return self._holds(word, _CALLS)

    def cookie(self, *, secure: bool) -> str:
        """The header that lets a browser load the files of the page; `secure` when it came by TLS."""
        told = f"{self.cookie_name}={self._signed(_FILES)}; Path=/; Max-Age={KEY_MS // 1000}; HttpOnly; SameSite=Lax"
        return f"{told}; Secure" if secure else told

    def may_load(self, cookies: bytes) -> bool:
        """Whether a request that brings these cookies may have the files of the page."""
        # Pages on other ports set cookies for the same host: neither theirs nor one of our name may hide ours.
        given = (one.strip().partition(b"=") for one in cookies.split(b";"))
        ours = [value for name, _, value in given if name == self.cookie_name.encode("ascii")]
        return any(self._holds(value, _FILES) for value in ours[:_COOKIES])

    def _signed(self, purpose: str) -> str:
        body = f"{self._now_ms() + KEY_MS}.{secrets.token_hex(8)}"
        return f"hall.{body}.{self._mac(purpose, body)}"

    def _holds(self, word: bytes, purpose: str) -> bool:
        parts = word.split(b".")
        if len(word) > 200 or len(parts) != 4 or parts[0] != b"hall" or not parts[1].isdigit():
            return False
        body = b".".join(parts[1:3]).decode("latin-1")
        genuine = hmac.compare_digest(self._mac(purpose, body).encode("ascii"), parts[3])
        left_ms = int(parts[1]) - self._now_ms()
        return genuine and 0 < left_ms <= KEY_MS + 60_000  # one from a clock that was far ahead would last for years

    def _mac(self, purpose: str, body: str) -> str:
        return hmac.new(self._secret, f"{purpose}.{body}".encode("latin-1"), hashlib.sha256).hexdigest()
