"""Confirmation: where a passphrase is set, a person's acts need it, whatever surface they come by."""

import threading
import time
from collections.abc import Callable, Mapping
from typing import Any

from hindbrain.domain.caller import Caller, Channel
from hindbrain.domain.errors import InvalidParams
from hindbrain.domain.person_errors import PassphraseLocked, PassphraseNeeded, PassphraseWrong
from hindbrain.policy.confirmation import CONFIRMED_S, LONGEST, MOST_WRONG, SCRYPT, SHORTEST, WRONG_MS, is_look
from hindbrain.stores.home import Home
from hindbrain.stores.passphrase_file import PassphraseFile

__all__ = ["Confirmation"]

_MOST_VISITS = 100


class Confirmation:
    """The passphrase of one home, and the pages of the Hall that gave it a moment ago."""

    def __init__(self, home: Home, clock: Callable[[], int]) -> None:
        self._home = home
        self._file = PassphraseFile(home.path)
        self._clock = clock
        self._confirmed: dict[str, float] = {}
        self._lock = threading.Lock()

    def check(self, caller: Caller, operation: str, arguments: Mapping[str, Any]) -> None:
        """Refuse an act on the human channel without the passphrase, where one is set."""
        if caller.channel is not Channel.HUMAN or not self._file.is_set() or is_look(operation, arguments):
            return
        if self._recently(caller.visit):
            return
        if caller.passphrase is None:
            raise PassphraseNeeded(
                f"{operation} as a person needs the passphrase of this home",
                fix="give it at a terminal or in the Hall; a program sends it as Hindbrain-Passphrase",
            )
        self.verify(caller.passphrase)
        self._remember(caller.visit)

    def verify(self, passphrase: str) -> None:
        """Refuse a wrong passphrase, and any while there were too many wrong ones."""
        with self._file.one_at_a_time():
            now = self._clock()
            tries = [one for one in self._file.wrong_tries() if now - WRONG_MS < one <= now]
            if len(tries) >= MOST_WRONG:
                left = (tries[0] + WRONG_MS - now) // 60_000 + 1
                raise PassphraseLocked(
                    f"the passphrase was wrong {MOST_WRONG} times", fix=f"try again in {left} min", retry_after_min=left
                )
            if self._file.matches(passphrase):
                if tries:
                    self._file.keep_tries([])
                return
            self._file.keep_tries([*tries, now])
            raise PassphraseWrong("the passphrase is wrong", fix="try again", tries_left=MOST_WRONG - len(tries) - 1)

    # -- set and removed by a person at a terminal ---------------------------------------------------------------------

    def is_set(self) -> bool:
        """Return True if human acts need a passphrase."""
        return self._file.is_set()

    def change(self, passphrase: str) -> None:
        """Set the passphrase. The caller of this method has verified the one before."""
        if not SHORTEST <= len(passphrase) <= LONGEST or not passphrase.isprintable() or passphrase != passphrase.strip():
            raise InvalidParams(
                f"a passphrase has {SHORTEST} to {LONGEST} printable characters, and no space at its ends",
                fix="choose another one",
            )
        self._home.ensure()
        self._file.store(passphrase, SCRYPT)

    def remove(self) -> None:
        """Remove the passphrase. The caller of this method has verified it."""
        self._file.remove()

    def _recently(self, visit: str | None) -> bool:
        with self._lock:
            return visit is not None and time.monotonic() < self._confirmed.get(visit, 0.0)

    def _remember(self, visit: str | None) -> None:
        if visit is None:
            return
        with self._lock:
            while len(self._confirmed) >= _MOST_VISITS:
                self._confirmed.pop(next(iter(self._confirmed)))
            self._confirmed[visit] = time.monotonic() + CONFIRMED_S
