"""Operations on delegation: a packet for a child, and what the child brings back."""

from typing import Annotated, Any, Literal

import msgspec
from msgspec import Meta

from hindbrain.domain.agent_errors import UnknownDelegation
from hindbrain.domain.errors import (
    BrainlessRoot,
    CallerRootUnknown,
    ClaimTooLarge,
    HygieneRefused,
    InvalidLabel,
    InvalidParams,
    PathRefused,
    UnknownClaim,
)
from hindbrain.domain.places import ProjectFile
from hindbrain.operations.registry import Effect, operation
from hindbrain.policy.delegation import (
    DIFF_MAX,
    FINDINGS_MAX,
    MAX_NODES,
    PACKET_TOKENS,
    PACKET_TOKENS_MIN,
    PATH_MAX,
    PATHS_MAX,
    REPORT_MAX,
    SEED_MAX,
    SEEDS_MAX,
    TASK_MAX,
)
from hindbrain.services.call import Call

__all__ = ["FindingTold", "MemoryWish", "PacketBudget", "ScopeWish", "ShownBy", "debrief", "delegate"]

Path = Annotated[ProjectFile, Meta(max_length=PATH_MAX)]
Seed = Annotated[str, Meta(max_length=SEED_MAX)]
Name = Annotated[str, Meta(max_length=200)]
Id = Annotated[str, Meta(max_length=80)]


class ScopeWish(msgspec.Struct, kw_only=True, forbid_unknown_fields=True):
    """What the child may touch."""

    paths: Annotated[
        Annotated[list[Path], Meta(max_length=PATHS_MAX)] | None, Meta(description="files and directories of the repository")
    ] = None
    seeds: Annotated[
        Annotated[list[Seed], Meta(max_length=SEEDS_MAX)] | None, Meta(description="names in the code to begin at")
    ] = None


class PacketBudget(msgspec.Struct, kw_only=True, forbid_unknown_fields=True):
    """How large a packet may be."""

    tokens: Annotated[int, Meta(ge=PACKET_TOKENS_MIN, description="of the text; 8000 is the most")] = PACKET_TOKENS
    max_nodes: Annotated[int, Meta(ge=1, le=100, description="files of a scope that the task itself gives")] = MAX_NODES


class MemoryWish(msgspec.Struct, kw_only=True, forbid_unknown_fields=True):
    """Which memory goes along."""

    slice: Annotated[bool, Meta(description="false: none, to compare")] = True
    pin: Annotated[
        Annotated[list[Name], Meta(max_length=20)] | None, Meta(description="claims of this project or the medulla to add")
    ] = None
    drop: Annotated[Annotated[list[Name], Meta(max_length=50)] | None, Meta(description="claims to leave out")] = None


class FindingTold(msgspec.Struct, kw_only=True, forbid_unknown_fields=True):
    """One thing that the child found out."""

    text: str
    label: Annotated[str | None, Meta(description="its name; the beginning of the text when left out")] = None
    evidence: Annotated[Annotated[list[Path], Meta(max_length=20)] | None, Meta(description="repository-relative paths")] = None


class ShownBy(msgspec.Struct, kw_only=True, forbid_unknown_fields=True):
    """What shows the outcome: a command, and how it ended."""

    command: Annotated[str, Meta(min_length=1, max_length=2000)]
    exit_status: Annotated[int, Meta(ge=-255, le=255)]


