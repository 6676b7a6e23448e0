"""Visits: how a browser gets to be a person's. A ticket once by address, then a cookie for the files and a secret for the calls.

The secret of a visit goes to the page once and never comes back. The page and the owner derive a key from it for each owner
process; the page signs its calls with that key, and the owner signs its answers. A program that takes the port of a dead owner
hears signatures that no other owner accepts, and cannot sign an answer that the page believes."""

import hashlib
import hmac
import secrets
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Final

from hindbrain.stores.token_file import check_token, is_challenge

__all__ = ["KEY_MS", "PROOF", "SCHEME", "TICKET_S", "Signed", "Visit", "Visits"]

TICKET_S = 300  # long enough to copy the address from a terminal without a screen into a browser elsewhere
KEY_MS = 12 * 3600 * 1000  # a working day; a page that stays open begins a new visit in time
SCHEME: Final = "Hall"  # of the Authorization header: Hall <visit>.<challenge>.<signature>
PROOF: Final = "Hindbrain-Proof"  # the header in which the owner signs its answer
_TICKETS = 64  # waiting at once; the oldest goes first
_COOKIES = 20  # of our name that are looked at
_LONGEST = 400  # characters of what a page sends

# A cookie goes to every port of the machine. So the cookie opens nothing but the files of the page, which anybody may read in the
# package; a person's rights come with the secret alone.
_FILES, _VISIT, _NAME = "files", "visit", "name"


@dataclass(frozen=True, slots=True, kw_only=True)
class Visit:
    """What a page gets when it enters."""

    id: str
    secret: str = field(repr=False)
    instance: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Signed:
    """A request that a page has signed; the answer is signed with the same key."""

    visit: str
    key: str = field(repr=False)
    challenge: str

    def proof(self, status: int) -> str:
        """Return the header value by which the page knows that the owner answered."""
        return _mac(self.key, f"answer.{self.challenge}.{status}")


class Visits:
    """Tickets, cookies and visits of one home at one owner. All are derived from its human token and end with it."""

    def __init__(self, human_token: str, instance: str, *, now_ms: Callable[[], int] | None = None) -> None:
        self._secret = check_token(human_token).decode("ascii")
        self.instance = instance
        # Cookies know no ports: two homes on one machine must not overwrite each other's. The next owner may have another port.
        self.cookie_name = f"hindbrain-{self._derived(_NAME, '')[:12]}"
        self._now_ms = now_ms or (lambda: time.time_ns() // 1_000_000)
        self._tickets: dict[str, float] = {}
        self._lock = threading.Lock()
        self._welcome_until = 0.0

    def ticket(self) -> str:
        """A word that opens one visit, soon and once."""
        made = secrets.token_urlsafe(24)
        with self._lock:
            while len(self._tickets) >= _TICKETS:
                self._tickets.pop(next(iter(self._tickets)))
            self._tickets[made] = time.monotonic() + TICKET_S
        return made

    def waits(self, ticket: str) -> bool:
        """Whether the ticket would open a visit. It still does afterwards."""
        with self._lock:
            until = self._tickets.get(ticket)
        return until is not None and time.monotonic() < until

    def take(self, ticket: str) -> bool:
        """Whether the ticket opens a visit; from now on it does not any more."""
        with self._lock:
            until = self._tickets.pop(ticket, None)
        opens = until is not None and time.monotonic() < until
        if opens:
            self._welcome_until = time.monotonic() + TICKET_S
        return opens

    # -- calls -------------------------------------------------------------------------------------------------------

    def begin(self) -> Visit:
        """A new visit: what the page keeps to itself."""
        made = f"{self._now_ms() + KEY_MS}-{secrets.token_hex(8)}"
        return Visit(id=made, secret=self._derived(_VISIT, made), instance=self.instance)

    def checked(self, authorization: bytes, method: str, target: str) -> Signed | None:
        """The signature of a request, if a page of ours made it for this owner; None otherwise."""
        parts = authorization.decode("latin-1").split(".")
        if len(authorization) > _LONGEST or len(parts) != 3 or not is_challenge(parts[1]):
            return None
        key = self._key(parts[0])
        if key is None:
            return None
        genuine = hmac.compare_digest(_mac(key, f"call.{parts[1]}.{method}.{target}").encode(), parts[2].encode())
        return Signed(visit=parts[0], key=key, challenge=parts[1]) if genuine else None

    def proof(self, visit: str, challenge: str, host: str) -> str | None:
        """What shows a page which owner is here now, before the page calls it; None for a visit that has ended.

        The page's own address is part of it: a program on another port cannot pass on our answer as its own."""
        if not is_challenge(challenge) or not self._lasts(visit):
            return None
        return _mac(self._derived(_VISIT, visit), f"owner.{challenge}.{self.instance}.{host}")

    def _key(self, visit: str) -> str | None:
        return _mac(self._derived(_VISIT, visit), f"calls.{self.instance}") if self._lasts(visit) else None

    def _lasts(self, visit: str) -> bool:
        """Whether a visit of this name may be under way. Only a page with its secret can do anything with that."""
        until, _, rest = visit.partition("-")
        if not visit.isascii() or not until.isdigit() or len(visit) > 60 or not rest.isalnum():
            return False
        # Once a person has opened the Hall again, pages that were left open for too long go on as well.
        return self._holds_until(int(until)) or (int(until) <= self._now_ms() and time.monotonic() < self._welcome_until)

    # -- files -------------------------------------------------------------------------------------------------------

    def cookie(self, *, secure: bool) -> str:
        """The header that lets a browser load the files of the page; `secure` when it came by TLS."""
        body = f"{self._now_ms() + KEY_MS}.{self.instance}"
        value = f"hall.{body}.{self._derived(_FILES, body)}"
        told = f"{self.cookie_name}={value}; Path=/; Max-Age={KEY_MS // 1000}; HttpOnly; SameSite=Lax"
        return f"{told}; Secure" if secure else told

    def may_load(self, cookies: bytes) -> bool:
        """Whether a request that brings these cookies may have the files of the page."""
        return bool(self._entered(cookies))

    def is_clean(self, cookies: bytes) -> bool:
        """Whether the browser with these cookies entered at this very owner: nobody else had the port since."""
        return self.instance in self._entered(cookies)

    def _entered(self, cookies: bytes) -> list[str]:
        """The owners at which a browser entered, by its cookies."""
        # Pages on other ports set cookies for the same host: neither theirs nor one of our name may hide ours.
        given = (one.strip().partition(b"=") for one in cookies.split(b";"))
        ours = [value.decode("latin-1") for name, _, value in given if name == self.cookie_name.encode("ascii")]
        return [parts[2] for parts in (word.split(".") for word in ours[:_COOKIES]) if self._is_cookie(parts)]

    def _is_cookie(self, parts: list[str]) -> bool:
        if len(parts) != 4 or parts[0] != "hall" or not "".join(parts).isascii() or sum(map(len, parts)) > _LONGEST:
            return False
        if not parts[1].isdigit():
            return False
        genuine = hmac.compare_digest(self._derived(_FILES, f"{parts[1]}.{parts[2]}").encode(), parts[3].encode())
        return genuine and self._holds_until(int(parts[1]))

    def _holds_until(self, until: int) -> bool:
        return 0 < until - self._now_ms() <= KEY_MS + 60_000  # one from a clock that was far ahead would last for years

    def _derived(self, purpose: str, body: str) -> str:
        return _mac(self._secret, f"{purpose}.{body}")


def _mac(key: str, text: str) -> str:
    return hmac.new(key.encode("ascii"), text.encode("latin-1"), hashlib.sha256).hexdigest()
