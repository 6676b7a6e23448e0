"""Operations of a session: health, handshake, selftest, playbook, doctor, cross_verify, help, operations."""

import difflib
from collections.abc import Collection
from contextlib import suppress
from typing import Annotated, Any

from msgspec import Meta

from hindbrain.domain.errors import BrainlessRoot, InvalidParams, StoreBehind, UnknownOperation
from hindbrain.domain.places import ProjectFile
from hindbrain.operations.registry import REGISTRY, Effect, describe, operation
from hindbrain.policy.texts import RULES
from hindbrain.services.call import Call
from hindbrain.services.verify import CHECKS

__all__ = [
    "am_i_stale",
    "cross_verify",
    "doctor",
    "health",
    "help_",
    "operations",
    "recovery_playbook",
    "session_handshake",
    "trust_selftest",
]

# The tools by which knowledge is used, each with the family of operations that it has here.
_KNOWLEDGE_TOOLS = {"context": "context", "brief": "brief", "adoption": "adoption", "bus": "cowork"}
_WITH_ACTIONS = ("adoption", "bus")
_STRANGE = (
    "Stop: this session reaches another brain than the one you were given. Set the variables of your packet, or ask its maker."
)

Scope = Annotated[ProjectFile | None, Meta(description="the scope you asked for")]
Tools = Annotated[list[str] | None, Meta(description="tools your host shows you")]


@operation("health", effect=Effect.READ)
def health(call: Call, scope: Annotated[str | None, Meta(description="owner for the totals")] = None) -> dict[str, Any]:
    """Show how the served brain is: its counts, counters and binding."""
    return call.house.standing.health(call.caller, scope=scope)


@operation("session_handshake", effect=Effect.READ)
def session_handshake(
    call: Call,
    scope: Scope = None,
    observed_tool_count: int | None = None,
    available_tools: Tools = None,
    missing_tools: Tools = None,
    expected_binding: Annotated[dict[str, Any] | None, Meta(description="binding of your packet, or fingerprint you had")] = None,
) -> dict[str, Any]:
    """Say who serves this session, from which files, how far to trust it, and where a write would go. Probes nothing."""
    answer = call.house.standing.handshake(call.caller, scope=scope, available=available_tools, missing=missing_tools or ())
    return answer if expected_binding is None else answer | _compared(expected_binding, answer, call)


def _compared(expected: dict[str, Any], answer: dict[str, Any], call: Call) -> dict[str, Any]:
    """Whether this session reached the brain that somebody named, with both values. What names no brain proves nothing."""
    brain = call.house.router.route(call.caller).brain
    own = {"workspace_root": brain.root if brain else None, "fingerprint": brain.fingerprint if brain else None}
    actual = answer["binding_fingerprint"] | own
    named = {key: value for key, value in expected.items() if key in actual}
    match = bool(named) and all(actual[key] == value for key, value in named.items())
    return {
        **({} if match else {"next_action": _STRANGE}),
        "binding_match": match,
        "expected_binding": named,
        "actual_binding": {key: actual[key] for key in {**own, **named}},
    }


def _observed(**facts: Any) -> dict[str, Any]:
    return {key: value for key, value in facts.items() if value is not None}


@operation("trust_selftest", effect=Effect.READ)
def trust_selftest(
    call: Call,
    scope: Scope = None,
    available_tools: Tools = None,
    missing_tools: Tools = None,
    observed_tool: str | None = None,
    observed_proof_state: str | None = None,
    observed_candidates: int | None = None,
    error_text: str | None = None,
) -> dict[str, Any]:
    """Give a verdict on this binding, with the way back to trust when it is not good."""
    observed = _observed(
        observed_tool=observed_tool,
        observed_proof_state=observed_proof_state,
        observed_candidates=observed_candidates,
        error_text=error_text,
    )
    return call.house.standing.selftest(
        call.caller, scope=scope, available=available_tools, missing=missing_tools or (), observed=observed
    )


