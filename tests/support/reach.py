"""An agent of repository A calls every operation with names of places, brains and ids that are not its own.

usage: python -m tests.support.reach PLACE CALLS SECONDS SEED REPORT

The calls go to a real owner, by a real bridge (`hindbrain mcp`), by MCP over HTTP, by `POST /api/op/…`, by the GET routes and by
`hindbrain hook`. After every batch everything outside of A is compared with what it was, and every answer and event is searched
for sentinels (tests/support/reach_world.py). Each batch has a seed of its own, so one batch can be run again. The report is
rewritten after every batch; a run with the report of an earlier one continues its count."""

import argparse
import http.client
import json
import os
import random
import subprocess
import sys
import threading
import time
import unicodedata
from collections import Counter, defaultdict
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import quote, urlencode

from hindbrain.operations import REGISTRY, describe
from hindbrain.policy.hooks import HOSTS, KINDS
from tests.mcp.hosts import INITIALIZE
from tests.support.confinement import confine
from tests.support.reach_world import Change, ReachWorld

__all__ = ["SHARES", "Attack", "main"]

BATCH = 25
LIMIT_S = 60.0  # for one answer
# Of one hundred calls: by which surface they come.
SHARES = {"stdio": 40, "http": 35, "mcp-http": 12, "get": 7, "resource": 4, "brainless": 1.9, "hook": 0.1}
BRIDGE_BATCHES = 40  # a bridge, and with it its session, lasts so many batches
# Calls that may open something for the session or take something in, and reads that would show it.
_OPENING = (
    *(
        "init",
        "ingest",
        "promote",
        "import",
        "rebind",
        "federate",
        "federate_auto",
        "memory.ingest",
        "memory.import",
        "hosts.event",
    ),
    *(
        "research.ingest",
        "knowledge.publish",
        "mission.start",
        "mission.resume",
        "delegate",
        "session_handshake",
        "memory.restore",
    ),
)
_LOOKS: tuple[tuple[str, dict[str, Any]], ...] = (
    ("north", {"task": "what is the harbour word"}),
    ("north", {"tier": "medulla"}),
    ("seek", {"query": "harbour word"}),
    ("search", {"query": "harbour", "context_lines": 3}),
    ("search", {"query": "^.*harbour.*$", "mode": "regex"}),
    ("memory.search", {"query": "harbour word", "floor": False}),
    ("memory.list", {}),
    ("claims", {}),
    ("knowledge.list", {}),
    ("mission.status", {}),
    ("glob", {"pattern": "**/*"}),
    ("context", {"query": "harbour word", "include_evidence": True}),
)
_LEFT_OUT = {"model.install": "it may fetch a package"}
_SLOW_MS = 20.0  # an operation that takes longer on the average is called less often
_GETS = (
    *("/api/health", "/api/status", "/api/operations", "/api/instances", "/api/instance/self", "/api/overview", "/api/mailbox"),
    *("/api/inbox_sweep", "/api/graph/stats", "/api/graph/snapshot", "/api/graph/subgraph", "/hall/index.html", "/"),
)
_RESOURCES = (
    *("hindbrain://claim/", "hindbrain://mission/", "hindbrain://cowork/inbox/", "hindbrain://brief", "hindbrain://status"),
    *("file://", "hindbrain://"),
)


@dataclass(kw_only=True)
class Call:
    """One call, as it was made."""

    surface: str
    operation: str
    arguments: dict[str, Any]
    more: dict[str, str] = field(default_factory=dict)  # headers or query
    later: bool = False  # it reads what an earlier call of the batch may have opened

    def told(self) -> str:
        return f"{self.surface} {self.operation} {json.dumps(self.arguments, ensure_ascii=True)[:400]} {self.more or ''}"


