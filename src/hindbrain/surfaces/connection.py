"""One HTTP connection of the owner: a client asks soon and in few words. Half a request holds neither memory nor a place."""

import asyncio
from typing import ClassVar

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

__all__ = ["Connection"]

HEAD_LIMIT = 64 * 1024  # bytes of request line and headers; ours have less than two thousand
HEAD_WAIT_S = 20.0  # a head is one packet; whoever needs longer keeps others from being heard
# Connections without an admitted request. One more ends the oldest: a client sends its request at once. Twice the backlog of the
# socket, so that clients that all come at one moment do not push each other out.
MOST_UNKNOWN = 1024
_TOO_LARGE = b"HTTP/1.1 431 Request Header Fields Too Large\r\nconnection: close\r\ncontent-length: 0\r\n\r\n"


class Connection(HttpToolsProtocol):
    """uvicorn's connection with limits on what comes before the guard: nobody has shown a token yet."""

    head_wait_s = HEAD_WAIT_S
    most_unknown = MOST_UNKNOWN
    _head_bytes = 0
    _deadline: asyncio.TimerHandle | None = None  # set while a head is awaited
    _open: ClassVar["dict[Connection, None]"] = {}  # in the order in which they came

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]  # as in uvicorn
        super().connection_made(transport)
        self._open[self] = None
        self._await_head()
        if len(self._open) > self.most_unknown:
            unknown = [one for one in self._open if not one.admitted]
            for one in unknown[: len(unknown) - self.most_unknown]:
                one.transport.abort()

    def connection_lost(self, exc: Exception | None) -> None:
        self._head_is_here()
        self._open.pop(self, None)
        super().connection_lost(exc)

    @property
    def admitted(self) -> bool:
        """Whether the guard let the last request pass."""
        return self.scope is not None and "channel" in self.scope["state"]

    def data_received(self, data: bytes) -> None:
        awaited = self._deadline
        super().data_received(data)
        if awaited is None or self._deadline is not awaited:
            return  # no head was awaited, or this piece completed it: it may hold the beginning of another
        self._head_bytes += len(data)
        if self._head_bytes > HEAD_LIMIT and not self.transport.is_closing():
            self.transport.write(_TOO_LARGE)
            self.transport.close()

    def on_message_begin(self) -> None:
        super().on_message_begin()
        self._await_head()

    def on_headers_complete(self) -> None:
        self._head_is_here()
        super().on_headers_complete()

    def _await_head(self) -> None:
        self._head_is_here()
        self._deadline = self.loop.call_later(self.head_wait_s, self.transport.close)

    def _head_is_here(self) -> None:
        self._head_bytes = 0
        if self._deadline is not None:
            self._deadline.cancel()
            self._deadline = None
