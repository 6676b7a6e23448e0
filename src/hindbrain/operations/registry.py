"""The registry: an operation is declared once, and every surface is a loop over it. Knows no surface and no store."""

import inspect
import json
import keyword
import re
import shlex
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, get_type_hints

import msgspec

from hindbrain.domain.caller import Channel
from hindbrain.domain.errors import (
    HindbrainError,
    HumanNeeded,
    InvalidParams,
    Refusal,
    StoreUnavailable,
    UnknownOperation,
)
from hindbrain.domain.typed import converted
from hindbrain.engines.hygiene import scan
from hindbrain.policy.missions import OBSERVED
from hindbrain.policy.recovery import RECOVERY_STEPS
from hindbrain.services.call import Call, Retrieved

__all__ = ["REGISTRY", "Effect", "Operation", "describe", "dispatch", "input_schema", "operation"]

REGISTRY: dict[str, "Operation"] = {}


class Effect(StrEnum):
    """What a call may change. Surfaces turn it into tool annotations and HTTP rules."""

    READ = "read"
    WRITE = "write"
    DESTRUCTIVE = "destructive"


@dataclass(frozen=True, slots=True, kw_only=True)
class Operation:
    """One thing Hindbrain can do, with all that a surface needs to offer it."""

    name: str
    effect: Effect
    run: Callable[..., "dict[str, Any] | Retrieved"]
    arguments: type[msgspec.Struct]
    summary: str
    help: str
    everyday: bool = False  # listed in the default MCP profile
    retrieval: bool = False  # its answers carry agent_runtime_contract
    human: bool = False  # needs the human channel
    idempotent: bool = False
    progress: bool = False  # may take over a second and reports progress
    positional: tuple[str, ...] = ()  # CLI arguments that need no flag, in order
    raises: tuple[type[HindbrainError], ...] = ()
    refusal: Mapping[str, Any] | None = None  # the flat shape a refusal of this operation takes
    left_out: Mapping[str, str] = field(default_factory=dict)  # surface -> why it does not offer this