class Values:
    """Arguments for an attack: names of what is not A's, in every spelling, and what an honest caller would give."""

    def __init__(self, world: ReachWorld, *, confined: bool) -> None:
        self._world = world
        self._confined = confined
        a, b, home, user = world.a, world.b, str(world.home), str(world.user)
        self._places = [
            *(b.root, f"{b.root}/src", f"{b.root}/src/harbour.py", f"{b.root}/README.md", f"{b.root}/.hindbrain"),
            *(f"{b.root}/.hindbrain/brain.json", f"{b.root}/.hindbrain/agent-memory", f"{b.root}/.git", f"{b.root}/.git/config"),
            *(f"{b.root}/.hindbrain/agent-memory/harbour-rule.light.md", world.plain, f"{world.plain}/README.md"),
            *(user, f"{user}/.ssh", f"{user}/.ssh/id_ed25519", f"{user}/.ssh/config", f"{user}/notes", f"{user}/notes/diary.md"),
            *(f"{user}/notes/data.jsonl", f"{user}/backup/harbour.tar.gz", f"{user}/.bashrc", f"{user}/work", f"{user}/.claude"),
            *(home, f"{home}/human-token", f"{home}/token", f"{home}/hook-token", f"{home}/config.toml", f"{home}/brains"),
            *(f"{home}/brains/{b.ids['fingerprint']}", f"{home}/brains/{b.ids['fingerprint']}/brain.db", f"{home}/medulla"),
            *(world.usb.root, str(world.place), str(world.place / "unplugged"), b.ids["transcript"], f"{user}/work/gone"),
            *(f"{a}/link-b", f"{a}/link-b/src/harbour.py", f"{a}/link-home", f"{a}/link-home/.ssh", f"{a}/link-key"),
            *(f"{a}/link-new", f"{a}/link-store", f"{a}/link-store/human-token", f"{a}/link-up", f"{a}/src/link-b.py"),
            *(f"{a}/link-root{user}/.ssh/id_ed25519", f"{a}/link-root{b.root}", f"{a}-not"),
        ]
        self._new = [
            *(f"{user}/.bash_profile", f"{user}/.ssh/authorized_keys", f"{user}/new.json", f"{b.root}/.git/hooks/pre-commit"),
            *(f"{b.root}/new.tar.gz", f"{home}/config.toml", f"{home}/new.json", f"{a}/link-b/new.json", f"{a}/link-new"),
            *(
                f"{a}/link-home/.profile",
                f"{a}/../new.svg",
                f"{a}/link-up/new.md",
                f"{world.plain}/new.json",
                f"{a}/.git/hooks/x",
            ),
            *(f"{world.elsewhere}/new.json", f"{b.root}/.hindbrain/agent-memory/forged.light.md", f"{user}/work/a.new"),
        ]
        self._odd = [
            "",
            ".",
            "..",
            "../..",
            "~",
            "~/",
            "$HOME",
            "${HOME}/.ssh",
            "$HINDBRAIN_HOME",
            "%2e%2e/",
            "/proc/self/environ",
        ]
        self._odd += ["/proc/self/cwd", "/dev/stdin", "/dev/fd/0", "/dev/fd/3", "~nobody", "*", "**/*", "medulla", "all-brains"]
        self._odd += ["/", "~root", "//", "/etc"] if confined else []
        self._ids = [*b.ids.values(), b.slug, b.label, "b-one", "b-two", *world.usb.ids.values(), "claude:bee", "human:founder"]
        self._ids += [Path(b.root).name, f"brain:{b.root}", f"light::{b.slug}", f"file::{b.root}/src/harbour.py"]
        self.queries = ("harbour word", "harbour", "the harbour word is", "PRIVATE KEY", r"^.*harbour.*$", "zq.*", ".", "token")
        self.own = world.own

    def hostile(self, rng: random.Random) -> str:
        """A name of something that is not A's."""
        pick = rng.random()
        if pick < 0.5:
            return self._spelled(rng, rng.choice(self._places))
        if pick < 0.68:
            return self._spelled(rng, rng.choice(self._new)) if rng.random() < 0.3 else self._fresh(rng)
        if pick < 0.85:
            return str(rng.choice(self._ids))
        return str(rng.choice(self._odd))

    def _fresh(self, rng: random.Random) -> str:
        """A new file name: most operations refuse to replace a file."""
        path = rng.choice(self._new)
        stem, ending = os.path.splitext(path)
        return f"{stem}{rng.randrange(10**6)}{ending}" if ending and not stem.endswith("/") else path

    def _spelled(self, rng: random.Random, path: str) -> str:
        a, user = self._world.a, str(self._world.user)
        relative = os.path.relpath(path, a)
        spellings = [
            *(path, path, path, path + "/", path + "/.", "/" + path, relative, f"./{relative}", f"{a}/{relative}"),
            *(f"src/../{relative}", path.upper(), path.swapcase(), unicodedata.normalize("NFD", path), path + ".", path + " "),
            *(f"file://{path}", f"file://localhost{path}", f"file:{path}", quote(path), f"/proc/self/root{path}", path + "\x00"),
            *(f"/proc/self/cwd/{os.path.relpath(path, self._world.elsewhere)}", path + "\n", path.replace("/", "\\")),
            *(f"{path}:1", f"{path}:1-9", f"direct_source:{path}:1", f"path:{path}", path.replace("/", "//"), f" {path}"),
            unicodedata.normalize("NFKC", path).replace("/", "\u2215") if rng.random() < 0.2 else path,
        ]
        if path.startswith(user):
            spellings += ["~" + path.removeprefix(user), "$HOME" + path.removeprefix(user), "${HOME}" + path.removeprefix(user)]
        return rng.choice(spellings)

    def plain(self, rng: random.Random, name: str) -> str:
        """What an honest caller gives for a parameter of this name."""
        a = self._world.a
        for known, values in self.own.items():
            if name == known or (known == "evidence" and "evidence" in name) or (known == "card_id" and name == "card"):
                return rng.choice(values)
        if name in ("query", "task", "task_description", "goal", "about", "find", "text", "what", "message", "content"):
            return rng.choice(self.queries)
        if name in ("claim", "slug", "node", "node_id", "source", "target", "changed_node"):
            return rng.choice(("harbour-rule", "Harbour rule", "src/app.py", "file::src/app.py", f"{a}/src/app.py"))
        if name in ("path", "cwd", "project_root", "repo", "workspace", "scope", "file", "workspace_root"):
            return rng.choice((a, f"{a}/src", "src", "src/app.py", f"{a}/src/app.py", "README.md"))
        if name in ("out", "target_file"):
            return f"{a}/out-{rng.randrange(10**6)}.json"
        if name == "host":
            return rng.choice(HOSTS)
        if name == "event":
            return rng.choice(sorted(KINDS))
        words = {
            "adapter": ("code", "light", "auto"),
            "pattern": ("*", "**/*", "../**/*"),
            "tier": ("medulla", "all-brains", "project"),
        }
        words |= {
            "agent_id": ("a-one", "a-two"),
            "from": ("a-one",),
            "to": ("a-two",),
            "tool": ("claude",),
            "space": ("tool:shell",),
        }
        words |= {"action": ("get", "list", "set"), "key": ("harbour",), "class": ("bug", "idea"), "confirm": ("yes",)}
        words |= {"mode": ("review", "literal", "regex", "merge", "replace"), "event_type": ("file_read", "hypothesis")}
        words |= {"evidence_class": ("direct_source", "runtime"), "format": ("json", "state", "handoff", "proof")}
        return rng.choice(words.get(name, ("harbour", "a text", "1")))


