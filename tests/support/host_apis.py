"""The APIs of three makers of models, as their agent hosts ask them: every question gets the same short answer. Real HTTP."""

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

__all__ = ["HostApis", "serving_host_apis"]


@dataclass(slots=True)
class HostApis:
    """One server for all of them, and what it was asked."""

    url: str = ""
    answer: str = "I sort the timetable by departure in src/ferry.py."
    tokens: int = 100  # that an answer says its question had
    asked: list[tuple[str, str]] = field(default_factory=list)  # path and body


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: "_Server"

    def do_GET(self) -> None:
        self._json({"data": [], "models": []})

    def do_HEAD(self) -> None:
        self._json({})

    def do_POST(self) -> None:
        raw = self._body()
        apis = self.server.apis
        apis.asked.append((self.path, raw.decode("utf-8", "replace")))
        path = self.path.partition("?")[0]
        if path.endswith("/messages"):
            self._anthropic(json.loads(raw))
        elif path.endswith("/responses"):
            self._openai()
        elif "streamGenerateContent" in path:
            self._events((None, self._gemini()))
        elif "generateContent" in path:
            self._json(self._gemini())
        elif "count" in path:
            self._json({"input_tokens": apis.tokens, "totalTokens": apis.tokens})
        else:
            self._json({})

    def _body(self) -> bytes:
        if self.headers.get("transfer-encoding", "").lower() != "chunked":
            return self.rfile.read(int(self.headers.get("content-length") or 0))
        parts = []
        while size := int(self.rfile.readline().partition(b";")[0], 16):
            parts.append(self.rfile.read(size))
            self.rfile.readline()
        self.rfile.readline()
        return b"".join(parts)

    def _anthropic(self, asked: dict[str, Any]) -> None:
        apis = self.server.apis
        used = {"input_tokens": apis.tokens, "output_tokens": 9, "cache_read_input_tokens": 0, "cache_creation_input_tokens": 0}
        message = {
            "id": f"msg_{len(apis.asked)}",
            "type": "message",
            "role": "assistant",
            "model": asked.get("model", "m"),
            "stop_sequence": None,
        }
        text = {"type": "text", "text": apis.answer}
        if not asked.get("stream"):
            self._json({**message, "content": [text], "stop_reason": "end_turn", "usage": used})
            return
        begun = {**message, "content": [], "stop_reason": None, "usage": used}
        delta = {"type": "text_delta", "text": apis.answer}
        ended = {"stop_reason": "end_turn", "stop_sequence": None}
        self._events(
            ("message_start", {"type": "message_start", "message": begun}),
            ("content_block_start", {"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": ""}}),
            ("content_block_delta", {"type": "content_block_delta", "index": 0, "delta": delta}),
            ("content_block_stop", {"type": "content_block_stop", "index": 0}),
            ("message_delta", {"type": "message_delta", "delta": ended, "usage": {"output_tokens": 9}}),
            ("message_stop", {"type": "message_stop"}),
        )

    def _openai(self) -> None:
        apis = self.server.apis
        part = {"type": "output_text", "text": apis.answer, "annotations": []}
        item = {"type": "message", "id": f"m_{len(apis.asked)}", "role": "assistant", "status": "completed", "content": [part]}
        used = {"input_tokens": apis.tokens, "output_tokens": 9, "total_tokens": apis.tokens + 9}
        used_in_detail = {"input_tokens_details": {"cached_tokens": 0}, "output_tokens_details": {"reasoning_tokens": 0}}
        done = {"id": "r_1", "object": "response", "status": "completed", "output": [item], "usage": {**used, **used_in_detail}}
        self._events(
            ("response.created", {"type": "response.created", "response": {"id": "r_1"}}),
            ("response.output_item.done", {"type": "response.output_item.done", "output_index": 0, "item": item}),
            ("response.completed", {"type": "response.completed", "response": done}),
        )

    def _gemini(self) -> dict[str, Any]:
        apis = self.server.apis
        said = {"content": {"role": "model", "parts": [{"text": apis.answer}]}, "finishReason": "STOP", "index": 0}
        used = {"promptTokenCount": apis.tokens, "candidatesTokenCount": 9, "totalTokenCount": apis.tokens + 9}
        return {"candidates": [said], "usageMetadata": used, "modelVersion": "gemini"}

    def _events(self, *events: tuple[str | None, dict[str, Any]]) -> None:
        told = "".join((f"event: {name}\n" if name else "") + f"data: {json.dumps(data)}\n\n" for name, data in events)
        self._send(told.encode(), "text/event-stream")

    def _json(self, value: dict[str, Any]) -> None:
        self._send(json.dumps(value).encode(), "application/json")

    def _send(self, content: bytes, kind: str) -> None:
        self.send_response(200)
        self.send_header("content-type", kind)
        self.send_header("content-length", str(len(content)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(content)

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002 - the name is the library's
        """Say nothing."""


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    apis: HostApis

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A host that ends closes its connections."""


@contextmanager
def serving_host_apis() -> Iterator[HostApis]:
    """The server on a free port of this machine."""
    server = _Server(("127.0.0.1", 0), _Handler)
    server.apis = HostApis(url=f"http://127.0.0.1:{server.server_address[1]}")
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True)
    thread.start()
    try:
        yield server.apis
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
