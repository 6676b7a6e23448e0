"""One request to an endpoint over HTTP: its limits, its second tries, and every way in which it breaks, as ProviderFailed.

No redirect is followed, so that a key goes to the host it was given for and to no other."""

import json
import socket
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from email.utils import parsedate_to_datetime
from typing import Any, NoReturn, TypeVar

import httpx2

from hindbrain.providers.port import LIMITS, PACE, Key, Limits, Pace, ProviderFailed

__all__ = ["Answer", "Endpoint", "Turned"]

T = TypeVar("T")
_BUSY = frozenset({429, 529})
_SAID_BYTES = 65_536  # of the text in which an endpoint says what it does not like
_SAID_SHOWN = 200


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """An answer that began well: what kind of text it is, and its bytes as they come."""

    content_type: str
    chunks: Iterator[bytes]

    def whole(self) -> bytes:
        return b"".join(self.chunks)


class Turned(ProviderFailed):
    """The endpoint refused the request itself, and said why; who asked may ask for less."""

    def __init__(self, status: int, said: str) -> None:
        super().__init__("refused", f"the endpoint answered {status}{f': {said[:_SAID_SHOWN]}' if said else ''}")
        self.status = status
        self.said = said


class _Again(Exception):
    """An answer after which it is worth trying again."""

    def __init__(self, failure: ProviderFailed, *, attempts: int, after_s: float | None) -> None:
        super().__init__(failure.reason)
        self.failure, self.attempts, self.after_s = failure, attempts, after_s


class _Watch:
    """Ends a connection when its time is over, however slowly the other side goes on sending."""

    def __init__(self) -> None:
        self._socket: socket.socket | None = None
        self._timer: threading.Timer | None = None
        self.fired = False

    def trace(self, event: str, info: Mapping[str, Any]) -> None:
        """Told by the client what happens on the wire: this is how the connection is known before it answers."""
        if event in ("connection.connect_tcp.complete", "connection.start_tls.complete"):
            self._socket = info["return_value"].get_extra_info("socket")
            if self.fired:
                self._end()

    def until(self, seconds: float) -> None:
        self.cancel()
        self._timer = threading.Timer(max(seconds, 0.0), self._end)
        self._timer.daemon = True
        self._timer.start()

    def cancel(self) -> None:
        if self._timer is not None:
            self._timer.cancel()

    def _end(self) -> None:
        self.fired = True
        if self._socket is not None:
            try:
                self._socket.shutdown(socket.SHUT_RDWR)
            except OSError:
                return  # it is closed already, which is what was wanted