class Generator:
    """Calls from the schemas of the operations."""

    def __init__(self, values: Values) -> None:
        self._values = values
        described = {name: describe(op) for name, op in REGISTRY.items() if name not in _LEFT_OUT}
        self.operations = {name: one for name, one in described.items() if {"mcp", "http"} & set(one["surfaces"])}
        self._spent: dict[str, list[float]] = defaultdict(lambda: [0.0, 0.0])

    def took(self, operation: str, seconds: float) -> None:
        kept = self._spent[operation]
        kept[0] += 1
        kept[1] += seconds

    def _weight(self, name: str) -> float:
        calls, seconds = self._spent[name]
        return min(1.0, _SLOW_MS * calls / max(seconds * 1000, 1e-9)) if calls >= 3 else 1.0

    def call(self, rng: random.Random, surface: str) -> Call:
        values = self._values
        if surface == "get":
            query = {"brain": values.hostile(rng), "node": values.hostile(rng), "limit": "5", "depth": "3", "profile": "full"}
            return Call(
                surface=surface, operation=rng.choice(_GETS), arguments={}, more=dict(rng.sample(sorted(query.items()), 2))
            )
        if surface == "resource":
            tail = rng.choice((quote(values.hostile(rng), safe=""), values.hostile(rng)))
            tail += rng.choice(("", "/state", "/proof", "/handoff"))
            uri = rng.choice(_RESOURCES)
            return Call(surface=surface, operation="resources/read", arguments={"uri": uri + ("" if uri.endswith("f") else tail)})
        if surface == "hook":
            return Call(surface=surface, operation="hosts.event", arguments=self._event(rng, by_host=True))
        way = "http" if surface == "http" else "mcp"
        names = [name for name, one in self.operations.items() if way in one["surfaces"]]
        name = rng.choices(names, [self._weight(name) for name in names])[0]
        arguments = self._event(rng) if name == "hosts.event" else self._arguments(rng, self.operations[name]["schema"])
        more = {}
        if surface in ("http", "mcp-http"):
            if rng.random() < 0.15:
                more["Hindbrain-Agent"] = quote(values.hostile(rng))[:200]
            if rng.random() < 0.1:
                more["Hindbrain-Delegation"] = rng.choice(
                    (self._values._world.b.ids["delegation_id"], quote(values.hostile(rng)))
                )[:200]
            if surface == "http" and rng.random() < 0.1:
                more["?brain"] = values.hostile(rng)
        return Call(surface=surface, operation=name, arguments=arguments, more=more)

    def _event(self, rng: random.Random, *, by_host: bool = False) -> dict[str, Any]:
        """What a host says in a hook: its payload names files."""
        values, world = self._values, self._values._world
        payload: dict[str, Any] = {"session_id": rng.choice(("s1", "s2", "5b1c9f2e-0002"))}
        names = ["transcript_path", "agent_transcript_path", "prompt", "summary", "last_assistant_message"]
        # The hook process believes its host where it runs; what the agent says over HTTP is the agent's.
        names += [] if by_host else ["cwd", "workspace_roots"]
        for name in names:
            if rng.random() < 0.4:
                value = (
                    values.hostile(rng)
                    if rng.random() < 0.8
                    else rng.choice((world.b.ids["transcript"], world.a, "harbour word"))
                )
                payload[name] = [value] if name == "workspace_roots" else value
        if rng.random() < 0.5:
            payload |= {"tool_name": rng.choice(("Read", "Bash", "Edit")), "tool_input": {"file_path": values.hostile(rng)}}
        return {"host": rng.choice(HOSTS), "event": rng.choice(sorted(KINDS)), "payload": payload}

    def _arguments(self, rng: random.Random, schema: dict[str, Any]) -> dict[str, Any]:
        required, given = set(schema.get("required", ())), {}
        strings = [
            name for name, one in schema["properties"].items() if name not in ("agent_id", "caller_root") and _holds_text(one)
        ]
        aimed = set(rng.sample(strings, min(len(strings), rng.choice((1, 1, 1, 2)))))
        for name, one in schema["properties"].items():
            if name in ("agent_id", "caller_root") and name not in required:
                if rng.random() < 0.12:
                    given[name] = self._values.hostile(rng)
            elif name in aimed or name in required or rng.random() < 0.15:
                given[name] = self._value(rng, name, one, hostile=name in aimed)
        given |= {name: 0 for name in ("wait_s", "timeout_s") if name in schema["properties"]}
        given |= {"budget_s": 1} if "budget_s" in schema["properties"] else {}
        if "execute" in schema["properties"] and rng.random() < 0.7:
            given["execute"] = True
        if "federation_intent" in schema["properties"] and rng.random() < 0.5:
            given["federation_intent"] = True
        return given

    def _value(self, rng: random.Random, name: str, schema: dict[str, Any], *, hostile: bool) -> Any:
        if "anyOf" in schema:
            options = [one for one in schema["anyOf"] if one.get("type") != "null"]
            text = [one for one in options if _holds_text(one)]
            return self._value(rng, name, rng.choice(text if hostile and text else options), hostile=hostile)
        if "enum" in schema:
            return rng.choice(schema["enum"])
        kind = schema.get("type")
        if kind == "string":
            return self._values.hostile(rng) if hostile else self._values.plain(rng, name)
        if kind == "array":
            return [self._value(rng, name, schema.get("items", {}), hostile=hostile) for _ in range(rng.choice((1, 1, 2)))]
        if kind == "object":
            inner = schema.get("properties")
            if not inner:
                return {key: self._values.hostile(rng) for key in rng.sample(("path", "root", "file", "id", "repo", "why"), 2)}
            return {key: self._value(rng, key, one, hostile=hostile) for key, one in inner.items() if rng.random() < 0.8}
        if kind in ("integer", "number"):
            return rng.choice((schema.get("minimum", 0), 1, 3, schema.get("maximum", 50)))
        if kind == "boolean":
            return rng.random() < 0.5
        return self._values.hostile(rng) if hostile else self._values.plain(rng, name)


