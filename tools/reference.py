"""Write docs/reference/ from the registry, the errors, the settings and the records; with --check say which page is out of date.

The pages are committed so that people can read them where they find the code, and checked so that they cannot drift from it.
"""

import json
import os
import sys
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

from hindbrain import __version__
from hindbrain.domain.errors import ERRORS, HindbrainError, Refusal
from hindbrain.domain.schemas import RECORDS, schema_of
from hindbrain.engines.pack import compact, reference
from hindbrain.operations import REGISTRY, Operation, describe
from hindbrain.operations.pack import taught
from hindbrain.policy.doctrine import HOSTS
from hindbrain.settings import SETTINGS
from hindbrain.surfaces import helping
from hindbrain.surfaces.arguments import kind_of
from hindbrain.surfaces.local import COMMANDS
from hindbrain.surfaces.manifest import Manifest
from hindbrain.surfaces.mcp_tools import tool_name
from hindbrain.surfaces.openapi import document

PAGES = Path(__file__).resolve().parent.parent / "docs" / "reference"
SCHEMAS = PAGES / "schemas"
PACKS = PAGES / "packs"
GENERATED = "<!-- Written by tools/reference.py from the code. Change the code, then run: make reference -->\n"

_EFFECTS = {"read": "reads", "write": "writes", "destructive": "takes away"}
_CALLER = ("agent_id", "caller_root")


def cell(text: object) -> str:
    """Text for one cell of a table."""
    return " ".join(str(text).split()).replace("|", "\\|")


def table(head: Iterable[str], rows: Iterable[Iterable[object]]) -> str:
    names = list(head)
    lines = [f"| {' | '.join(names)} |", f"|{'---|' * len(names)}"]
    lines += [f"| {' | '.join(cell(value) for value in row)} |" for row in rows]
    return "\n".join(lines)


def code(value: object) -> str:
    return f"`{value}`" if value not in ("", None) else ""


def spoken(name: str) -> str:
    return name.replace(".", " ").replace("_", "-")


def every() -> list[tuple[Operation, dict[str, Any]]]:
    """Every operation with its description, by name."""
    return [(REGISTRY[name], describe(REGISTRY[name])) for name in sorted(REGISTRY)]


def kind(schema: dict[str, Any]) -> str:
    """The type of an argument in a reader's words."""
    name, inner = kind_of(schema)
    if name == "enum":
        return " or ".join(code(one) for one in inner["enum"] if one is not None)
    if name == "any" and (options := inner.get("anyOf")):
        return " or ".join(str(one["type"]) for one in options if one.get("type") not in (None, "null"))
    return {"documents": "list of objects", "any": "any JSON value"}.get(name, name)


def default(name: str, schema: dict[str, Any], required: Iterable[str]) -> str:
    if name in required:
        return "needed"
    value = schema.get("default")
    return "" if value in (None, "") else code(str(value).lower() if isinstance(value, bool) else value)


def arguments(told: dict[str, Any]) -> str:
    schema = told["schema"]
    rows = [
        (code(name), kind(one), default(name, one, schema.get("required", ())), described(one))
        for name, one in schema["properties"].items()
        if name not in _CALLER
    ]
    return table(("argument", "type", "default", "meaning"), rows) if rows else "No arguments."


def described(schema: dict[str, Any]) -> str:
    """What an argument means; of a list of objects also what one of them holds."""
    name, inner = kind_of(schema)
    text = str(schema.get("description") or inner.get("description") or "")
    if name == "documents":
        fields = inner.get("items", {}).get("properties", {})
        text += f"; each with {', '.join(code(field) for field in fields)}" if fields else ""
    return text


def operations() -> str:
    """One section per operation."""
    parts = [
        "# Every operation",
        "Everything Hindbrain can do. Each operation is offered by the command line, by MCP and by HTTP with the same arguments "
        "and the same answer; where one is left out, its section says why. Every operation also takes `agent_id` (who calls, as "
        "`host:role`) and `caller_root` (absolute project directory of the caller; heard only where nothing better is known).",
        table(
            ("operation", "does", "effect"),
            ((f"[`{op.name}`](#{anchor(op.name)})", op.summary, _EFFECTS[op.effect.value]) for op, _ in every()),
        ),
    ]
    for op, told in every():
        parts += [f"## {op.name}", op.help, facts(op), arguments(told)]
        if op.raises:
            parts.append("Errors: " + ", ".join(f"[`{one}`](errors.md#{anchor(one)})" for one in told["raises"]) + ".")
    return "\n\n".join(parts)


