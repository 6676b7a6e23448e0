"""Owners for tests: real processes on temporary homes, and a client that can also send what no client should."""

import hashlib
import http.client
import json
import os
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from tests.support import forking

__all__ = ["Answer", "RunningOwner", "Starter", "errors_of", "owner", "spawn", "start_owner", "starter", "stores_digest"]

LIMIT_S = 60.0  # for one wait of one test on a busy machine; a hanging process fails the test instead of the run
REPOSITORY = Path(__file__).resolve().parents[2]


@dataclass(frozen=True, kw_only=True)
class Answer:
    """One HTTP answer."""

    status: int
    headers: Mapping[str, str]
    body: bytes

    @property
    def json(self) -> Any:
        return json.loads(self.body)

    @property
    def code(self) -> str | None:
        error = self.json.get("error")
        code: str | None = error["code"] if error is not None else None
        return code


@dataclass(kw_only=True)
class RunningOwner:
    """One owner process, how to reach it and how to end it."""

    home: Path
    process: "forking.Process | subprocess.Popen[bytes]"
    facts: dict[str, Any] = field(default_factory=dict)

    @property
    def port(self) -> int:
        return int(self.facts["port"])

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    @property
    def token(self) -> str:
        return (self.home / "token").read_text().strip()

    @property
    def human_token(self) -> str:
        return (self.home / "human-token").read_text().strip()

    def request(
        self,
        method: str,
        path: str,
        *,
        body: bytes | None = None,
        headers: Mapping[str, str] | None = None,
        token: str | None = "",
    ) -> Answer:
        """One request. The home's token is sent unless another one, or None, is given; headers are sent as they are."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=LIMIT_S)
        told = dict(headers or {})
        if token is not None:
            told.setdefault("Authorization", f"Bearer {token or self.token}")
        try:
            connection.putrequest(method, path, skip_host="Host" in told)
            for name, value in told.items():
                connection.putheader(name, value.encode("utf-8", "surrogateescape"))
            if body is not None and "Transfer-Encoding" not in told:
                connection.putheader("Content-Length", str(len(body)))
            connection.endheaders(body)
            found = connection.getresponse()
            return Answer(status=found.status, headers={k.lower(): v for k, v in found.getheaders()}, body=found.read())
        finally:
            connection.close()

    def get(self, path: str, **headers: str) -> Answer:
        return self.request("GET", path, headers=_named(headers))

    def post(self, operation: str, arguments: Mapping[str, Any] | bytes, *, token: str | None = "", **headers: str) -> Answer:
        """One operation, as any HTTP client would call it. Header names are given with underscores."""
        body = arguments if isinstance(arguments, bytes) else json.dumps(arguments).encode()
        told = {"Content-Type": "application/json", **_named(headers)}
        return self.request("POST", f"/api/op/{operation}", body=body, headers=told, token=token)

    def call(
        self, operation: str, *, root: Path | str | None = None, session: str | None = None, **arguments: Any
    ) -> dict[str, Any]:
        """The answer of one operation. A caller who gives a directory its brain stands in it, unless a root is given."""
        if root is None and operation in ("ingest", "init"):
            root = arguments.get("project_root") or arguments.get("path")
        headers = {} if root is None else {"hindbrain_caller_root": str(root)}
        if session is not None:
            headers["hindbrain_session"] = session
        answer: dict[str, Any] = self.post(operation, arguments, **headers).json
        return answer

    def stream(
        self, path: str, *, method: str = "GET", body: bytes | None = None, human: bool = False, **headers: str
    ) -> "Stream":
        """Events as an agent hears them, or as a person does."""
        token = self.human_token if human else self.token
        return Stream(self, method, path, body, {"Authorization": f"Bearer {token}", **_named(headers)})

    def wait(self) -> int:
        """The exit code of the process, once it ended."""
        code = self.process.wait(LIMIT_S)
        if self.process.stdout is not None:
            self.process.stdout.close()
        return code

    def kill(self) -> None:
        self.process.kill()
        self.wait()


class Stream:
    """Server-sent events of one request, one at a time."""

    def __init__(self, running: RunningOwner, method: str, path: str, body: bytes | None, headers: Mapping[str, str]) -> None:
        self._connection = http.client.HTTPConnection("127.0.0.1", running.port, timeout=LIMIT_S)
        told = {"Accept": "text/event-stream", **headers}
        self._connection.request(method, path, body=body, headers=told)
        self._response = self._connection.getresponse()
        self.status = self._response.status

    def next(self) -> dict[str, Any] | None:
        """The next event as {event, data, id}, or None at the end of the stream."""
        found: dict[str, Any] = {}
        deadline = time.monotonic() + LIMIT_S
        while line := self._response.readline():
            # The heartbeat keeps the connection alive, so its own time limit never strikes.
            assert time.monotonic() < deadline, "nothing but heartbeats"
            text = line.decode().rstrip("\n")
            if not text and found:
                return found
            name, _, value = text.partition(": ")
            if name in ("event", "data", "id"):
                found[name] = json.loads(value) if name == "data" else value
        return None

    def close(self) -> None:
        self._response.close()
        self._connection.close()

    def __enter__(self) -> "Stream":
        return self

    def __exit__(self, *exc: object) -> None:
        self.close()


def _named(headers: Mapping[str, str]) -> dict[str, str]:
    return {"-".join(part.title() for part in name.split("_")): value for name, value in headers.items()}


def spawn(home: Path, *, environ: Mapping[str, str] | None = None, **options: Any) -> "forking.Process | subprocess.Popen[bytes]":
    """Start an owner process without waiting for anything. What it says on standard error lies beside the home."""
    home.parent.mkdir(parents=True, exist_ok=True)
    # Housekeeping would write counters in the middle of a test that shows that nothing is written.
    told = {"port": 0, "foreground": True, "housekeeping_s": 3600, **options, "home": str(home)}
    kept = {name: value for name, value in os.environ.items() if not name.startswith("HINDBRAIN_")}
    surroundings = {**kept, **(environ or {})}
    with _errors_file(home).open("ab") as errors:
        if forking.alike(environ or {}, []):
            hears, says = os.pipe()
            with os.fdopen(says, "wb") as out, open(os.devnull, "rb") as nothing:
                made = forking.fork(
                    [json.dumps(told)],
                    module="tests.support.owner_main",
                    directory=REPOSITORY,
                    environ=surroundings,
                    streams=[nothing.fileno(), out.fileno(), errors.fileno()],
                )
            return forking.Process(made, stdout=os.fdopen(hears, "rb"))
        return subprocess.Popen(
            [sys.executable, "-m", "tests.support.owner_main", json.dumps(told)],
            cwd=REPOSITORY,
            env=surroundings,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=errors,
        )


def _errors_file(home: Path) -> Path:
    return home.with_name(home.name + ".stderr")


def errors_of(home: Path) -> str:
    return _errors_file(home).read_text(errors="replace")


def start_owner(home: Path, *, environ: Mapping[str, str] | None = None, **options: Any) -> RunningOwner:
    """An owner that accepts connections: the process says so in its first line."""
    process = spawn(home, environ=environ, **options)
    assert process.stdout is not None
    deadline = threading.Timer(LIMIT_S, process.kill)
    deadline.start()
    try:
        line = process.stdout.readline()
    finally:
        deadline.cancel()
    if not line:
        process.stdout.close()
        process.wait(LIMIT_S)
        raise AssertionError(f"the owner did not start: {errors_of(home)[-2000:]}")
    return RunningOwner(home=home, process=process, facts=json.loads((home / "owner.json").read_text()))


Starter = Callable[..., RunningOwner]


@pytest.fixture
def starter() -> Iterator[Starter]:
    """Start owners in a test; whatever still runs at its end is killed."""
    started: list[RunningOwner] = []

    def start(home: Path, **options: Any) -> RunningOwner:
        running = start_owner(home, **options)
        started.append(running)
        return running

    yield start
    for running in started:
        running.kill()


@pytest.fixture(scope="module")
def owner(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningOwner]:
    """One owner on a fresh home, shared by the tests of a module."""
    running = start_owner(tmp_path_factory.mktemp("owner") / "home")
    yield running
    running.kill()


def stores_digest(home: Path) -> str:
    """A digest of every name and byte under brains/ and medulla/, to show that a refusal changed nothing."""
    digest = hashlib.sha256()
    for place in ("brains", "medulla"):
        for path in sorted((home / place).rglob("*")):
            digest.update(str(path.relative_to(home)).encode("utf-8", "surrogateescape"))
            # The shared-memory index of WAL is rebuilt at every open and holds nothing of its own.
            if path.is_file() and not path.name.endswith("-shm"):
                digest.update(path.read_bytes())
    return digest.hexdigest()