def _holds_text(schema: dict[str, Any]) -> bool:
    if "anyOf" in schema:
        return any(_holds_text(one) for one in schema["anyOf"])
    if schema.get("type") == "array":
        return _holds_text(schema.get("items", {}))
    if schema.get("type") == "object":
        return True
    return schema.get("type") == "string" and "enum" not in schema


class Bridge:
    """The bridge process of an agent host in a directory. Requests are sent together and answered in any order."""

    def __init__(self, environ: dict[str, str], directory: str, profile: str) -> None:
        self._errors = Path(environ["HINDBRAIN_HOME"], "owner.stderr")
        with self._errors.open("ab") as errors:
            self._process = subprocess.Popen(
                [sys.executable, "-P", "-m", "hindbrain", "mcp", "--profile", profile],
                cwd=directory,
                env=environ,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=errors,
            )
        self._next = 0
        self.unasked = b""  # notifications
        self.ask([("initialize", INITIALIZE)])
        self._send({"jsonrpc": "2.0", "method": "notifications/initialized"})

    def _send(self, message: dict[str, Any]) -> None:
        assert self._process.stdin is not None
        self._process.stdin.write(json.dumps(message).encode() + b"\n")
        self._process.stdin.flush()

    def ask(self, requests: list[tuple[str, dict[str, Any]]]) -> list[bytes]:
        """The answers of these requests, in their order."""
        assert self._process.stdout is not None
        first = self._next + 1
        found: dict[int, bytes] = {}
        for method, params in requests:
            self._next += 1
            try:
                self._send({"jsonrpc": "2.0", "id": self._next, "method": method, "params": params})
            except BrokenPipeError as ended:
                code, said = self._process.wait(), self._errors.read_text(errors="replace")[-500:]
                raise RuntimeError(f"the bridge ended with {code} before {method} {json.dumps(params)[:200]}: {said}") from ended
        deadline = threading.Timer(LIMIT_S, self._process.kill)
        deadline.start()
        try:
            while len(found) < len(requests):
                line = self._process.stdout.readline()
                if not line:
                    left = [json.dumps(one)[:300] for number, one in enumerate(requests, first) if number not in found]
                    raise RuntimeError(f"the bridge was ended after {LIMIT_S:g} s at most; without an answer: {left}")
                told = json.loads(line)
                if told.get("id") is None:
                    self.unasked += line
                else:
                    found[told["id"]] = line
        finally:
            deadline.cancel()
        return [found[number] for number in range(first, self._next + 1)]

    def close(self) -> None:
        for pipe in (self._process.stdin, self._process.stdout):
            assert pipe is not None
            with suppress(OSError):
                pipe.close()
        self._process.kill()
        self._process.wait()


