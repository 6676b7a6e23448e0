"""The OpenAPI document: the registry once more, in the words of HTTP. Knows no handler."""

from collections.abc import Iterable, Mapping
from typing import Any

from hindbrain.domain.errors import ERRORS
from hindbrain.policy.limits import AGENT_MAX
from hindbrain.services.rows import ROW_SCHEMA
from hindbrain.stores.token_file import CHALLENGE, PROVE_PATH

__all__ = ["OPERATION_PATH", "document"]

OPERATION_PATH = "/api/op/{name}"

# What every address can answer: the guard looks at host, origin, token and the headers that name the caller.
_GUARD_CODES = ("invalid_params", "path_refused", "unauthorized", "host_refused", "origin_refused")
# What the wire itself can answer to any operation, before or after it runs.
_WIRE_CODES = (
    *_GUARD_CODES,
    "human_needed",
    "passphrase_needed",
    "passphrase_wrong",
    "passphrase_locked",
    "switched_off",
    "store_unavailable",
    "unknown_brain",
    "body_too_large",
    "unsupported_media_type",
    "internal",
    "timed_out",
)
_READS = {
    "/api/health": "Whether the owner is up, and which one it is.",
    "/api/status": "The owner, and the health of the caller's brain.",
    "/api/operations": "Every operation with its schema, effect and errors.",
    "/api/instances": "One row per brain on disk, warm or dormant, with its own counters.",
    "/api/instance/self": "The owner's own record: totals across all brains.",
    "/api/overview": "A card for every brain, from disk: what it holds, who works there, what waits. Wakes and counts nothing.",
    "/api/mailbox": "The letters of one brain's box, each with its fate; at most ?limit= of them.",
    "/api/inbox_sweep": "Every letter of the spool and of all boxes once; at most ?limit= of them.",
    "/api/graph/stats": "Nodes and edges of one brain.",
    "/api/graph/snapshot": "The whole graph of a brain, if it is small enough for an answer.",
    "/api/graph/subgraph": "The graph around ?node= up to ?depth= edges away.",
    "/api/events": "What changes, as server-sent events.",
    "/api/openapi.json": "This document.",
    PROVE_PATH: "Proofs that this is the owner of the home, one for each token. Asked without a token, before it is sent.",
}
# What is posted beside the operations, and what it may be refused with.
_WRITES: dict[str, tuple[str, frozenset[str]]] = {
    "/api/hall/ticket": (
        "A ticket: the address /?ticket=… opens the Hall once. Needs the human token.",
        frozenset({"human_needed"}),
    ),
    "/api/hall/key": ("A new visit for a page whose own still holds.", frozenset({"human_needed"})),
    "/api/stop": ("Ends the owner when the running calls are done.", frozenset()),
}
# The operation that answers a read: what it may raise, the read may answer.
_ASKED = {
    "/api/status": "health",
    "/api/instances": "instances",
    "/api/instance/self": "instances",
    "/api/overview": "overview",
    "/api/mailbox": "mailbox.show",
    "/api/inbox_sweep": "inbox_sweep",
    "/api/graph/snapshot": "graph.export",
    "/api/graph/subgraph": "graph.export",
}
_SELECTING = ("/api/status", "/api/mailbox", "/api/graph/stats", "/api/graph/snapshot", "/api/graph/subgraph", "/api/events")

_BRAIN = {
    "name": "brain",
    "in": "query",
    "required": False,
    "schema": {"type": "string"},
    "description": "a registered project root, or medulla; without it the bound root answers",
}
_LIMIT = {
    "name": "limit",
    "in": "query",
    "required": False,
    "schema": {"type": "integer", "minimum": 1, "maximum": 20_000},
    "description": "at most so many letters",
}
_QUERIES = {
    "/api/mailbox": [_LIMIT],
    "/api/inbox_sweep": [_LIMIT],
    "/api/graph/subgraph": [
        {"name": "node", "in": "query", "required": True, "schema": {"type": "string"}, "description": "id or name of a node"},
        {
            "name": "depth",
            "in": "query",
            "required": False,
            "schema": {"type": "integer", "minimum": 1, "maximum": 6},
            "description": "edges away from that node",
        },
    ],
}
_HEADERS = [
    {
        "name": "Hindbrain-Caller-Root",
        "in": "header",
        "schema": {"type": "string", "pattern": "^/"},
        "description": "absolute project directory of the caller, percent-encoded UTF-8",
    },
    {
        "name": "Hindbrain-Root-Source",
        "in": "header",
        "schema": {"type": "string", "enum": ["call", "environment", "directory"]},
        "description": "where a local program learned that directory: call, environment or directory",
    },
    {
        "name": "Hindbrain-Agent",
        "in": "header",
        "schema": {"type": "string", "minLength": 1, "maxLength": AGENT_MAX},
        "description": "who calls, as host:role, in one short line",
    },
    {
        "name": "Hindbrain-Session",
        "in": "header",
        "schema": {"type": "string", "pattern": "^[A-Za-z0-9._:-]{1,128}$"},
        "description": "the session; made if absent",
    },
    {
        "name": "Hindbrain-Delegation",
        "in": "header",
        "schema": {"type": "string", "minLength": 1, "maxLength": AGENT_MAX},
        "description": "the packet that the caller works under: delegate is cut to its scope",
    },
]