def anchor(name: str) -> str:
    return name.replace(".", "").lower()


def facts(op: Operation) -> str:
    """Where an operation is offered, and what is special about it."""
    ways = {"cli": f"`hindbrain {spoken(op.name)}`", "mcp": f"`{tool_name(op.name)}`", "http": f"`POST /api/op/{op.name}`"}
    titles = {"cli": "Command", "mcp": "MCP tool", "http": "HTTP"}
    lines = [
        f"- {titles[one]}: {way}" if one not in op.left_out else f"- {titles[one]}: not offered ({op.left_out[one]})"
        for one, way in ways.items()
    ]
    special = [f"it {_EFFECTS[op.effect.value]}"]
    special += ["calling it twice is as good as once"] if op.idempotent else []
    special += ["a human act: it needs the human channel"] if op.human else []
    special += ["listed in the default MCP profile"] if op.everyday and "mcp" not in op.left_out else []
    special += ["its answers carry `agent_runtime_contract`"] if op.retrieval else []
    special += ["reports progress"] if op.progress else []
    return "\n".join([*lines, f"- Effect: {'; '.join(special)}"])


def errors() -> str:
    """One row per code, then who raises it."""
    raised: dict[str, list[str]] = {}
    for op, told in every():
        for one in told["raises"]:
            raised.setdefault(one, []).append(f"[`{op.name}`](operations.md#{anchor(op.name)})")
    parts = [
        "# Errors",
        'Every way a call can fail. A failed call answers `{"ok": false, "error": {"code", "message", "fix"}}`; an operation '
        'that declares a refusal shape answers a refusal flat, as `{"ok": false, "refused": code, "reason", "fix"}`, with HTTP '
        "status 200, because a refusal is an ordinary answer. The fix is always a safe next step. "
        "The command line ends with 0 when done, 1 when refused or not found, 2 when the call itself was wrong.",
        table(
            ("code", "kind", "HTTP", "exit", "meaning"),
            ((f"[`{c}`](#{anchor(c)})", family(k), k.http_status, k.exit_code, meaning(k)) for c, k in sorted(ERRORS.items())),
        ),
    ]
    for name, one in sorted(ERRORS.items()):
        who = ", ".join(raised.get(name, ())) or "no operation by itself: it comes from a surface or from any call"
        parts += [f"## {name}", f"{(one.__doc__ or '').strip()}\n\nRaised by {who}."]
    return "\n\n".join(parts)


def family(one: type[HindbrainError]) -> str:
    return "refusal" if issubclass(one, Refusal) else "error"


def meaning(one: type[HindbrainError]) -> str:
    return (one.__doc__ or "").strip().split("\n", 1)[0]


def settings() -> str:
    """The one table of settings."""
    rows = (
        (
            code(one.name),
            code(str(one.default).lower() if isinstance(one.default, bool) else one.default),
            " or ".join(map(code, one.choices)) or type(one.default).__name__,
            code(one.environment),
            one.help,
            code(one.read_by),
        )
        for one in SETTINGS
    )
    return "\n\n".join(
        [
            "# Settings",
            "Read once when a process starts: the default, then `config.toml` in the home, then the environment. A setting that "
            "is unknown or has a value of the wrong type stops the program with `config_invalid` and says which line.",
            table(("setting", "default", "takes", "environment", "meaning", "read by"), rows),
            "Three more variables say where and who, and are no settings of the home itself: `HINDBRAIN_HOME` (the home), "
            "`HINDBRAIN_WORKSPACE_ROOT` (the project a call comes from) and `HINDBRAIN_AGENT_ID` (who calls, as `host:role`).",
            '```toml\n# config.toml\nmode = "owner"\nport = 1338\nidle_exit_s = 3600\n```',
        ]
    )


def cli() -> str:
    """The program's own help, page by page."""
    known = Manifest([told for _, told in every()])
    parts = ["# Command line", "What `hindbrain --help` and `hindbrain COMMAND --help` print."]
    parts.append(f"```text\n{helping.program(known, COMMANDS)}\n```")
    commands = {**known.offered, **COMMANDS}
    parts += [f"## hindbrain {spoken(name)}\n\n```text\n{helping.command(commands[name])}\n```" for name in sorted(commands)]
    return "\n\n".join(parts)


