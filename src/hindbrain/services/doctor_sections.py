"""Sections of the doctor: a warning as a row, and the warnings by the part of the home that they are about."""

from typing import Any

from hindbrain.engines.diagnosis import DIAGNOSES
from hindbrain.services.home_files import FileProblem

__all__ = ["STALE_BINDING", "cause_of", "diagnosed", "file_warning", "finding_warning", "sections", "warning"]

_CLAIM_FIX = "take it out and rotate it; a person can forget the claim"
_LETTER_FIX = "take the line out and rotate the secret; if the file is in git, its history has it too"
STALE_BINDING = "the binding answered from another process or workspace"

# What a diagnosis means, in one sentence for a person.
_CAUSES = {
    "dead_mcp_transport": "the connection between the host and the server is gone",
    "missing_recovery_tools": "the host does not show tools that recovery needs",
    "stale_host_tool_surface": "the host shows an old tool list",
    "wrong_workspace": "the session is bound to another workspace than the one asked for",
    "mixed_path_config": "different programs are meant by the name hindbrain",
    "stale_package": "an older version is installed than the one expected",
    "stale_runtime": "the running server is not the installed version",
    "build_mismatch": "the running server comes from another build than the one expected",
    "graph_populated_retrieval_blocked": "the indexes do not match what is stored",
}

# Which part of the house a warning is about; what is not named here is about the memory of a brain.
_SECTIONS = {
    "runtime": (*DIAGNOSES, "token_readable", "token_damaged", "file_damaged", "passphrase_damaged"),
    "brains": ("brain_unreachable", "root_missing", "repository_changed", "manifest_mismatch", "uncounted"),
    "indexes": (
        "index_lag",
        "database_damaged",
        "vectors_lag",
        "model_damaged",
        "graph_stale",
        "files_damaged",
        "learned_lost",
        "set_aside",
        "mirror_damaged",
    ),
    "environment": ("schema_newer", "database_unreadable", "schema_behind"),
    "knowledge": ("card_unbacked", "card_evidence_gone"),
    "record": ("ledger_broken", "half_promoted", "half_migrated", "malformed_row"),
    "memory": (),
}


def sections(warnings: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The warnings by part of the house, each part with its own verdict."""
    place = {kind: name for name, kinds in _SECTIONS.items() for kind in kinds}
    found: list[dict[str, Any]] = []
    for name in _SECTIONS:
        mine = [one for one in warnings if place.get(one["kind"], "memory") == name]
        levels = {one["level"] for one in mine}
        status = "blocked" if "blocked" in levels else "warn" if levels else "ok"
        found.append({"section": name, "status": status, "findings": len(mine), "kinds": sorted({one["kind"] for one in mine})})
    return found


def diagnosed(one: dict[str, Any]) -> dict[str, Any]:
    first = next((step for step in one["plan"] if step["command"]), one["plan"][0])
    evidence = ", ".join(f"{key} {value}" for key, value in one["evidence"].items() if isinstance(value, str | int))
    return warning("warn", one["diagnosis"], evidence or first["action"], first["command"] or first["action"])


def file_warning(one: FileProblem) -> dict[str, Any]:
    """A file that is not what it should be, as a warning."""
    return warning("warn", one.kind, f"{one.path}: {one.why}", one.fix)


def cause_of(one: dict[str, Any]) -> str:
    """Return the probable cause that a diagnosis names, as a sentence with its name."""
    return f"{one['diagnosis']}: {_CAUSES[one['diagnosis']]}"


def finding_warning(one: dict[str, Any]) -> dict[str, Any]:
    text = f"{one['path']}: line {one['line']} looks like {one['pattern_class']}"
    fix = _LETTER_FIX if one["path"].endswith(".jsonl") else _CLAIM_FIX
    return {**warning("warn", "hygiene", text, fix), "brain": one["brain"]}


def warning(level: str, kind: str, text: str, fix: object) -> dict[str, Any]:
    return {"level": level, "kind": kind, "text": text, "fix": fix}