def document(operations: Iterable[Mapping[str, Any]], *, version: str, url: str) -> dict[str, Any]:
    """OpenAPI 3.1 for every operation and every read of the owner."""
    operations = list(operations)
    raised = {op["name"]: op["raises"] for op in operations}
    paths: dict[str, Any] = {
        path: {"get": _read(path, summary, raised.get(_ASKED.get(path, ""), ()))} for path, summary in _READS.items()
    }
    paths |= {path: {"post": _write(path, summary, codes)} for path, (summary, codes) in _WRITES.items()}
    for op in operations:
        if "http" in op["surfaces"]:
            paths[OPERATION_PATH.format(name=op["name"])] = {"post": _operation(op)}
    return {
        "openapi": "3.1.0",
        "info": {"title": "Hindbrain", "version": version, "description": "Shared memory and mission control for coding agents."},
        "servers": [{"url": url}],
        "security": [{"token": []}],
        "paths": paths,
        "components": {
            "securitySchemes": {"token": {"type": "http", "scheme": "bearer", "description": "the token file of the home"}},
            "schemas": {
                "Answer": _ANSWER,
                "Retrieved": _RETRIEVED,
                "Error": _ERROR,
                "Failure": _FAILURE,
                "MemoryRow": ROW_SCHEMA,
            },
        },
    }


_FAILURE = {
    "type": "object",
    "required": ["code", "message", "fix"],
    "properties": {
        "code": {"type": "string", "enum": sorted(ERRORS)},
        "message": {"type": "string"},
        "fix": {"description": "the next safe step: a text, a call, or null"},
    },
}
# Three shapes and no fourth: done; a check whose report is negative; a refused write of an operation with a flat refusal.
_ANSWER = {
    "type": "object",
    "required": ["ok"],
    "properties": {
        "ok": {"type": "boolean"},
        "error": {"$ref": "#/components/schemas/Failure"},
    },
    "anyOf": [
        {"properties": {"ok": {"const": True}}},
        {"properties": {"ok": {"const": False}}, "required": ["error"]},
        {
            "properties": {
                "ok": {"const": False},
                "refused": {"type": "string", "description": "the code of a refusal; nothing was written"},
                "reason": {"type": "string"},
            },
            "required": ["refused", "reason", "fix"],
        },
    ],
}
_RETRIEVED = {
    "allOf": [
        {"$ref": "#/components/schemas/Answer"},
        {"properties": {"memory": {"type": "array", "items": {"$ref": "#/components/schemas/MemoryRow"}}}},
    ]
}
_ERROR = {
    "type": "object",
    "required": ["ok", "error"],
    "properties": {
        "ok": {"const": False},
        "error": {"$ref": "#/components/schemas/Failure"},
    },
}


def _operation(op: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "operationId": op["name"],
        "summary": op["summary"],
        "description": op["help"],
        "tags": [op["effect"]],
        "parameters": [*_HEADERS, *([_BRAIN] if op["effect"] == "read" else [])],
        "requestBody": {"required": True, "content": {"application/json": {"schema": op["schema"]}}},
        "responses": {
            "200": _answered(streams=op["progress"], retrieval=op["retrieval"]),
            **_failures({*op["raises"], *_WIRE_CODES}),
        },
    }


_OTHER_ANSWERS = {
    "/api/events": {"description": "a stream", "content": {"text/event-stream": {"schema": {"type": "string"}}}},
    "/api/openapi.json": {
        "description": "the document",
        "content": {"application/json": {"schema": {"type": "object", "required": ["openapi", "paths"]}}},
    },
}


def _read(path: str, summary: str, raised: Iterable[str]) -> dict[str, Any]:
    codes = {*_GUARD_CODES, *raised}
    codes |= {"internal", "timed_out"} if path in _ASKED else set()
    codes |= {"unknown_brain", "switched_off"} if path in _SELECTING else set()
    codes |= {"human_needed"} if path == "/api/events" else set()
    answer = _OTHER_ANSWERS.get(path) or _answered(streams=False)
    proves = {"name": CHALLENGE, "in": "header", "required": True, "schema": {"type": "string", "pattern": "^[0-9a-f]{32,128}$"}}
    selecting = [_BRAIN] if path in _SELECTING else []
    open_to_all: dict[str, Any] = {"security": []} if path == PROVE_PATH else {}
    return open_to_all | {
        "operationId": "get " + path,
        "summary": summary,
        "tags": ["read"],
        "parameters": [proves] if path == PROVE_PATH else [*_HEADERS, *selecting, *_QUERIES.get(path, [])],
        "responses": {"200": answer, **_failures(codes)},
    }


def _write(path: str, summary: str, codes: frozenset[str]) -> dict[str, Any]:
    return {
        "operationId": "post " + path,
        "summary": summary,
        "tags": ["write"],
        "responses": {"200": _answered(streams=False), **_failures({*_GUARD_CODES, *codes})},
    }


def _answered(*, streams: bool, retrieval: bool = False) -> dict[str, Any]:
    name = "Retrieved" if retrieval else "Answer"
    content: dict[str, Any] = {"application/json": {"schema": {"$ref": f"#/components/schemas/{name}"}}}
    if streams:
        content["text/event-stream"] = {"schema": {"type": "string"}}
    return {"description": "the answer; a refusal is an answer too", "content": content}


def _failures(codes: set[str]) -> dict[str, Any]:
    by_status: dict[int, list[str]] = {}
    for code in sorted(codes):
        if ERRORS[code].http_status == 200:
            continue  # a report beside its error is an answer
        by_status.setdefault(ERRORS[code].http_status, []).append(code)
    if "path_refused" in codes:
        # A caller root that cannot be a path is a malformed request; a path that the caller may not name is forbidden.
        by_status.setdefault(400, []).append("path_refused")
    schema = {"application/json": {"schema": {"$ref": "#/components/schemas/Error"}}}
    return {str(status): {"description": ", ".join(found), "content": schema} for status, found in sorted(by_status.items())}