@operation("recovery_playbook", effect=Effect.READ)
def recovery_playbook(
    call: Call,
    scope: Scope = None,
    available_tools: Tools = None,
    missing_tools: Tools = None,
    observed_tool: str | None = None,
    observed_proof_state: str | None = None,
    observed_candidates: int | None = None,
    error_text: str | None = None,
    workspace_binding_mismatch: dict[str, Any] | None = None,
) -> dict[str, Any]:
    """Lay out the steps back to trusted retrieval. Takes recovery.arguments of any answer as they are; does nothing itself."""
    observed = _observed(
        observed_tool=observed_tool,
        observed_proof_state=observed_proof_state,
        observed_candidates=observed_candidates,
        error_text=error_text,
    )
    asked = scope or (workspace_binding_mismatch or {}).get("requested_scope")
    return call.house.standing.playbook(
        call.caller, scope=asked, available=available_tools, missing=missing_tools or (), observed=observed
    )


@operation("doctor", effect=Effect.READ, everyday=True, progress=True)
def doctor(
    call: Call,
    scan: Annotated[bool, Meta(description="also every file against the hygiene floor, and every ledger entry")] = False,
    scope: Scope = None,
    available_tools: Tools = None,
    missing_tools: Annotated[list[str] | None, Meta(description="tools you miss")] = None,
    observed_tool: str | None = None,
    observed_tool_count: int | None = None,
    observed_proof_state: str | None = None,
    observed_candidates: int | None = None,
    observed_query: Annotated[str | None, Meta(description="words that you searched for in vain")] = None,
    error_text: str | None = None,
) -> dict[str, Any]:
    """Look at every brain, file and record of this home, and say what is wrong and what to do. Changes nothing."""
    observed = _observed(
        observed_tool=observed_tool,
        observed_tool_count=observed_tool_count,
        observed_proof_state=observed_proof_state,
        observed_candidates=observed_candidates,
        error_text=error_text,
    )
    answer = call.house.doctor.doctor(
        call.caller,
        scope=scope,
        observed=observed,
        deep=scan,
        available=available_tools,
        missing=missing_tools or (),
        hits=_literal_hits(call, observed_query),
    )
    listed = call.caller.listed_tools
    return answer if listed is None else answer | {"mcp": _knowledge_tools(listed)}


def _knowledge_tools(listed: Collection[str]) -> dict[str, Any]:
    """Return whether this session lists the tools by which knowledge is used, and the actions of each family.

    A tool that is not listed can still be called by its name; `callable` shows whether this server has it."""
    offered = [name for name, op in REGISTRY.items() if "mcp" not in op.left_out]
    actions = {tool: sorted(_family(offered, family, ".")) for tool, family in _KNOWLEDGE_TOOLS.items()}
    rows = [
        {
            "name": tool,
            "family": family,
            "advertised": bool(_family(listed, family, "_")),
            "callable": bool(actions[tool]),
        }
        for tool, family in _KNOWLEDGE_TOOLS.items()
    ]
    hidden = [str(row["name"]) for row in rows if row["callable"] and not row["advertised"]]
    return {
        "required_tools": rows,
        **{f"{tool}_actions": [name.partition(".")[2] for name in actions[tool]] for tool in _WITH_ACTIONS},
        **({"fix": f"hindbrain mcp --profile full lists {', '.join(hidden)}"} if hidden else {}),
    }


def _family(names: Collection[str], family: str, separator: str) -> list[str]:
    """Return the names that are the family's own name or begin with it."""
    return [name for name in names if name == family or name.startswith(f"{family}{separator}")]


def _literal_hits(call: Call, query: str | None) -> int | None:
    """How many claims hold the words of a failed question as they stand; None when no question was told."""
    brain = call.house.router.route(call.caller).brain
    if not query or not query.strip() or brain is None:
        return None
    wanted = query.casefold()
    with suppress(StoreBehind), call.house.brains.looking(), call.house.brains.use(brain) as opened:
        return sum(version.active and wanted in version.text.casefold() for version in opened.store.each_live())
    return None