@operation(
    "delegate",
    effect=Effect.WRITE,
    positional=("task",),
    progress=True,
    raises=(
        BrainlessRoot,
        CallerRootUnknown,
        HygieneRefused,
        InvalidLabel,
        InvalidParams,
        ClaimTooLarge,
        PathRefused,
        UnknownClaim,
        UnknownDelegation,
    ),
)
def delegate(
    call: Call,
    task: Annotated[str, Meta(max_length=TASK_MAX, description="what the child shall do, in short")],
    scope: Annotated[ScopeWish | None, Meta(description="paths and seeds; found from the task when left out")] = None,
    budget: Annotated[PacketBudget | None, Meta(description="tokens and max_nodes")] = None,
    memory: Annotated[MemoryWish | None, Meta(description="slice, pin, drop")] = None,
    subagent_hint: Annotated[Name | None, Meta(description="the id under which the child shall work, e.g. codex:maker-2")] = None,
    under: Annotated[Id | None, Meta(description="a packet you work under: the new one is cut to its scope")] = None,
    tier: Annotated[Name | None, Meta(description="ignored: a packet holds the default beat")] = None,
) -> dict[str, Any]:
    """Compose the packet of a child: which brain, which paths, which memory, what is not known, and how to report.

    Changes nothing but the record of the packet, by which `debrief` grades what comes back. Hand `prompt_markdown` to the child
    after its brief, and the variables of `mission.binding.env` to its process. Without code in the graph, or without anything
    that the task or its seeds name, there is no packet, and the answer says why.
    """
    from hindbrain.services.delegation import Wish

    where, size, kept = scope or ScopeWish(), budget or PacketBudget(), memory or MemoryWish()
    return call.house.delegation.packets.delegate(
        call.caller,
        Wish(
            task=task,
            paths=tuple(where.paths or ()),
            seeds=tuple(where.seeds or ()),
            tokens=size.tokens,
            max_nodes=size.max_nodes,
            slice=kept.slice,
            pin=tuple(kept.pin or ()),
            drop=tuple(kept.drop or ()),
            subagent_hint=subagent_hint or None,
            under=under or None,
            tier=tier,
        ),
    )


@operation(
    "debrief",
    effect=Effect.WRITE,
    idempotent=True,
    positional=("delegation_id",),
    raises=(BrainlessRoot, CallerRootUnknown, HygieneRefused, InvalidParams, UnknownDelegation),
)
def debrief(
    call: Call,
    delegation_id: Annotated[Id, Meta(description="of the packet")],
    subagent_id: Annotated[Name, Meta(description="the child; its findings carry this name")],
    outcome: Literal["success", "failure", "partial"],
    findings: Annotated[
        Annotated[list[str | FindingTold], Meta(max_length=FINDINGS_MAX)] | None,
        Meta(description="texts, or objects with text, label, evidence"),
    ] = None,
    touched_paths: Annotated[
        Annotated[list[Path], Meta(max_length=2000)] | None, Meta(description="files that the child changed")
    ] = None,
    diff: Annotated[Annotated[str, Meta(max_length=DIFF_MAX)] | None, Meta(description="the same as a unified diff")] = None,
    evidence: Annotated[ShownBy | None, Meta(description="command and exit_status that show the outcome")] = None,
    report_text: Annotated[
        Annotated[str, Meta(max_length=REPORT_MAX)] | None, Meta(description="the child's report: findings are read from it")
    ] = None,
) -> dict[str, Any]:
    """Take in what a child brings back: grade it against its packet, and remember its findings in this project under its name.

    Findings that are refused are named one by one; the others are kept. Nothing goes to the medulla: promote is an act of its
    own. Telling the same twice changes nothing.
    """
    from hindbrain.services.debriefing import Finding, Told

    told = [FindingTold(text=one) if isinstance(one, str) else one for one in findings or ()]
    if any(not one.text.strip() for one in told):
        raise InvalidParams("a finding is empty", fix="leave it out")
    return call.house.delegation.debriefing.debrief(
        call.caller,
        Told(
            delegation_id=delegation_id,
            subagent_id=subagent_id,
            outcome=outcome,
            findings=tuple(Finding(text=one.text, label=one.label, evidence=tuple(one.evidence or ())) for one in told),
            touched_paths=None if touched_paths is None else tuple(touched_paths),
            diff=diff,
            command=evidence.command if evidence else None,
            exit_status=evidence.exit_status if evidence else None,
            report=report_text,
        ),
    )