class Listener(threading.Thread):
    """What an agent of A hears on the stream of events."""

    def __init__(self, port: int, headers: dict[str, str]) -> None:
        super().__init__(daemon=True)
        self._connection = http.client.HTTPConnection("127.0.0.1", port)
        self._connection.request("GET", "/api/events", headers={**headers, "Accept": "text/event-stream"})
        self._response = self._connection.getresponse()
        self._heard: list[bytes] = []

    def run(self) -> None:
        with suppress(OSError, ValueError, http.client.HTTPException, AttributeError):
            while line := self._response.readline():
                self._heard.append(line)

    def heard(self) -> bytes:
        taken, self._heard = self._heard, []
        return b"".join(taken)

    def close(self) -> None:
        with suppress(OSError):
            self._connection.sock.shutdown(2) if self._connection.sock else None
        self._connection.close()


class Attack:
    """One owner, one agent of A, and the comparison after each batch."""

    def __init__(self, place: Path, *, confined: bool) -> None:
        self.world = ReachWorld(place)
        self.generator = Generator(Values(self.world, confined=confined))
        kept = {name: value for name, value in os.environ.items() if not name.startswith(("HINDBRAIN_", "CLAUDE_", "XDG_"))}
        temporary = self.world.place / "tmp"
        temporary.mkdir()
        self._environ = {
            **kept,
            "HOME": str(self.world.user),
            "HINDBRAIN_HOME": str(self.world.home),
            "TMPDIR": str(temporary),
            "API_KEY": self.world.environment,
            "GIT_CONFIG_GLOBAL": os.devnull,
            "GIT_CONFIG_SYSTEM": os.devnull,
        }
        self.outcomes: dict[str, Counter[str]] = defaultdict(Counter)
        self.surfaces: Counter[str] = Counter()
        self.findings: dict[str, dict[str, Any]] = {}
        self._bridges: dict[str, Bridge] = {}
        self._batch = 0
        self._start()
        self.world.settle()

    # -- processes ---------------------------------------------------------------------------------------------------

    def _start(self) -> None:
        program = "import sys; from pathlib import Path; from hindbrain.surfaces.owner import serve; "
        program += "sys.exit(serve(Path(sys.argv[1]), port=0, housekeeping_s=3600))"
        with (self.world.home / "owner.stderr").open("ab") as errors:
            self._owner = subprocess.Popen(
                [sys.executable, "-P", "-c", program, str(self.world.home)],
                cwd=self.world.elsewhere,
                env=self._environ,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=errors,
            )
        assert self._owner.stdout is not None
        if not self._owner.stdout.readline():
            raise RuntimeError(f"the owner did not start: {(self.world.home / 'owner.stderr').read_text()[-2000:]}")
        facts = json.loads(self.world.world.home.owner_file.read_text(encoding="utf-8"))
        self._port = int(facts["port"])
        self._headers = {
            "Authorization": f"Bearer {self.world.guard_tokens()}",
            "Hindbrain-Caller-Root": quote(self.world.a, safe="/"),
            "Content-Type": "application/json",
        }
        self._http = http.client.HTTPConnection("127.0.0.1", self._port, timeout=LIMIT_S)
        self._listener = Listener(self._port, self._headers)
        self._listener.start()
        self._mcp_session: str | None = None

    def close(self) -> None:
        for bridge in self._bridges.values():
            bridge.close()
        self._bridges.clear()
        self._listener.close()
        self._http.close()
        self._owner.kill()
        self._owner.wait()
        assert self._owner.stdout is not None
        self._owner.stdout.close()

    def _bridge(self, name: str) -> Bridge:
        if name not in self._bridges:
            directory = self.world.stray if name == "brainless" else self.world.a
            self._bridges[name] = Bridge(self._environ, directory, "full" if self._batch % 2 else "default")
        return self._bridges[name]

    # -- calls -------------------------------------------------------------------------------------------------------

    def _request(self, method: str, path: str, body: bytes | None, headers: dict[str, str]) -> tuple[int, bytes, Any]:
        for again in (True, False):
            try:
                self._http.request(method, path, body=body, headers={**self._headers, **headers})
                found = self._http.getresponse()
                return found.status, found.read(), found
            except (ConnectionError, http.client.RemoteDisconnected):
                self._http.close()  # the owner may end a connection after a refusal; the next request opens a new one
                if not again:
                    raise
        raise AssertionError("unreachable")

    def send(self, calls: list[Call]) -> list[bytes]:
        """The answers of a batch, in its order. The reads come after all else: a bridge answers requests as they are done."""
        answers: dict[int, bytes] = {}
        ways = (("stdio", "stdio"), ("resource", "stdio"), ("brainless", "brainless"))
        for surface, name, later in [(*way, later) for later in (False, True) for way in ways]:
            mine = [number for number, call in enumerate(calls) if (call.surface, call.later) == (surface, later)]
            if mine:
                requests = [_mcp_request(calls[number]) for number in mine]
                began = time.perf_counter()
                answers |= dict(zip(mine, self._bridge(name).ask(requests), strict=True))
                for number in mine:
                    self.generator.took(calls[number].operation, (time.perf_counter() - began) / len(mine))
        for number, call in enumerate(calls):
            if number not in answers:
                began = time.perf_counter()
                answers[number] = self._single(call)
                self.generator.took(call.operation, time.perf_counter() - began)
        return [answers[number] for number in range(len(calls))]

    def _single(self, call: Call) -> bytes:
        headers = {name: value for name, value in call.more.items() if not name.startswith("?")}
        if call.surface == "get":
            return self._request("GET", f"{call.operation}?{urlencode(call.more, errors='surrogatepass')}", None, {})[1]
        if call.surface == "http":
            query = f"?{urlencode({'brain': call.more['?brain']})}" if "?brain" in call.more else ""
            body = json.dumps(call.arguments).encode()
            headers["Hindbrain-Session"] = f"reach-{self._batch}"
            return self._request("POST", f"/api/op/{call.operation}{query}", body, headers)[1]
        if call.surface == "mcp-http":
            return self._over_http(call, headers)
        done = subprocess.run(
            [sys.executable, "-P", "-m", "hindbrain", "hook", call.arguments["host"], call.arguments["event"]],
            input=json.dumps(call.arguments["payload"]).encode(),
            cwd=self.world.a,
            env=self._environ,
            capture_output=True,
            timeout=LIMIT_S,
            check=False,
        )
        return done.stdout + done.stderr

    def _over_http(self, call: Call, headers: dict[str, str]) -> bytes:
        accept = {"Accept": "application/json, text/event-stream"}
        if self._mcp_session is None:
            began = json.dumps({"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": INITIALIZE}).encode()
            _, _, response = self._request("POST", "/mcp?profile=full", began, accept)
            self._mcp_session = response.getheader("mcp-session-id") or ""
            noticed = json.dumps({"jsonrpc": "2.0", "method": "notifications/initialized"}).encode()
            self._request("POST", "/mcp", noticed, {**accept, "Mcp-Session-Id": self._mcp_session})
        method, params = _mcp_request(call)
        body = json.dumps({"jsonrpc": "2.0", "id": 1, "method": method, "params": params}).encode()
        told = {**accept, **headers, "Mcp-Session-Id": self._mcp_session, "Mcp-Protocol-Version": INITIALIZE["protocolVersion"]}
        return self._request("POST", "/mcp?profile=full", body, told)[1]

    # -- batches -----------------------------------------------------------------------------------------------------

    def batch(self, number: int, seed: int) -> int:
        """One batch: its calls, what they changed, and what they showed. Returns how many calls it had."""
        self._batch = number
        if number % BRIDGE_BATCHES == 0:
            self._new_sessions()
        rng = random.Random(seed * 1_000_003 + number)
        surfaces = rng.choices([*SHARES], [*SHARES.values()], k=BATCH)
        calls = []
        for surface in surfaces:
            calls.append(self.generator.call(rng, surface))
            if calls[-1].operation in _OPENING and surface in ("stdio", "http", "mcp-http", "brainless"):
                name, given = rng.choice(_LOOKS)
                calls.append(Call(surface=surface, operation=name, arguments=dict(given), later=True))
        try:
            answers = self.send(calls)
        except (OSError, RuntimeError, http.client.HTTPException) as failed:
            self._found("no answer", str(failed), calls)
            self._new_sessions()
            return len(calls)
        for call, answer in zip(calls, answers, strict=True):
            self.surfaces[call.surface] += 1
            self.outcomes[call.operation][_outcome(answer)] += 1
        shown = [call for call, answer in zip(calls, answers, strict=True) if self._shown(call, answer)]
        heard = self._listener.heard() + b"".join(bridge.unasked for bridge in self._bridges.values())
        if leaked := self.world.leaked(heard):
            self._found("event", f"an event shows {', '.join(leaked)}", calls)
        changes = self.world.changes()
        if changes:
            self._attribute(calls, changes)
        if changes or shown:
            self._new_sessions()  # what a session was bound to must not count again
        return len(calls)

    def _as_b(self, operation: str, arguments: dict[str, Any]) -> dict[str, Any]:
        """A call of the agent of B, in a session whose name is a sentinel."""
        headers = {**self._headers, "Hindbrain-Caller-Root": quote(self.world.b.root, safe="/"), "Hindbrain-Agent": "claude:bee"}
        headers["Hindbrain-Session"] = self.world.sentinel("session of a worker in B")
        other = http.client.HTTPConnection("127.0.0.1", self._port, timeout=LIMIT_S)
        other.request("POST", f"/api/op/{operation}", body=json.dumps(arguments).encode(), headers=headers)
        answer: dict[str, Any] = json.loads(other.getresponse().read())
        other.close()
        return answer

    def neighbour(self) -> None:
        """B works meanwhile, as its agent; what it does is no effect of A, and A must not hear of it."""
        self._listener.heard()
        said = {"node_label": self.world.sentinel("label of a new claim in B"), "text": self.world.sentinel("new claim in B")}
        answer = self._as_b("memorize", said)
        if not answer["ok"]:
            self._found("B", f"B cannot write any more: {json.dumps(answer)[:300]}", [])
        self._request("GET", "/api/health", None, {})  # what was published before is on its way by now
        if leaked := self.world.leaked(self._listener.heard()):
            self._found("event", f"A hears of {', '.join(leaked)}", [])
        self.world.settle()

    def _new_sessions(self) -> None:
        for bridge in self._bridges.values():
            bridge.close()
        self._bridges.clear()
        self._mcp_session = None
        self.world.settle()

    def _shown(self, call: Call, answer: bytes) -> bool:
        """Whether an answer shows what it must not; that is noted."""
        if b"Read-only file system" in answer and b"/user/work/a/" not in answer:
            self._found(f"write {call.operation}", "it tried to write outside of the directory of the test", [call], answer)
            return True
        leaked = self.world.leaked(answer)
        for where in leaked[:1]:
            self._found(f"shows {call.operation}", f"{call.operation} shows {', '.join(leaked)}"[:300], [call], answer)
            return bool(where)
        return False

    def _attribute(self, calls: list[Call], changes: list[Change]) -> None:
        """Say which call changed something: the state is taken back, and the calls are repeated one by one."""
        told = "; ".join(one.told() for one in changes[:6])
        self._take_back(changes)
        self._new_sessions()
        suspects = []
        for call in calls:
            with suppress(OSError, RuntimeError, http.client.HTTPException):
                self.send([call])
            again = self.world.changes()
            if again:
                suspects.append((call, "; ".join(one.told() for one in again[:6])))
                self._take_back(again)
                self._new_sessions()
        for call, effect in suspects:
            self._found(f"effect {call.operation}", effect, [call])
        if not suspects:
            self._found(f"effect of a batch {changes[0].path}", told, calls)

    def _take_back(self, changes: list[Change]) -> None:
        """The state before, as far as files go, and a new owner: the old one may know of a brain that is gone now."""
        self.close()
        self.world.take_back(changes)
        self._start()
        self._as_b("north", {})  # what the killed owner had begun in B is finished now, and is no effect of A
        self.world.settle()

    def _found(self, kind: str, what: str, calls: list[Call], answer: bytes = b"") -> None:
        known = self.findings.setdefault(kind, {"count": 0, "what": what, "calls": [], "answer": ""})
        known["count"] += 1
        if len(known["calls"]) < 3:
            known["calls"] += [call.told() for call in calls[:BATCH]]
            known["answer"] = known["answer"] or answer[:600].decode("utf-8", "replace")

    def finish(self) -> None:
        for line in self.world.at_rest()[:20]:
            self._found(f"at rest {line.split(' holds ')[0].rsplit('/', 1)[-1]}", line, [])


