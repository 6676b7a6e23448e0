"""The registry and its surfaces: every operation is fully declared, and every surface offers it or says why not."""

import json
import re
from collections.abc import Iterator
from typing import Any

import msgspec
import pytest

from hindbrain import __version__
from hindbrain.operations import REGISTRY, Effect, Operation, describe, input_schema
from hindbrain.policy.texts import INSTRUCTIONS, RULES
from hindbrain.surfaces import cli, helping
from hindbrain.surfaces.manifest import Manifest
from hindbrain.surfaces.mcp_tools import Catalog, tool_name
from hindbrain.surfaces.openapi import document
from tests.architecture.source import ROOT

OPERATIONS = [REGISTRY[name] for name in sorted(REGISTRY)]
DESCRIBED = [describe(op) for op in OPERATIONS]
SURFACES = ("cli", "mcp", "http")


def offered(surface: str) -> set[str]:
    """What a surface really offers, asked of the surface itself."""
    if surface == "cli":
        known = Manifest(DESCRIBED)
        return {op.name for op in OPERATIONS if known.resolve(op.name.replace("_", "-").split(".")) is not None}
    if surface == "mcp":
        catalog = Catalog({"operations": DESCRIBED})
        listed = {tool.name for tool in catalog.listed("full")}
        return {op.name for op in OPERATIONS if tool_name(op.name) in listed and catalog.operation(tool_name(op.name)) == op.name}
    paths = document(DESCRIBED, version=__version__, url="http://127.0.0.1")["paths"]
    return {name.removeprefix("/api/op/") for name in paths if name.startswith("/api/op/")}


@pytest.mark.parametrize("surface", SURFACES)
def test_arch_8_every_surface_offers_every_operation_or_says_why_not(surface: str) -> None:
    left_out = {op.name: op.left_out[surface] for op in OPERATIONS if surface in op.left_out}

    assert REGISTRY
    assert offered(surface) | set(left_out) == set(REGISTRY)
    assert offered(surface).isdisjoint(left_out)


@pytest.mark.parametrize("op", OPERATIONS, ids=lambda op: op.name)
def test_arch_8_every_operation_is_fully_declared(op: Operation) -> None:
    assert re.fullmatch(r"[a-z][a-z_]*(\.[a-z][a-z_]*){0,2}", op.name)
    assert op.help.strip()
    assert op.summary.endswith(".")
    assert len(op.summary) <= 130, "a summary is one line of a list"
    assert all(reason.strip() and surface in SURFACES for surface, reason in op.left_out.items())
    assert set(op.positional) <= set(input_schema(op)["properties"])
    assert not (op.human and op.effect is Effect.READ), "reading needs no human"


@pytest.mark.req("GR-173")
@pytest.mark.parametrize("op", OPERATIONS, ids=lambda op: op.name)
def test_gr_173_the_input_schema_is_one_every_host_accepts(op: Operation) -> None:
    schema = input_schema(op)

    assert schema["type"] == "object"
    assert not {"anyOf", "oneOf", "allOf", "$ref", "not", "enum"} & set(schema)
    assert set(schema.get("required", ())) <= set(schema["properties"])
    for place, part in parts(schema):
        assert not isinstance(part, bool), f"{place} is a boolean schema"
        assert "$ref" not in part, f"{place} refers elsewhere"
    json.dumps(schema)
    with pytest.raises(msgspec.ValidationError, match="unknown field"):
        msgspec.convert({"no_such_argument": 1}, op.arguments)


def parts(schema: Any, place: str = "top") -> Iterator[tuple[str, Any]]:
    """Every schema inside a schema, with where it stands."""
    yield place, schema
    if not isinstance(schema, dict):
        return
    for name, one in schema.get("properties", {}).items():
        yield from parts(one, f"{place}.{name}")
    for key in ("items", "additionalProperties", "not"):
        if key in schema:
            yield from parts(schema[key], f"{place}.{key}")
    for key in ("anyOf", "oneOf", "allOf", "prefixItems"):
        for one in schema.get(key, ()):
            yield from parts(one, f"{place}.{key}")


@pytest.mark.parametrize("op", OPERATIONS, ids=lambda op: op.name)
def test_arch_8_every_operation_is_in_the_reference_and_in_the_help(op: Operation) -> None:
    page = (ROOT / "docs" / "reference" / "operations.md").read_text(encoding="utf-8")

    assert f"\n## {op.name}\n" in page
    if "cli" not in op.left_out:
        assert op.summary.split()[0] in helping.command(describe(op))


def test_arch_8_no_operation_hides_behind_a_command_of_the_program() -> None:
    """`hindbrain status` is the program's own; an operation of that name could never be reached."""
    hidden = [op.name for op in OPERATIONS if op.name.split(".")[0] in cli.LOCAL and "cli" not in op.left_out]

    assert hidden == []


# -- the texts that agents receive -----------------------------------------------------------------------------------

# What tells about the program, its model and the code is no memory verb; the modules of the registry part them.
ABOUT_OTHERS = {
    "adoption",
    "audit",
    "control_models",
    "defaults",
    "graph",
    "ledger",
    "model",
    "places",
    "recovery",
    "search",
    "session",
}
MENTIONED = {"ledger.show", "ledger.verify"}  # the record of memory
MENTIONED |= {
    "adoption.guidance",
    "adoption.capture",
    "adoption.review",
    "knowledge.advise",
    "defaults.propose",
    "defaults.rollback",
}
NOT_MEMORY = {
    name for name, op in REGISTRY.items() if op.run.__module__.rsplit(".", 1)[1] in ABOUT_OTHERS and name not in MENTIONED
} | {"am_i_stale", "brain.confirm", "brain.detach", "instances", "overview"}
MEMORY_VERBS = sorted(set(REGISTRY) - NOT_MEMORY)


def mentions(text: str, verb: str) -> bool:
    return re.search(rf"(?<![\w.]){re.escape(verb)}(?![\w])", text) is not None


@pytest.mark.req("MED-392")
@pytest.mark.parametrize("verb", [verb for verb in MEMORY_VERBS if REGISTRY[verb].everyday])
def test_med_392_the_instructions_name_every_everyday_memory_verb(verb: str) -> None:
    assert mentions(INSTRUCTIONS, verb)


@pytest.mark.req("MED-392")
@pytest.mark.parametrize("verb", MEMORY_VERBS)
def test_med_392_the_rule_text_names_every_memory_verb(verb: str) -> None:
    assert mentions(RULES, verb)


@pytest.mark.req("MED-392")
def test_med_392_the_rule_text_names_no_verb_that_is_gone() -> None:
    told = set(re.findall(r"`([a-z_]+(?:\.[a-z_]+){0,2})`", RULES))
    words = {"memory_misdelivery", "agent_runtime_contract", "non_claims"}  # a class of field reports and parts of answers

    assert told - words <= set(REGISTRY)


@pytest.mark.req("MED-391")
def test_med_391_the_instructions_make_the_five_points() -> None:
    lines = INSTRUCTIONS.lower()

    assert "north first" in lines
    assert re.search(r"memorize.*this project only", lines)
    assert re.search(r"medulla.*read it.*do not copy", lines)
    assert re.search(r"makers propose.*orchestrators promote", lines)
    assert "memory_misdelivery" in lines
    assert all(kind in lines for kind in ("leak", "false_absence", "wrong_store_write", "misattribution", "vanished"))