class Endpoint:
    """A base address and the headers that go with it."""

    def __init__(
        self,
        base_url: str,
        *,
        headers: Mapping[str, str],
        key: Key | None = None,
        key_header: Callable[[str], tuple[str, str]],
        limits: Limits = LIMITS,
        pace: Pace = PACE,
    ) -> None:
        self.base_url = base_url.rstrip("/")
        self._headers = dict(headers)
        self._key, self._key_header = key, key_header
        self._limits, self._pace = limits, pace

    def post(self, path: str, body: Mapping[str, Any], *, timeout_s: float, read: Callable[[Answer], T]) -> T:
        """Send, and give what `read` makes of the answer. Waits and tries again where that helps, all within the time."""
        content = json.dumps(body, ensure_ascii=False).encode("utf-8", "replace")
        return self._tried("POST", path, content, timeout_s=timeout_s, read=read)

    def reachable(self, path: str) -> str | None:
        """Whether the endpoint answers and takes the key; None or why not."""
        try:
            self._once("GET", path, None, time.monotonic() + self._limits.connect_s, Answer.whole)
        except Turned as turned:
            return turned.reason if turned.status in (401, 403) else None
        except _Again as again:
            return again.failure.reason
        except ProviderFailed as failed:
            return failed.reason
        return None

    def _tried(self, method: str, path: str, content: bytes | None, *, timeout_s: float, read: Callable[[Answer], T]) -> T:
        deadline = time.monotonic() + min(timeout_s, self._limits.total_s)
        attempt = 0
        while True:
            try:
                return self._once(method, path, content, deadline, read)
            except _Again as again:
                wait = again.after_s if again.after_s is not None else self._pace.backoff(attempt)
                attempt += 1
                if attempt >= again.attempts or time.monotonic() + wait >= deadline:
                    raise again.failure from None
                self._pace.wait(wait)

    def _once(self, method: str, path: str, content: bytes | None, deadline: float, read: Callable[[Answer], T]) -> T:
        left = deadline - time.monotonic()
        if left <= 0:
            raise ProviderFailed("timeout", "there is no time left")
        limits, watch = self._limits, _Watch()
        first = min(limits.first_byte_s, left)
        timeout = httpx2.Timeout(connect=min(limits.connect_s, left), read=first, write=first, pool=first)
        try:
            # An environment's proxy is used where the wire is sealed from here to the endpoint.
            with httpx2.Client(timeout=timeout, follow_redirects=False, trust_env=self.base_url.startswith("https:")) as client:
                watch.until(min(limits.connect_s + limits.first_byte_s, left))
                with client.stream(
                    method, self.base_url + path, content=content, headers=self._sent(), extensions={"trace": watch.trace}
                ) as response:
                    watch.until(deadline - time.monotonic())
                    return self._answered(response, read)
        except httpx2.TimeoutException as late:
            raise ProviderFailed("timeout", self._late(late)) from None
        except (httpx2.HTTPError, httpx2.StreamError, httpx2.InvalidURL, OSError) as broken:
            if watch.fired:
                raise ProviderFailed("timeout", "the answer did not come within its time") from None
            unreached = isinstance(broken, httpx2.ConnectError | httpx2.UnsupportedProtocol | httpx2.InvalidURL)
            said = self._clean(f"{type(broken).__name__}: {broken}")[:_SAID_SHOWN]
            raise ProviderFailed("unreachable" if unreached else "broken", said) from None
        except ProviderFailed:
            if watch.fired:
                raise ProviderFailed("timeout", "the answer did not come within its time") from None
            raise
        finally:
            watch.cancel()

    def _sent(self) -> dict[str, str]:
        headers = {"content-type": "application/json", "accept-encoding": "identity", **self._headers}
        if self._key is not None:
            name, value = self._key_header(self._key.reveal())
            headers[name] = value
        return headers

    def _answered(self, response: httpx2.Response, read: Callable[[Answer], T]) -> T:
        status = response.status_code
        if 300 <= status < 400:
            raise ProviderFailed("redirected", f"the endpoint answered {status} and points elsewhere; it is not followed")
        if status >= 400:
            self._refused(response)
        if status != 200:
            raise ProviderFailed("broken", f"the endpoint answered {status}")
        if response.headers.get("content-encoding", "identity").lower() != "identity":
            raise ProviderFailed("broken", "the endpoint packed its answer though it was asked not to")
        kind = response.headers.get("content-type", "").partition(";")[0].strip().lower()
        return read(Answer(content_type=kind, chunks=self._limited(response)))

    def _limited(self, response: httpx2.Response) -> Iterator[bytes]:
        size = 0
        for chunk in response.iter_raw():
            size += len(chunk)
            if size > self._limits.max_bytes:
                raise ProviderFailed("too_large", f"the answer has more than {self._limits.max_bytes} bytes")
            yield chunk

    def _refused(self, response: httpx2.Response) -> NoReturn:
        status = response.status_code
        if status in _BUSY:
            after = _retry_after(response.headers)
            asks = "" if after is None else f" and asks to wait {after:.0f} s"
            failure = ProviderFailed("rate_limited", f"the endpoint answered {status}: it is busy{asks}")
            raise _Again(failure, attempts=self._pace.rate_limited, after_s=after)
        if status >= 500:
            failure = ProviderFailed("server", f"the endpoint answered {status}")
            raise _Again(failure, attempts=self._pace.broken, after_s=None)
        # What is said of a key may hold a piece of it.
        raise Turned(status, "the key was not taken" if status in (401, 403) else self._clean(_said(response)))

    def _clean(self, text: str) -> str:
        return self._key.out_of(text) if self._key is not None else text

    @staticmethod
    def _late(late: httpx2.TimeoutException) -> str:
        if isinstance(late, httpx2.ConnectTimeout):
            return "no connection within its time"
        return "nothing came within its time"


def _retry_after(headers: httpx2.Headers) -> float | None:
    given = headers.get("retry-after", "").strip()
    try:
        return max(float(given), 0.0) if given and float(given) < float("inf") else None
    except ValueError:
        pass
    try:
        return max(parsedate_to_datetime(given).timestamp() - time.time(), 0.0)
    except (ValueError, TypeError, OverflowError):
        return None


def _said(response: httpx2.Response) -> str:
    """The message in an error, whichever of the usual places it is in."""
    got = b""
    for chunk in response.iter_raw():
        got += chunk
        if len(got) > _SAID_BYTES:
            break
    text = got[:_SAID_BYTES].decode("utf-8", "replace")
    try:
        found = json.loads(text)
    except (ValueError, RecursionError):
        return " ".join(text.split())
    error = found.get("error") if isinstance(found, dict) else None
    said = error.get("message") if isinstance(error, dict) else error if isinstance(error, str) else None
    return " ".join((said if isinstance(said, str) else text).split())