def _mcp_request(call: Call) -> tuple[str, dict[str, Any]]:
    if call.operation == "resources/read":
        return "resources/read", call.arguments
    return "tools/call", {"name": call.operation.replace(".", "_"), "arguments": call.arguments}


def _outcome(answer: bytes) -> str:
    """ok, or the code of the refusal."""
    text = answer
    if text.startswith((b"event:", b"id:", b"data:")):
        text = next((line[6:] for line in text.splitlines() if line.startswith(b"data: {")), b"{}")
    try:
        told = json.loads(text)
    except ValueError:
        return "not JSON"
    if "result" in told and isinstance(told["result"], dict):
        inner = told["result"].get("structuredContent")
        if inner is None:
            return "error" if told["result"].get("isError") else "ok"
        told = inner
    if told.get("ok", "error" not in told):
        return "ok"
    error = told.get("error") or told.get("refused")
    return str(error.get("code", "error")) if isinstance(error, dict) else str(error)[:40]


@contextmanager
def attack(place: Path, *, confined: bool) -> Iterator[Attack]:
    made = Attack(place, confined=confined)
    try:
        yield made
    finally:
        made.close()


def main(words: list[str]) -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("place", type=Path)
    parser.add_argument("calls", type=int)
    parser.add_argument("seconds", type=float)
    parser.add_argument("seed", type=int)
    parser.add_argument("report", type=Path)
    given = parser.parse_args(words)
    given.place.mkdir(parents=True, exist_ok=True)
    given.report.parent.mkdir(parents=True, exist_ok=True)
    text = given.report.read_text(encoding="utf-8") if given.report.exists() else ""
    report = json.loads(text) if text else {}
    handle = os.open(given.report, os.O_RDWR | os.O_CREAT, 0o600)  # opened before everything else becomes read-only
    confined = confine(given.place)
    deadline, done, number = time.monotonic() + given.seconds, int(report.get("calls", 0)), int(report.get("batches", 0))
    began = time.monotonic()
    with attack(given.place, confined=confined) as running:
        for name, counted in report.get("outcomes", {}).items():
            running.outcomes[name].update(counted)
        running.surfaces.update(report.get("surfaces", {}))
        running.findings.update(report.get("findings", {}))
        while done < given.calls and time.monotonic() < deadline:
            if number % 10 == 0:
                running.neighbour()
            done += running.batch(number, given.seed)
            number += 1
            if number % 20 == 0 or done >= given.calls:
                _write(handle, running, done, number, report, began, confined)
        running.finish()
        _write(handle, running, done, number, report, began, confined)
    os.close(handle)
    return 1 if running.findings else 0


def _write(handle: int, running: Attack, done: int, number: int, report: dict[str, Any], began: float, confined: bool) -> None:
    told = {
        "calls": done,
        "batches": number,
        "seconds": round(float(report.get("seconds", 0)) + time.monotonic() - began, 1),
        "confined": confined,
        "surfaces": dict(running.surfaces),
        "outcomes": {name: dict(counted) for name, counted in sorted(running.outcomes.items())},
        "uncalled": sorted(set(running.generator.operations) - set(running.outcomes)),
        "findings": running.findings,
    }
    data = json.dumps(told, indent=1).encode()
    os.pwrite(handle, data, 0)
    os.ftruncate(handle, len(data))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
