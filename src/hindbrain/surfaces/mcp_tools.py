"""MCP tools: what the registry looks like to an agent host, and what an answer looks like on its wire.

Knows nothing of transports, callers or threads.
"""

import json
from collections.abc import Mapping
from typing import Any

from mcp_types import CallToolResult, TextContent, Tool, ToolAnnotations
from mcp_types.version import is_version_at_least

from hindbrain.domain.errors import TimedOut
from hindbrain.domain.read_errors import CheckFailed

__all__ = ["DESCRIPTION_LIMIT", "PROFILES", "TEXT_LIMIT", "Catalog", "readable", "resource_text", "tool_result"]

PROFILES = ("default", "full")

# A host puts every listed description into every prompt, so one tool gets one short paragraph.
DESCRIPTION_LIMIT = 400

# Up to here the whole answer is also given as text, for hosts that show nothing else; beyond it the data would cost twice.
TEXT_LIMIT = 4000

TIMED_OUT_RPC_CODE = -32000  # GR-179

# The first revision whose results carry structuredContent; before it the text is all a client gets.
_STRUCTURED_SINCE = "2025-06-18"


class Catalog:
    """Every operation offered over MCP, as tools. Built once from the manifest of the registry."""

    def __init__(self, manifest: Mapping[str, Any]) -> None:
        offered = [entry for entry in manifest["operations"] if "mcp" in entry["surfaces"]]
        self._operations = {name: entry["name"] for entry in offered for name in (entry["name"], tool_name(entry["name"]))}
        self._tools = {tool_name(entry["name"]): _tool(entry) for entry in offered}
        self._everyday = tuple(tool_name(entry["name"]) for entry in offered if entry["everyday"])

    def listed(self, profile: str) -> list[Tool]:
        """The tools a profile lists. What it does not list can still be called by name."""
        return [self._tools[name] for name in self.names(profile)]

    def names(self, profile: str) -> tuple[str, ...]:
        """The names of the tools a profile lists."""
        return tuple(self._tools) if profile == "full" else self._everyday

    def operation(self, name: str) -> str | None:
        """The operation behind a tool name; the operation's own name with dots is understood as well."""
        return self._operations.get(name)

    def family(self, name: str) -> tuple[str, ...]:
        """The tools whose names begin with the same word as this one, for a caller that named a tool that does not exist."""
        first, parted, _ = tool_name(name).partition("_")
        return tuple(one for one in self._tools if one.startswith(f"{first}_")) if parted else ()

    def schema(self, name: str) -> Mapping[str, Any] | None:
        tool = self._tools.get(tool_name(name))
        return tool.input_schema if tool else None


def tool_name(operation: str) -> str:
    """`mission.start` is `mission_start` over MCP: several hosts refuse dots in tool names."""
    return operation.replace(".", "_")


def _tool(entry: Mapping[str, Any]) -> Tool:
    effect = entry["effect"]
    return Tool(
        name=tool_name(entry["name"]),
        description=_description(entry["help"] or entry["summary"]),
        input_schema=_slim(entry["schema"]),
        annotations=ToolAnnotations(
            read_only_hint=effect == "read",
            destructive_hint=effect == "destructive",
            idempotent_hint=effect == "read" or bool(entry["idempotent"]),
            open_world_hint=False,
        ),
    )


def _description(help_text: str) -> str:
    paragraph = " ".join(help_text.split("\n\n", 1)[0].split())
    return paragraph if len(paragraph) <= DESCRIPTION_LIMIT else paragraph[: DESCRIPTION_LIMIT - 1] + "…"


