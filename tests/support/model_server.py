"""A server that speaks both wire formats of models, well and badly. Real HTTP on a real socket; what it is asked is kept."""

import json
import threading
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

__all__ = ["Asked", "ModelServer", "anthropic", "hang", "openai", "raw", "serving", "status"]

Answer = Callable[["Handler", dict[str, Any]], None]


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """One request as it came."""

    path: str
    headers: dict[str, str]
    body: dict[str, Any]


@dataclass(slots=True)
class ModelServer:
    """What is answered next, in order; when all is given, the last answer again."""

    url: str = ""
    answers: deque[Answer] = field(default_factory=deque)
    asked: list[Asked] = field(default_factory=list)
    ended: threading.Event = field(default_factory=threading.Event)

    def give(self, *answers: Answer) -> None:
        self.answers.extend(answers)


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: "_Server"

    def do_POST(self) -> None:
        size = int(self.headers.get("content-length") or 0)
        body = json.loads(self.rfile.read(size) or b"{}")
        self._go(body)

    def do_GET(self) -> None:
        self._go({})

    def _go(self, body: dict[str, Any]) -> None:
        kept = self.server.model
        kept.asked.append(Asked(path=self.path, headers={k.lower(): v for k, v in self.headers.items()}, body=body))
        answer = kept.answers.popleft() if len(kept.answers) > 1 else kept.answers[0]
        try:
            answer(self, body)
        except (BrokenPipeError, ConnectionResetError):
            self.close_connection = True

    def send(self, code: int, content: bytes, kind: str = "application/json", **headers: str) -> None:
        self.send_response(code)
        self.send_header("content-type", kind)
        self.send_header("content-length", str(len(content)))
        for name, value in headers.items():
            self.send_header(name.replace("_", "-"), value)
        self.end_headers()
        self.wfile.write(content)

    def begin_stream(self) -> None:
        self.send_response(200)
        self.send_header("content-type", "text/event-stream")
        self.send_header("connection", "close")
        self.end_headers()
        self.close_connection = True

    def event(self, data: object, name: str | None = None) -> None:
        text = data if isinstance(data, str) else json.dumps(data)
        self.wfile.write((f"event: {name}\n" if name else "").encode() + f"data: {text}\n\n".encode())
        self.wfile.flush()

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002 - the name is the library's
        """Say nothing."""


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    model: ModelServer

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A client that leaves early is what some tests are about."""


def openai(
    text: str, *, usage: tuple[int, int] | None = (11, 7), finish: str = "stop", end: bool = True, refusal: str | None = None
) -> Answer:
    """Chat completions: a stream where one is asked for, in three pieces."""

    def answer(handler: Handler, body: dict[str, Any]) -> None:
        told = {"prompt_tokens": usage[0], "completion_tokens": usage[1]} if usage else None
        if not body.get("stream"):
            message = {"role": "assistant", "content": text, "refusal": refusal}
            value = {"choices": [{"message": message, "finish_reason": finish}], "usage": told}
            handler.send(200, json.dumps(value).encode())
            return
        handler.begin_stream()
        third = -(-len(text) // 3) or 1
        for at in range(0, len(text), third):
            handler.event({"choices": [{"delta": {"content": text[at : at + third]}, "finish_reason": None}]})
        if end:
            handler.event({"choices": [{"delta": {"refusal": refusal}, "finish_reason": finish}]})
            if told and body.get("stream_options", {}).get("include_usage"):
                handler.event({"choices": [], "usage": told})
            handler.event("[DONE]")

    return answer


def anthropic(
    text: str, *, usage: tuple[int, int] = (13, 5), stop: str = "end_turn", end: bool = True, error: bool = False
) -> Answer:
    """Messages: a stream where one is asked for."""

    def answer(handler: Handler, body: dict[str, Any]) -> None:
        if not body.get("stream"):
            told = {"input_tokens": usage[0], "output_tokens": usage[1]}
            value = {"content": [{"type": "text", "text": text}], "stop_reason": stop, "usage": told}
            handler.send(200, json.dumps(value).encode())
            return
        handler.begin_stream()
        begun = {"type": "message_start", "message": {"usage": {"input_tokens": usage[0], "output_tokens": 1}}}
        handler.event(begun, "message_start")
        handler.event({"type": "ping"}, "ping")
        half = len(text) // 2
        for piece in (text[:half], text[half:]):
            handler.event({"type": "content_block_delta", "delta": {"type": "text_delta", "text": piece}}, "content_block_delta")
        if error:
            handler.event({"type": "error", "error": {"type": "overloaded_error", "message": "busy"}}, "error")
        if end:
            last = {"type": "message_delta", "delta": {"stop_reason": stop}, "usage": {"output_tokens": usage[1]}}
            handler.event(last, "message_delta")
            handler.event({"type": "message_stop"}, "message_stop")

    return answer


def status(code: int, said: object = None, **headers: str) -> Answer:
    """An error, or anything else that is no answer."""
    content = b"" if said is None else said.encode() if isinstance(said, str) else json.dumps(said).encode()
    return lambda handler, body: handler.send(code, content, **headers)


def raw(content: bytes, kind: str = "application/json", **headers: str) -> Answer:
    """Any bytes, as if they were an answer."""
    return lambda handler, body: handler.send(200, content, kind, **headers)


def hang(*, after: bytes = b"", forever: bytes = b"") -> Answer:
    """Say nothing, or only a beginning; or go on saying the same, until the test is over."""

    def answer(handler: Handler, body: dict[str, Any]) -> None:
        if after or forever:
            handler.begin_stream()
            handler.wfile.write(after)
            handler.wfile.flush()
        ended = handler.server.model.ended
        while not ended.wait(0.005 if forever else 5):
            handler.wfile.write(forever)
            handler.wfile.flush()
        handler.close_connection = True

    return answer


@contextmanager
def serving(*answers: Answer) -> Iterator[ModelServer]:
    """A server on a free port of this machine."""
    server = _Server(("127.0.0.1", 0), Handler)
    server.model = ModelServer(url=f"http://127.0.0.1:{server.server_address[1]}")
    server.model.give(*answers)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True)
    thread.start()
    try:
        yield server.model
    finally:
        server.model.ended.set()
        server.shutdown()
        server.server_close()
        thread.join()