@operation("cross_verify", effect=Effect.READ, raises=(BrainlessRoot, InvalidParams))
def cross_verify(
    call: Call,
    check: Annotated[list[str] | None, Meta(description="existence, loc, hash, evidence_freshness; all when left out")] = None,
    scope: Annotated[ProjectFile | None, Meta(description="paths that begin so")] = None,
    include_dotfiles: Annotated[bool, Meta(description="look at hidden files too")] = False,
    dotfile_patterns: Annotated[list[str] | None, Meta(description="which hidden files, e.g. .github/**")] = None,
) -> dict[str, Any]:
    """Compare the graph with the disk, and claims with the files they cite. Changes nothing."""
    known = (*CHECKS, "evidence_freshness")
    checks = check or list(known)
    if unknown := set(checks) - set(known):
        raise InvalidParams(f"no check {', '.join(sorted(unknown))}", fix=f"use {', '.join(known)}")
    patterns = tuple(dotfile_patterns or ()) if include_dotfiles else None
    answer: dict[str, Any] = {"ok": True, "schema": "hindbrain-cross-verify-v0", "checks_run": checks}
    with call.house.brains.use(call.house.router.write_route(call.caller)) as opened:
        if set(checks) & set(CHECKS):
            answer |= call.house.verify.graph_and_disk(opened, checks=checks, scope=scope, patterns=patterns)
    if "evidence_freshness" in checks:
        answer |= call.house.doctor.cross_verify(call.caller)
    return answer


@operation("am_i_stale", effect=Effect.READ, positional=("files",), raises=(BrainlessRoot, InvalidParams))
def am_i_stale(
    call: Call,
    files: Annotated[list[ProjectFile] | None, Meta(description="paths to look at; all ingested ones when left out")] = None,
) -> dict[str, Any]:
    """Tell which ingested files changed on the disk since, without reading them into the graph."""
    with call.house.brains.use(call.house.router.write_route(call.caller)) as opened:
        found = call.house.verify.stale(opened, files)
    stale = found["stale"]
    said = "No code was taken in yet." if found["needs_ingest"] else f"{len(stale)} of {found['checked']} files changed."
    return {"ok": True, "schema": "hindbrain-am-i-stale-v0", **found, "rendered": "\n".join([said, *stale[:20]])}


@operation(
    "help",
    effect=Effect.READ,
    positional=("tool_name",),
    raises=(UnknownOperation,),
    left_out={"cli": "the program's own --help shows it"},
)
def help_(
    call: Call,
    tool_name: str | None = None,
    intent: Annotated[str | None, Meta(description="what you want to do")] = None,
    error_text: Annotated[str | None, Meta(description="an error you met")] = None,
) -> dict[str, Any]:
    """List the operations, explain one, or propose one for an intent or an error."""
    if tool_name is not None:
        op = REGISTRY.get(tool_name) or REGISTRY.get(tool_name.replace("_", "."))
        if op is None:
            near = difflib.get_close_matches(tool_name, REGISTRY, n=3)
            raise UnknownOperation(
                f"there is no operation {tool_name[:80]!r}", fix=f"did you mean {', '.join(near)}?" if near else "call help"
            )
        return describe(op)
    listed = {name: REGISTRY[name].summary for name in sorted(REGISTRY)}
    if intent is None and error_text is None:
        return {"operations": listed, "rules": RULES}
    words = set(f"{intent or ''} {error_text or ''}".lower().split())
    scored = sorted(listed, key=lambda name: -len(words & set(f"{name} {REGISTRY[name].help}".lower().split())))
    return {"proposed": scored[0], "why": listed[scored[0]], "alternatives": scored[1:3]}


@operation("operations", effect=Effect.READ)
def operations(call: Call) -> dict[str, Any]:
    """List the registry itself: every operation with its effect, schema and surfaces."""
    return {"operations": [describe(REGISTRY[name]) for name in sorted(REGISTRY)]}
