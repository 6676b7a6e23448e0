"""Diagnosis: which of nine known faults explain what an agent meets. Pure: signals in, findings out, the likeliest first."""

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

__all__ = ["DIAGNOSES", "NON_CLAIMS", "Diagnosis", "Signals", "Step", "diagnose"]

NON_CLAIMS = (
    "no host rebind is proven without a new handshake",
    "no graph contents were repaired",
    "no retrieval quality is fixed by replacing a program",
    "only the hosts listed here were looked at",
)

_CLOSED = re.compile(
    r"transport (?:is )?closed|connection (?:was )?(?:closed|reset|refused|lost)|broken pipe|not connected|end of file|\bEOF\b",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Signals:
    """Everything a diagnosis looks at. What nobody could find out is None."""

    error_text: str | None = None
    owner_pid: int | None = None
    owner_problem: str | None = None  # why the announced owner did not answer
    offered_tools: tuple[str, ...] = ()
    listed_tools: tuple[str, ...] | None = None  # what the host says it sees
    missing_tools: tuple[str, ...] = ()
    required_tools: tuple[str, ...] = ()
    mismatch: dict[str, Any] | None = None
    installed_version: str = ""
    recorded_version: str | None = None
    editable: bool = False
    expected_version: str | None = None
    installed_build: str | None = None
    expected_build: str | None = None
    running_version: str | None = None
    running_build: str | None = None
    programs: tuple[tuple[str, str], ...] = ()  # (where it is named, the file it leads to)
    nodes: int | None = None
    observed_blocked: bool = False
    literal_hits: int | None = None  # how often the words of the failed question stand in the files themselves
    index_problem: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """One step of a plan. A mutating one is for a person at a terminal; no report carries it out."""

    action: str
    command: str | None = None
    mutating: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Diagnosis:
    """One fault: what shows it, what to do, and what has to be seen before it counts as mended."""

    diagnosis: str
    evidence: dict[str, Any]
    plan: tuple[Step, ...]
    proof_required: tuple[str, ...]


_SHAKE = Step(action="shake hands again and compare the fingerprint", command="hindbrain session-handshake")
_RESTART = Step(action="end the owner; the next client starts what is installed", command="hindbrain stop", mutating=True)


def _dead_transport(s: Signals) -> dict[str, Any] | None:
    if s.owner_problem is not None:
        return {"owner_pid": s.owner_pid, "problem": s.owner_problem}
    if s.error_text and _CLOSED.search(s.error_text):
        return {"error_text": s.error_text[:200]}
    return None


def _missing_recovery_tools(s: Signals) -> dict[str, Any] | None:
    lacking = set(s.missing_tools) | (set(s.required_tools) - set(s.listed_tools) if s.listed_tools is not None else set())
    lacking &= set(s.required_tools)
    return {"missing": sorted(lacking), "required": list(s.required_tools)} if lacking else None


def _stale_tool_surface(s: Signals) -> dict[str, Any] | None:
    lacking = sorted(set(s.offered_tools) - set(s.listed_tools)) if s.listed_tools is not None else []
    return {"offered_but_not_listed": lacking} if lacking else None


def _wrong_workspace(s: Signals) -> dict[str, Any] | None:
    return None if s.mismatch is None else {"mismatch": s.mismatch}


def _stale_package(s: Signals) -> dict[str, Any] | None:
    wanted = {"installed": s.installed_version, "recorded": s.recorded_version, "expected": s.expected_version}
    behind = s.expected_version is not None and _parts(s.installed_version) < _parts(s.expected_version)
    lags = s.editable and s.recorded_version is not None and _parts(s.recorded_version) < _parts(s.installed_version)
    return wanted if behind or lags else None


def _parts(version: str) -> tuple[int, ...]:
    return tuple(int(part) for part in re.findall(r"\d+", version))


def _stale_runtime(s: Signals) -> dict[str, Any] | None:
    if s.running_version is None:
        return None
    other_version = s.running_version != s.installed_version
    other_build = s.running_build is not None and s.running_build != s.installed_build
    if not other_version and not other_build:
        return None
    return {
        "running": {"version": s.running_version, "build": s.running_build},
        "installed": {"version": s.installed_version, "build": s.installed_build},
    }


def _build_mismatch(s: Signals) -> dict[str, Any] | None:
    if s.expected_build is None:
        return None
    here = s.running_build or s.installed_build
    return None if here == s.expected_build else {"expected": s.expected_build, "found": here}


def _mixed_path(s: Signals) -> dict[str, Any] | None:
    different = len({real for _, real in s.programs}) > 1
    return {"programs": [{"named_by": place, "file": real} for place, real in s.programs]} if different else None


def _retrieval_blocked(s: Signals) -> dict[str, Any] | None:
    if not s.nodes:
        return None
    unseen = s.observed_blocked and bool(s.literal_hits)
    if not unseen and s.index_problem is None:
        return None
    return {"node_count": s.nodes, "literal_hits": s.literal_hits, "index": s.index_problem}


# In the order in which faults hide each other: transport, tool surface, binding, build, graph, retrieval.
DIAGNOSES: dict[str, tuple[Callable[[Signals], dict[str, Any] | None], tuple[Step, ...], tuple[str, ...]]] = {
    "dead_mcp_transport": (
        _dead_transport,
        (
            Step(action="recovery tools cannot run through a dead transport: look from a terminal", command="hindbrain doctor"),
            Step(action="prove that the program itself works", command="hindbrain version"),
            Step(action="start a new session of the host; it starts the server again"),
            _SHAKE,
        ),
        ("host_handshake",),
    ),
    "missing_recovery_tools": (
        _missing_recovery_tools,
        (
            Step(action="treat answers as orientation only and verify with the files"),
            Step(action="look from a terminal instead", command="hindbrain doctor"),
            Step(action="reload the host's tool list, or start a new session of it"),
        ),
        ("tool_list", "host_handshake"),
    ),
    "stale_host_tool_surface": (
        _stale_tool_surface,
        (
            Step(action="reload the host's tool list, or start a new session of it"),
            Step(action="compare the lists again", command="hindbrain hosts status"),
        ),
        ("tool_list", "host_handshake"),
    ),
    "wrong_workspace": (
        _wrong_workspace,
        (
            Step(action="read evidence.mismatch: it names both workspaces and the ways out"),
            Step(action="start the server with HINDBRAIN_WORKSPACE_ROOT set to the workspace you mean"),
            _SHAKE,
        ),
        ("host_handshake",),
    ),
    "mixed_path_config": (
        _mixed_path,
        (
            Step(action="decide which of the named programs is meant", command="hindbrain hosts status"),
            Step(action="name that one in the host's configuration", command="hindbrain hosts plan"),
        ),
        ("host_handshake",),
    ),
    "stale_package": (
        _stale_package,
        (
            Step(action="compare both versions", command="hindbrain update status"),
            Step(action="install the expected version", command="hindbrain update plan"),
        ),
        ("version",),
    ),
    "stale_runtime": (_stale_runtime, (_RESTART, _SHAKE), ("version", "build")),
    "build_mismatch": (
        _build_mismatch,
        (Step(action="compare the build ids", command="hindbrain update status"), _RESTART, _SHAKE),
        ("build",),
    ),
    "graph_populated_retrieval_blocked": (
        _retrieval_blocked,
        (
            Step(action="check the indexes, the generation and the scope", command="hindbrain doctor"),
            Step(action="build the indexes again from what is kept", command="hindbrain doctor --fix", mutating=True),
            Step(action="ask the same question again without a scope"),
        ),
        ("retrieval",),
    ),
}


def diagnose(signals: Signals) -> tuple[Diagnosis, ...]:
    """Every fault that the signals show; one that hides others stands before them."""
    found = []
    for name, (shows, plan, proof) in DIAGNOSES.items():
        evidence = shows(signals)
        if evidence is not None:
            found.append(Diagnosis(diagnosis=name, evidence=evidence, plan=plan, proof_required=proof))
    return tuple(found)