def _slim(schema: Any) -> Any:
    """The same schema without unions with null: an optional field is left out, and some hosts refuse such unions."""
    if isinstance(schema, list):
        return [_slim(one) for one in schema]
    if not isinstance(schema, dict):
        return schema
    kept = {key: value for key, value in schema.items() if not (key == "default" and value in (None, False))}
    for key in ("anyOf", "oneOf"):
        choices = [choice for choice in kept.get(key, ()) if choice != {"type": "null"}]
        if len(choices) == 1:
            kept = {**{k: v for k, v in kept.items() if k != key}, **choices[0]}
    if isinstance(kept.get("enum"), list):
        kept["enum"] = [value for value in kept["enum"] if value is not None]
    return {key: _slim(value) for key, value in kept.items()}


def tool_result(answer: Mapping[str, Any], protocol_version: str) -> CallToolResult:
    """An answer as a tool result: short text for reading, the data once. Only an error is an error; a refusal is an answer."""
    data, compact = _wire_safe(_numbered({key: value for key, value in answer.items() if key != "rendered"}))
    structured = is_version_at_least(protocol_version, _STRUCTURED_SINCE)
    text = readable(answer, compact, whole=not structured)
    return CallToolResult(
        content=[TextContent(type="text", text=text.encode("utf-8", "replace").decode("utf-8"))],
        structured_content=data if structured else None,
        is_error=_is_error(answer),
    )


def _is_error(answer: Mapping[str, Any]) -> bool:
    """Whether the call failed. A report with a negative verdict is an answer: the check itself ran."""
    error = answer.get("error")
    return answer.get("ok") is False and isinstance(error, Mapping) and error.get("code") != CheckFailed.code


def _numbered(answer: dict[str, Any]) -> dict[str, Any]:
    """A call past its limit also tells the number that JSON-RPC servers give it; the failure stays the tool's (GR-172)."""
    error = answer.get("error")
    if isinstance(error, Mapping) and error.get("code") == TimedOut.code:
        return {**answer, "error": {**error, "rpc_code": TIMED_OUT_RPC_CODE}}
    return answer


def resource_text(answer: Mapping[str, Any], *, rendered: bool) -> str:
    """An answer as the text of a resource: its rendering if that is wanted and there, else all of it."""
    shown = answer.get("rendered") if rendered else None
    return shown.encode("utf-8", "replace").decode("utf-8") if isinstance(shown, str) else _wire_safe(answer)[1]


def readable(answer: Mapping[str, Any], compact: str, *, whole: bool = False) -> str:
    """What a reader sees of an answer: its own rendering, else its failure, else all of it if small, else its outline."""
    rendered, error = answer.get("rendered"), answer.get("error")
    if isinstance(rendered, str) and rendered:
        return rendered
    if _is_error(answer) and isinstance(error, Mapping):
        return _failure(str(error.get("code")), error.get("message"), error.get("fix"))
    if answer.get("ok") is False and "refused" in answer:
        return _failure(f"refused: {answer['refused']}", answer.get("reason"), answer.get("fix"))
    return compact if whole or len(compact) <= TEXT_LIMIT else _outline(answer)


def _failure(what: str, why: object, fix: object) -> str:
    lines = [f"{what}: {why}"]
    if fix:
        lines.append(f"fix: {fix if isinstance(fix, str) else _wire_safe(fix)[1]}")
    return "\n".join(lines)


def _outline(answer: Mapping[str, Any]) -> str:
    parts = []
    for key, value in answer.items():
        if isinstance(value, (list, dict)):
            parts.append(f"{key}: {len(value)} {'entries' if isinstance(value, list) else 'fields'}")
        elif not isinstance(value, str) or len(value) <= 80:
            parts.append(f"{key}: {value}")
    return f"{'; '.join(parts)}. The whole answer is in structuredContent."


def _wire_safe(data: Any) -> tuple[Any, str]:
    """The data and its compact JSON. A lone surrogate, which no wire can carry, becomes a question mark."""
    compact = json.dumps(data, ensure_ascii=False, separators=(",", ":"))
    try:
        compact.encode("utf-8")
    except UnicodeEncodeError:
        compact = compact.encode("utf-8", "replace").decode("utf-8")
        data = json.loads(compact)
    return data, compact
