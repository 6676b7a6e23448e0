"""Where spans go: a file of the operator, or an endpoint that the operator gave. Nobody waits for either, and neither fails a
call: what cannot be delivered is counted and said once."""

import errno
import logging
import os
import queue
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any, Protocol

import msgspec

from hindbrain.providers.http import Answer, Endpoint
from hindbrain.providers.port import ProviderFailed

__all__ = ["EndpointSink", "FileSink", "Sink"]

LOG = logging.getLogger("hindbrain.telemetry")

Shape = Callable[[list[dict[str, Any]]], dict[str, Any]]  # spans as one request

_WAITING = 4096  # spans that may wait for an endpoint
_BATCH = 512
_SEND_S = 10.0
_CLOSE_S = 3.0


class Sink(Protocol):
    """Takes spans."""

    def send(self, spans: list[dict[str, Any]]) -> None: ...

    def close(self) -> None: ...


class FileSink:
    """One request per line, as the file exporter of the specification writes them."""

    def __init__(self, path: Path, shape: Shape) -> None:
        self._path, self._shape = path, shape
        self._lock = threading.Lock()
        self.lost = 0

    def send(self, spans: list[dict[str, Any]]) -> None:
        line = msgspec.json.encode(self._shape(spans)) + b"\n"
        try:
            with self._lock:
                handle = os.open(self._path, os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC, 0o600)
                try:
                    before = os.fstat(handle).st_size
                    if os.write(handle, line) < len(line):
                        os.ftruncate(handle, before)  # a full disk took a part: no torn line stays
                        raise OSError(errno.ENOSPC, "the disk took only a part of the spans")
                finally:
                    os.close(handle)
        except OSError as failed:
            if not self.lost:
                LOG.warning("spans cannot be written to %s: %s", self._path, failed)
            self.lost += len(spans)

    def close(self) -> None:
        """Nothing waits."""


class EndpointSink:
    """Sends batches from a thread of its own, to `/v1/traces` of the address unless it names a path."""

    def __init__(self, url: str, shape: Shape) -> None:
        self._endpoint = Endpoint(
            url, headers={"content-type": "application/json"}, key=None, key_header=lambda key: ("authorization", key)
        )
        self._shape = shape
        self._waiting: queue.Queue[dict[str, Any] | None] = queue.Queue(_WAITING)
        self._guard = threading.Lock()
        self._thread: threading.Thread | None = None
        self.lost = 0

    def send(self, spans: list[dict[str, Any]]) -> None:
        with self._guard:
            if self._thread is None:
                self._thread = threading.Thread(target=self._deliver, name="telemetry", daemon=True)
                self._thread.start()
        for span in spans:
            try:
                self._waiting.put_nowait(span)
            except queue.Full:
                self._missed(1, "the endpoint is slower than the spans come")

    def close(self) -> None:
        """Deliver what waits, within a few seconds."""
        with self._guard:
            thread, self._thread = self._thread, None
        if thread is None:
            return
        try:
            self._waiting.put(None, timeout=_CLOSE_S)
        except queue.Full:
            return  # it is stuck; the thread ends with the process
        thread.join(_CLOSE_S)

    def _deliver(self) -> None:
        ending = False
        while not ending:
            batch = [self._waiting.get()]
            while len(batch) < _BATCH and batch[-1] is not None:
                try:
                    batch.append(self._waiting.get_nowait())
                except queue.Empty:
                    break
            ending = batch[-1] is None
            spans = [one for one in batch if one is not None]
            if spans:
                self._post(spans)

    def _post(self, spans: list[dict[str, Any]]) -> None:
        try:
            self._endpoint.post("", self._shape(spans), timeout_s=_SEND_S, read=Answer.whole)
        except ProviderFailed as failed:
            self._missed(len(spans), failed.reason)

    def _missed(self, count: int, why: str) -> None:
        if not self.lost:
            LOG.warning("spans cannot be delivered to %s: %s", self._endpoint.base_url, why)
        self.lost += count
