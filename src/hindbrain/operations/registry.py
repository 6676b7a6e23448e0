"""The registry: an operation is declared once, and every surface is a loop over it. Knows no surface and no store."""

import inspect
import keyword
import posixpath
import re
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from types import UnionType
from typing import Annotated, Any, NewType, Union, get_args, get_origin, get_type_hints

import msgspec

from hindbrain.domain.caller import Channel, is_root
from hindbrain.domain.errors import (
    HindbrainError,
    HumanNeeded,
    InvalidParams,
    PathRefused,
    Refusal,
    UnknownOperation,
)
from hindbrain.domain.places import Endings, PlaceArgument
from hindbrain.domain.typed import converted
from hindbrain.engines.fence import shown
from hindbrain.engines.fixes import command_line
from hindbrain.operations.disk import disk_error
from hindbrain.policy.missions import OBSERVED
from hindbrain.policy.recovery import RECOVERY_STEPS
from hindbrain.services.call import Call, Retrieved
from hindbrain.services.gateway import strings_in

__all__ = ["REGISTRY", "Effect", "Operation", "describe", "dispatch", "input_schema", "operation", "place_arguments"]

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
    places: Mapping[str, "PlaceArgument"] = field(default_factory=dict)  # arguments that name paths, roots or brains
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
            places=place_arguments(run),
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


def place_arguments(run: Callable[..., Any]) -> dict[str, PlaceArgument]:
    """The arguments of an operation that name places, by the types of its signature."""
    hints = get_type_hints(run, include_extras=True)
    names = list(inspect.signature(run).parameters)[1:]
    return {name: found for name in names if (found := _place(hints[name])) is not None}


def _place(kind: Any) -> PlaceArgument | None:
    endings = next((one.allowed for one in getattr(kind, "__metadata__", ()) if isinstance(one, Endings)), ())
    if isinstance(kind, NewType):
        return PlaceArgument(kind=kind.__name__) if kind.__module__ == Endings.__module__ else None
    if isinstance(kind, type) and issubclass(kind, msgspec.Struct):
        hints = get_type_hints(kind, include_extras=True).items()
        inside = [(name, found) for name, inner in hints if (found := _place(inner)) is not None]
        if len(inside) > 1:
            raise TypeError(f"{kind.__name__} names more than one place, and only one would be checked")
        return next((PlaceArgument(kind=found.kind, endings=found.endings, within=name) for name, found in inside), None)
    inner_kinds = get_args(kind)[:1] if get_origin(kind) is Annotated else get_args(kind)
    found = next((one for inner in inner_kinds if (one := _place(inner)) is not None), None)
    if found is not None and get_origin(kind) not in (Annotated, Union, UnionType, list, tuple):
        raise TypeError(f"places inside {kind} are not checked; name them in a list or a record")
    if found is None:
        return None
    return PlaceArgument(kind=found.kind, endings=endings or found.endings, within=found.within)


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
    call = call.plainly_named()
    refused = _caller_refusal(call)
    if refused is not None:
        call = call.unnamed()  # what is refused as a name is in no answer and no record of the refusal
    try:
        if refused is not None:
            raise refused
        if op.human and call.caller.channel is not Channel.HUMAN:
            raise HumanNeeded(
                f"{name} is a human act; this call came by the channel {call.caller.channel.value}",
                fix=f"ask a person to run it in a terminal: {command_line(op.name, op.positional, given)}",
            )
        if op.effect is not Effect.READ:
            call.house.confirmation.check(call.caller, name, given)
        _check_caller({key: arguments[key] for key in _COMMON if key in arguments and key not in own})
        parsed = _parsed(op, given)
        values = {key: getattr(parsed, key) for key in parsed.__struct_fields__}
        _check_place_names(call, op, values)
        found = op.run(
            call,
            **values | {key: call.house.authority.resolve(call.caller, place, values[key]) for key, place in op.places.items()},
        )
        answer = found.answer if isinstance(found, Retrieved) else found
        answer = {"ok": True, **answer} if "ok" not in answer else answer
        if isinstance(found, Retrieved):
            candidates, scope = found.candidates, found.scope
    except Refusal as refusal:
        call.record_refusal(name, refusal)
        answer = refusal.refused(dict(op.refusal)) if op.refusal is not None else refusal.answer()
        candidates, scope, error = 0, _scope(given), refusal.message
    except HindbrainError as failure:
        if failure.details.get("person_may"):  # an argument reached further than its caller
            call.record_refusal(name, failure)
        answer = failure.answer()
        candidates, scope, error = 0, _scope(given), failure.message
    except OSError as failure:
        # The disk is full, read-only or gone: the caller's to know, not a defect of ours.
        answer = disk_error(failure).answer()
        candidates, scope, error = 0, _scope(given), str(failure)
    if op.retrieval:
        answer["agent_runtime_contract"] = call.envelope(
            tool=name, candidates=candidates, scope=scope, error=error, proof_state=answer.get("proof_state")
        )
    # Signs that steer a terminal or start a line are in no text for readers, whatever a label or a name holds.
    if isinstance(text := answer.get("rendered"), str):
        answer["rendered"] = shown(text)
    if watched and refused is None:
        call.observed(name, given, answer, round((time.monotonic() - began) * 1000), mission)
    return answer


def _check_place_names(call: Call, op: Operation, values: Mapping[str, Any]) -> None:
    """Refuse a secret as the name of a place: names are recorded, and new files are made by them.

    A file that is only read may have a long random name; a digest often does. Names inside records are left to the
    service, which refuses one record and takes the others.
    """
    for key, place in op.places.items():
        for name in strings_in(values[key]) if place.within is None else ():
            random = place.kind in ("OutputFile", "OutputDirectory")
            call.house.gateway.check_secrets([posixpath.basename(name.rstrip("/"))], site=key, random=random)


def _caller_refusal(call: Call) -> HindbrainError | None:
    """Why the names of a caller cannot be recorded; None when they can. Reads are recorded too."""
    try:
        call.house.gateway.check_caller(call.caller)
    except HindbrainError as refusal:
        return refusal
    return None


def _check_caller(told: Mapping[str, Any]) -> None:
    """Refuse what a call says of its caller in a wrong type or form: an ignored word would act as somebody else."""
    for name, value in told.items():
        if not isinstance(value, str) or not value.strip():
            raise InvalidParams(f"{name} is not a text", fix=f"send {name} as {_COMMON[name]['description']}, or leave it out")
    _check_values(told)
    if not is_root(told.get("caller_root", "/")):
        raise PathRefused("caller_root is not an absolute path without '..' and NUL", fix="send the absolute project directory")


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