def operation(name: str, *, effect: Effect, **options: Any) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Declare an operation: the signature is the schema, the docstring is the help."""

    def declare(run: Callable[..., Any]) -> Callable[..., Any]:
        help_text = inspect.cleandoc(run.__doc__ or "")
        REGISTRY[name] = Operation(
            name=name,
            effect=effect,
            run=run,
            arguments=_arguments(name, run),
            summary=help_text.split("\n", 1)[0],
            help=help_text,
            **options,
        )
        return run

    return declare


def _arguments(name: str, run: Callable[..., Any]) -> type[msgspec.Struct]:
    """The argument record of an operation. Every operation also takes who calls and from where."""
    hints = get_type_hints(run, include_extras=True)
    fields: list[Any] = []
    for parameter in list(inspect.signature(run).parameters.values())[1:]:
        kind = hints[parameter.name]
        if parameter.default is inspect.Parameter.empty:
            fields.append((parameter.name, kind))
        else:
            fields.append((parameter.name, kind, parameter.default))
    title = "".join(part.title() for part in name.replace(".", "_").split("_"))
    # A letter has a `class`, which no parameter can be called: `class_` stands for it.
    wire = {one[0]: one[0][:-1] for one in fields if one[0].endswith("_") and keyword.iskeyword(one[0][:-1])}
    return msgspec.defstruct(title, fields, kw_only=True, forbid_unknown_fields=True, rename=wire)


_COMMON = {
    "agent_id": {"type": "string", "description": "who calls, e.g. codex:maker"},
    "caller_root": {"type": "string", "description": "your project directory, absolute"},
}


def input_schema(op: Operation) -> dict[str, Any]:
    """JSON Schema of the arguments: an object at the top, no boolean schema, no $ref, no top-level union."""
    found, components = msgspec.json.schema_components([op.arguments], ref_template="#/$defs/{name}")
    definition = components[op.arguments.__name__] if "$ref" in found[0] else found[0]
    flat = _inlined(definition, components)
    properties = dict(flat.get("properties", {}))
    properties.update({name: schema for name, schema in _COMMON.items() if name not in properties})
    schema: dict[str, Any] = {"type": "object", "properties": properties}
    if required := flat.get("required"):
        schema["required"] = list(required)
    return schema


def _inlined(schema: Any, components: Mapping[str, Any]) -> Any:
    if isinstance(schema, dict):
        if "$ref" in schema:
            target = _inlined(components[schema["$ref"].rsplit("/", 1)[1]], components)
            return {**target, **{k: v for k, v in schema.items() if k != "$ref"}}
        dropped = {"title", "additionalProperties"}
        return {k: _inlined(v, components) for k, v in schema.items() if not (k in dropped and not isinstance(v, dict))}
    if isinstance(schema, list):
        return [_inlined(one, components) for one in schema]
    return schema


def describe(op: Operation) -> dict[str, Any]:
    """What a surface needs to offer an operation without importing it."""
    return {
        "name": op.name,
        "effect": op.effect.value,
        "summary": op.summary,
        "help": op.help,
        "schema": input_schema(op),
        "everyday": op.everyday,
        "retrieval": op.retrieval,
        "human": op.human,
        "idempotent": op.idempotent,
        "progress": op.progress,
        "positional": list(op.positional),
        "raises": sorted({kind.code for kind in op.raises}),
        "surfaces": [name for name in ("cli", "mcp", "http") if name not in op.left_out],
        "left_out": dict(op.left_out),
    }


def dispatch(call: Call, name: str, arguments: Mapping[str, Any]) -> dict[str, Any]:
    """Look up, validate, authorise, run, and translate every failure into its one shape."""
    op = REGISTRY.get(name)
    if op is None:
        return UnknownOperation(
            f"there is no operation {name[:80]!r}", fix="call the operation `operations` for the list"
        ).answer()
    candidates: int | None = None
    scope: str | None = None
    error: str | None = None
    own = op.arguments.__struct_encode_fields__  # an operation about agents has an agent_id of its own
    given = {key: value for key, value in arguments.items() if (key not in _COMMON or key in own) and key != "_meta"}
    watched = name in OBSERVED or name in RECOVERY_STEPS
    mission = given.pop("mission_id", None) if watched else None
    began = time.monotonic()
    try:
        if op.effect is not Effect.READ:
            call.house.gateway.check_actor(call.caller.agent)
        if op.human and call.caller.channel is not Channel.HUMAN:
            raise HumanNeeded(
                f"{name} is a human act; this call came by the channel {call.caller.channel.value}",
                fix=f"ask a person to run it in a terminal: {command_line(op, given)}",
            )
        _check_values({key: arguments[key] for key in _COMMON if key in arguments})
        parsed = _parsed(op, given)
        found = op.run(call, **{key: getattr(parsed, key) for key in parsed.__struct_fields__})
        answer = found.answer if isinstance(found, Retrieved) else found
        answer = {"ok": True, **answer} if "ok" not in answer else answer
        if isinstance(found, Retrieved):
            candidates, scope = found.candidates, found.scope
    except Refusal as refusal:
        call.record_refusal(name, refusal)
        answer = refusal.refused(dict(op.refusal)) if op.refusal is not None else refusal.answer()
        candidates, scope, error = 0, _scope(given), refusal.message
    except HindbrainError as failure:
        answer = failure.answer()
        candidates, scope, error = 0, _scope(given), failure.message
    except OSError as failure:
        # The disk is full, read-only or gone: the caller's to know, not a defect of ours.
        answer = StoreUnavailable(
            f"the disk refused: {failure.strerror or failure}",
            fix="free some room or check who owns the home",
            path=failure.filename,
        ).answer()
        candidates, scope, error = 0, _scope(given), str(failure)
    if op.retrieval:
        answer["agent_runtime_contract"] = call.envelope(
            tool=name, candidates=candidates, scope=scope, error=error, proof_state=answer.get("proof_state")
        )
    if watched:
        call.observed(name, given, answer, round((time.monotonic() - began) * 1000), mission)
    return answer


def command_line(op: Operation, given: Mapping[str, Any]) -> str:
    """A call as somebody would type it."""
    words = ["hindbrain", *op.name.replace("_", "-").split(".")]
    words += [str(given[name]) for name in op.positional if given.get(name) is not None]
    for name, value in given.items():
        flag = f"--{name.replace('_', '-')}"
        if name in op.positional or value in (None, False):
            continue
        if value is True:
            words.append(flag)
        else:
            listed = value if isinstance(value, list) else [value]
            words += [part for one in listed for part in (flag, one if isinstance(one, str) else json.dumps(one))]
    return shlex.join("…" if scan(word) else word for word in words)  # an answer never repeats a secret


def _check_values(value: Any) -> None:
    """Refuse what no file and no database can hold, from whichever surface: half a character, an integer beyond 64 bits."""
    if isinstance(value, str):
        try:
            value.encode("utf-8")
        except UnicodeEncodeError as broken:
            raise InvalidParams("a text holds a lone surrogate: it is not Unicode text", fix="send valid UTF-8") from broken
    elif isinstance(value, int) and not -(2**63) <= value < 2**63:
        raise InvalidParams("an integer has more than 64 bits", fix="send large numbers as strings")
    elif isinstance(value, Mapping):
        for name, inner in value.items():
            _check_values(name)
            _check_values(inner)
    elif isinstance(value, list | tuple):
        for inner in value:
            _check_values(inner)


def _scope(given: Mapping[str, Any]) -> str | None:
    scope = given.get("scope")
    return scope if isinstance(scope, str) else None


def _parsed(op: Operation, given: Mapping[str, Any]) -> msgspec.Struct:
    _check_values(given)
    try:
        return converted(given, op.arguments)
    except msgspec.ValidationError as wrong:
        raise InvalidParams(f"{op.name}: {wrong}", fix=_way_out(op, str(wrong))) from wrong


def _way_out(op: Operation, said: str) -> str:
    """What to give instead: the values of an argument that takes only some, else the names of the arguments."""
    if named := re.search(r"Invalid enum value .* - at `\$\.(\w+)", said):
        schema = input_schema(op)["properties"][named[1]]
        values = [value for one in (schema, *schema.get("anyOf", ())) for value in one.get("enum", ())]
        return f"give {named[1]} as one of {', '.join(map(str, values))}"
    return f"the arguments of {op.name} are: {', '.join(op.arguments.__struct_encode_fields__) or 'none'}"