def http() -> str:
    """The addresses of the owner, from its OpenAPI document."""
    found = document([told for _, told in every()], version=__version__, url="http://127.0.0.1:1338")
    rows: list[tuple[str, ...]] = []
    offered: list[tuple[str, ...]] = []
    headers: dict[str, str] = {}
    for path, methods in found["paths"].items():
        for method, one in methods.items():
            name, statuses = f"`{method.upper()} {path}`", ", ".join(sorted(one["responses"]))
            if path.startswith("/api/op/"):
                offered.append((name, f"[{one['operationId']}](operations.md#{anchor(one['operationId'])})", statuses))
            else:
                rows.append((name, one["summary"], statuses))
            headers |= {p["name"]: p.get("description", "") for p in one.get("parameters", ()) if p["in"] == "header"}
    return "\n\n".join(
        [
            "# HTTP",
            "The owner listens on 127.0.0.1, by default on port 1338; `hindbrain status` shows the address. Every call carries "
            "the token of the home as `Authorization: Bearer TOKEN`; the file `token` gives the channel `agent`, the file "
            "`human-token` the channel `human`. Bodies are JSON objects with `Content-Type: application/json`. A request with a "
            "foreign `Host` or `Origin` is refused, there is no CORS, and GET changes nothing. The same in OpenAPI 3.1 is at "
            "`GET /api/openapi.json`; MCP over streamable HTTP is at `/mcp`.",
            f"```sh\n{CURL}\n```",
            table(("header", "meaning"), ((code(name), told) for name, told in headers.items())),
            table(("address", "does", "statuses"), rows),
            table(("address", "operation", "statuses"), offered),
            "`GET /api/events` and operations that report progress answer as server-sent events when asked with "
            "`Accept: text/event-stream`. Reads that take `?brain=` answer for a registered project root, or for `medulla`.",
        ]
    )


CURL = """\
home=~/.local/share/hindbrain   # or where `hindbrain status` says it is
curl -s http://127.0.0.1:1338/api/op/seek -d '{"query": "retry"}' -H "Authorization: Bearer $(cat "$home/token")" \\
     -H "Content-Type: application/json" -H "Hindbrain-Caller-Root: $PWD"   # a path with spaces: percent-encoded"""

WRITERS: dict[str, Callable[[], str]] = {
    "operations": operations,
    "errors": errors,
    "settings": settings,
    "cli": cli,
    "http": http,
}


def schemas() -> dict[Path, str]:
    """One JSON Schema for each record that the control loop says or keeps."""
    return {
        SCHEMAS / f"{name}.json": json.dumps(schema_of(name), indent=2, ensure_ascii=False) + "\n" for name in sorted(RECORDS)
    }


def packs() -> dict[Path, str]:
    """The doctrine pack of each host, byte for byte as it is written there, and the whole routing."""
    return {PACKS / f"{host}.md": compact(host) for host in HOSTS} | {PACKS / "reference.md": reference(taught())}


def pages() -> dict[Path, str]:
    """Every page with the text it should have."""
    os.environ["COLUMNS"] = "100"  # the help fits itself to the terminal; the page must not depend on whose that is
    return {PAGES / f"{name}.md": f"{GENERATED}\n{write()}\n" for name, write in WRITERS.items()} | schemas() | packs()


def stale() -> list[Path]:
    """The pages that are not what the code says, and the schemas of records that are gone."""
    due = pages()
    old = [path for path, text in due.items() if not path.exists() or path.read_text(encoding="utf-8") != text]
    return old + [path for path in sorted(SCHEMAS.glob("*.json")) if path not in due]


def main(words: list[str]) -> int:
    """Write the pages, or only look at them."""
    if words == ["--check"]:
        for path in (old := stale()):
            print(f"docs/reference/{path.relative_to(PAGES)} is out of date; run: make reference", file=sys.stderr)
        return 1 if old else 0
    if words:
        print(f"reference.py takes --check or nothing, not {words}", file=sys.stderr)
        return 2
    SCHEMAS.mkdir(parents=True, exist_ok=True)
    PACKS.mkdir(parents=True, exist_ok=True)
    for path, text in (due := pages()).items():
        path.write_text(text, encoding="utf-8")
    for path in SCHEMAS.glob("*.json"):
        if path not in due:
            path.unlink()
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
