"""The OpenAPI document: the registry once more, in the words of HTTP. Knows no handler."""

from collections.abc import Iterable, Mapping
from typing import Any

from hindbrain.domain.errors import ERRORS
from hindbrain.services.rows import ROW_SCHEMA

__all__ = ["OPERATION_PATH", "document"]

OPERATION_PATH = "/api/op/{name}"

# What the wire itself can answer to any operation, before or after it runs.
_WIRE_CODES = (
    "invalid_params",
    "path_refused",
    "unauthorized",
    "host_refused",
    "origin_refused",
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
}
# What is posted beside the operations, and what it may be refused with.
_WRITES: dict[str, tuple[str, frozenset[str]]] = {
    "/api/hall/ticket": (
        "A ticket: the address /?ticket=… opens the Hall once. Needs the human token.",
        frozenset({"human_needed"}),
    ),
    "/api/hall/key": ("A new key for a page whose own still holds.", frozenset({"human_needed"})),
    "/api/stop": ("Ends the owner when the running calls are done.", frozenset()),
}
_SELECTING = ("/api/status", "/api/mailbox", "/api/graph/stats", "/api/graph/snapshot", "/api/graph/subgraph", "/api/events")

_BRAIN = {
    "name": "brain",
    "in": "query",
    "required": False,
    "schema": {"type": "string"},
    "description": "a registered project root, or medulla; without it the bound root answers",
}
_HEADERS = [
    {
        "name": "Hindbrain-Caller-Root",
        "in": "header",
        "schema": {"type": "string"},
        "description": "absolute project directory of the caller, percent-encoded UTF-8",
    },
    {
        "name": "Hindbrain-Root-Source",
        "in": "header",
        "schema": {"type": "string"},
        "description": "where a local program learned that directory: call, environment or directory",
    },
    {"name": "Hindbrain-Agent", "in": "header", "schema": {"type": "string"}, "description": "who calls, as host:role"},
    {"name": "Hindbrain-Session", "in": "header", "schema": {"type": "string"}, "description": "the session; made if absent"},
    {
        "name": "Hindbrain-Delegation",
        "in": "header",
        "schema": {"type": "string"},
        "description": "the packet that the caller works under: delegate is cut to its scope",
    },
]


def document(operations: Iterable[Mapping[str, Any]], *, version: str, url: str) -> dict[str, Any]:
    """OpenAPI 3.1 for every operation and every read of the owner."""
    paths: dict[str, Any] = {path: {"get": _read(path, summary)} for path, summary in _READS.items()}
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
            "schemas": {"Answer": _ANSWER, "Error": _ERROR, "MemoryRow": ROW_SCHEMA},
        },
    }


_ANSWER = {
    "type": "object",
    "required": ["ok"],
    "properties": {
        "ok": {"type": "boolean"},
        "refused": {"type": "string", "description": "the code of a refusal; nothing was written"},
        "reason": {"type": "string"},
        "memory": {"type": "array", "items": {"$ref": "#/components/schemas/MemoryRow"}},
    },
}
_ERROR = {
    "type": "object",
    "required": ["ok", "error"],
    "properties": {
        "ok": {"const": False},
        "error": {
            "type": "object",
            "required": ["code", "message"],
            "properties": {"code": {"type": "string", "enum": sorted(ERRORS)}, "message": {"type": "string"}, "fix": {}},
        },
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
        "responses": {"200": _answered(streams=op["progress"]), **_failures({*op["raises"], *_WIRE_CODES})},
    }


def _read(path: str, summary: str) -> dict[str, Any]:
    codes = {"unauthorized", "host_refused", "origin_refused", *({"unknown_brain"} if path in _SELECTING else ())}
    answer = (
        {"description": "a stream", "content": {"text/event-stream": {"schema": {"type": "string"}}}}
        if path == "/api/events"
        else _answered(streams=False)
    )
    return {
        "operationId": "get " + path,
        "summary": summary,
        "tags": ["read"],
        "parameters": [*_HEADERS, *([_BRAIN] if path in _SELECTING else [])],
        "responses": {"200": answer, **_failures(codes)},
    }


def _write(path: str, summary: str, codes: frozenset[str]) -> dict[str, Any]:
    return {
        "operationId": "post " + path,
        "summary": summary,
        "tags": ["write"],
        "responses": {"200": _answered(streams=False), **_failures({"unauthorized", "host_refused", "origin_refused", *codes})},
    }


def _answered(*, streams: bool) -> dict[str, Any]:
    content: dict[str, Any] = {"application/json": {"schema": {"$ref": "#/components/schemas/Answer"}}}
    if streams:
        content["text/event-stream"] = {"schema": {"type": "string"}}
    return {"description": "the answer; a refusal is an answer too", "content": content}


def _failures(codes: set[str]) -> dict[str, Any]:
    by_status: dict[int, list[str]] = {}
    for code in sorted(codes):
        by_status.setdefault(ERRORS[code].http_status, []).append(code)
    schema = {"application/json": {"schema": {"$ref": "#/components/schemas/Error"}}}
    return {str(status): {"description": ", ".join(found), "content": schema} for status, found in sorted(by_status.items())}
