"""Operations on missions: begin one, tell what was done, ask what is next, prove what is claimed, hand over, close."""

from typing import Annotated, Any

from msgspec import Meta

from hindbrain.domain.errors import (
    BrainlessRoot,
    CallerRootUnknown,
    ClaimTooLarge,
    HandoverBroken,
    HumanNeeded,
    HygieneRefused,
    InvalidParams,
    MissionClosed,
    MissionForeign,
    MissionOpen,
    PathRefused,
    Rejected,
    UnknownMission,
)
from hindbrain.domain.places import ProjectFile, RepositoryName, SourcePath
from hindbrain.operations.registry import Effect, operation
from hindbrain.services.call import Call

__all__ = [
    "abandon",
    "claim",
    "close",
    "event",
    "explain",
    "export",
    "flight",
    "handoff",
    "heard",
    "import_",
    "listed",
    "next_move",
    "resume",
    "run",
    "start",
    "status",
    "verify",
    "verify_chain",
    "verify_packet",
]

MissionId = Annotated[str | None, Meta(description="id of the mission (msn_…); without it, your one active mission here")]
SeenMissionId = Annotated[
    str | None, Meta(description="id of the mission (msn_…); without it, your one active mission here, else your latest")
]
Text = Annotated[str, Meta(min_length=1, max_length=8_000)]
Confidence = Annotated[Annotated[float, Meta(ge=0, le=1)] | None, Meta(description="how sure you are, 0 to 1")]
Refs = Annotated[
    Annotated[list[ProjectFile], Meta(max_length=200)] | None,
    Meta(description="what shows it: evt_… of this mission, or KIND:PATH[:LINE], e.g. direct_source:src/a.py:12"),
]
Names = Annotated[list[str], Meta(max_length=200)] | None
Files = Annotated[list[ProjectFile], Meta(max_length=200)] | None

_READ = (BrainlessRoot, CallerRootUnknown, InvalidParams, UnknownMission)
_WRITE = (*_READ, ClaimTooLarge, HygieneRefused, MissionClosed, MissionForeign, Rejected)


@operation("mission.start", effect=Effect.WRITE, positional=("task",), raises=(*_WRITE, HandoverBroken, PathRefused))
def start(
    call: Call,
    task: Annotated[Text, Meta(description="what is to be found out or done, in plain words")],
    mode: Annotated[
        str,
        Meta(
            description="bug_hunt, review, refactor, docs_drift, architecture, release, host_recovery, orientation or task; "
            "task needs criteria"
        ),
    ] = "review",
    repo: Annotated[RepositoryName | None, Meta(description="repository that is meant; default is the caller's")] = None,
    budget: Annotated[
        str | dict[str, Any],
        Meta(description="short, normal, deep, or tool_calls_max, files_read_max and soft_deadline_ms as an object"),
    ] = "normal",
    risk: Annotated[str, Meta(description="low, medium or high")] = "medium",
    criteria: Annotated[Annotated[list[str], Meta(max_length=50)] | None, Meta(description="what has to hold at the end")] = None,
    known_targets: Annotated[
        Annotated[list[ProjectFile], Meta(max_length=100)] | None, Meta(description="files that are meant for certain")
    ] = None,
    scope: Annotated[
        Annotated[str, Meta(max_length=1_000)] | None, Meta(description="part of the repository that is meant")
    ] = None,
    non_goals: Annotated[Annotated[list[str], Meta(max_length=50)] | None, Meta(description="what it does not aim at")] = None,
    federation_intent: Annotated[bool, Meta(description="work over several repositories on purpose")] = False,
    parent_mission_id: Annotated[str | None, Meta(description="mission whose last hand-over this one goes on from")] = None,
) -> dict[str, Any]:
    """Begin a mission: route, budget, workspace guard, what experience says, and the first moves.

    Use it for a review, a bug hunt, a risky change, a release check or anything that has to be proven; not for a small exact
    edit. Then work in turns: mission next says the one next move, mission event tells what was really done."""
    return call.house.missions.start(
        call.caller,
        task=task,
        mode=mode,
        repo=repo,
        budget=budget,
        risk=risk,
        criteria=criteria,
        known_targets=known_targets,
        scope=scope,
        non_goals=non_goals,
        federation_intent=federation_intent,
        parent_mission_id=parent_mission_id,
    )


@operation("mission.event", effect=Effect.WRITE, positional=("event_type", "target"), raises=(*_WRITE, HumanNeeded, PathRefused))
def event(
    call: Call,
    event_type: Annotated[
        Annotated[str, Meta(max_length=80)] | None,
        Meta(description="what was done: file_read, literal_search, test_run, dead_path, dissent, …"),
    ] = None,
    target: Annotated[
        Annotated[str, Meta(max_length=4_000)] | None, Meta(description="file, query or command it was done to")
    ] = None,
    outcome: Annotated[
        Annotated[str, Meta(max_length=80)] | None, Meta(description="found, empty, passed, failed, ruled_out, …")
    ] = None,
    tool: Annotated[Annotated[str, Meta(max_length=200)] | None, Meta(description="name of the tool that was used")] = None,
    payload: Annotated[
        dict[str, Any] | None, Meta(description="details: range, query, hits, why, command, exit_status, …")
    ] = None,
    event: Annotated[dict[str, Any] | None, Meta(description="the whole event as one object; its fields win")] = None,
    evidence_class: Annotated[
        Annotated[str, Meta(max_length=80)] | None, Meta(description="default follows from the type")
    ] = None,
    failure_class: Annotated[
        Annotated[str, Meta(max_length=80)] | None, Meta(description="logical or environmental, when it failed")
    ] = None,
    duration_ms: Annotated[int, Meta(ge=0, le=86_400_000, description="how long it took")] = 0,
    confidence: Confidence = None,
    mission_id: MissionId = None,
) -> dict[str, Any]:
    """Tell a mission what was really done. A cited file is read and its digest kept; what nobody can check stays a statement.

    A dead end is event_type dead_path with payload.why; acting against a do_not is event_type dissent with payload why,
    chosen_tool and evidence_required. Commands that ought to count as proof run through `hindbrain mission run`."""
    told = {
        "event_type": event_type,
        "target": target,
        "outcome": outcome,
        "tool": tool,
        "payload": payload,
        "evidence_class": evidence_class,
        "failure_class": failure_class,
        "duration_ms": duration_ms,
        "agent_confidence": confidence,
    }
    return call.house.missions.recording.event(call.caller, mission_id=mission_id, told=told, whole=event)


@operation("mission.next", effect=Effect.WRITE, raises=(*_WRITE, HumanNeeded, PathRefused))
def next_move(
    call: Call,
    last_event: Annotated[dict[str, Any] | None, Meta(description="what was done since, recorded first")] = None,
    mission_id: MissionId = None,
) -> dict[str, Any]:
    """Say the one next move of a mission, and what not to do now, each with its reason."""
    return call.house.missions.advising.next(call.caller, mission_id=mission_id, last_event=last_event)


@operation("mission.claim", effect=Effect.WRITE, positional=("claim",), raises=_WRITE)
def claim(
    call: Call,
    claim: Annotated[Text, Meta(description="the conclusion, in one sentence")],
    targets: Annotated[Files, Meta(description="files it is about")] = None,
    criteria: Annotated[Names, Meta(description="criteria of the mission it answers")] = None,
    evidence_refs: Refs = None,
    confidence: Confidence = None,
    mission_id: MissionId = None,
) -> dict[str, Any]:
    """Register a conclusion that is still to be proven. It counts for nothing until mission verify has judged it."""
    return call.house.missions.claim(
        call.caller,
        mission_id=mission_id,
        text=claim,
        targets=targets,
        criteria=criteria,
        evidence_refs=evidence_refs,
        confidence=confidence,
    )


@operation("mission.verify", effect=Effect.WRITE, positional=("claim",), raises=(*_WRITE, PathRefused))
def verify(
    call: Call,
    claim: Annotated[Text, Meta(description="id of a claim (clm_…), or its text")],
    evidence_class: Annotated[
        str, Meta(max_length=80, description="what kind of evidence it is, e.g. direct_source, direct_test")
    ],
    evidence_refs: Refs = None,
    targets: Annotated[Files, Meta(description="files it is about")] = None,
    criteria: Annotated[Names, Meta(description="criteria of the mission it answers")] = None,
    confidence: Confidence = None,
    mission_id: MissionId = None,
) -> dict[str, Any]:
    """Judge a claim by what was read, run or found again, and only if that shows what it says; the graph never does."""
    return call.house.missions.verify(
        call.caller,
        mission_id=mission_id,
        claim=claim,
        evidence_class=evidence_class,
        evidence_refs=evidence_refs,
        targets=targets,
        criteria=criteria,
        confidence=confidence,
    )


@operation("mission.handoff", effect=Effect.WRITE, raises=_WRITE)
def handoff(
    call: Call,
    summary: Annotated[Annotated[str, Meta(max_length=1_200)] | None, Meta(description="how it stands, in your words")] = None,
    recipient: Annotated[
        Annotated[str, Meta(max_length=200)] | None, Meta(description="agent who is to go on; anybody without it")
    ] = None,
    leave: Annotated[bool, Meta(description="stop working on it; with false it stays yours and active")] = True,
    mission_id: MissionId = None,
) -> dict[str, Any]:
    """Write down all the next agent needs: what is proven, what was refuted, dead ends, files read, tests run, the next move."""
    return call.house.missions.handoff(call.caller, mission_id=mission_id, summary=summary, recipient=recipient, leave=leave)


@operation("mission.resume", effect=Effect.WRITE, positional=("mission_id",), raises=(*_WRITE, HandoverBroken))
def resume(
    call: Call,
    mission_id: Annotated[str, Meta(max_length=80, description="mission (msn_…) or hand-over (hnd_…) to go on from")],
) -> dict[str, Any]:
    """Go on with a mission. Your own is taken up again; another agent's becomes a mission of yours, made from its hand-over."""
    return call.house.missions.resume(call.caller, mission_id=mission_id)


@operation("mission.close", effect=Effect.WRITE, raises=(*_WRITE, MissionOpen))
def close(
    call: Call,
    summary: Annotated[Annotated[str, Meta(max_length=4_000)] | None, Meta(description="what came of it, in your words")] = None,
    gaps: Annotated[
        Annotated[list[str], Meta(max_length=100)] | None,
        Meta(description="what stays open, said openly: ids of claims or sentences"),
    ] = None,
    force: Annotated[bool, Meta(description="close though something required is open; the packet says so")] = False,
    reason: Annotated[Annotated[str, Meta(max_length=2_000)] | None, Meta(description="why it is closed by force")] = None,
    write_light: Annotated[bool, Meta(description="also write the verified claims as a L1GHT note")] = False,
    mission_id: MissionId = None,
) -> dict[str, Any]:
    """Close a mission with its proof packet. Refused, with the reasons, while something it requires is open."""
    return call.house.missions.close(
        call.caller, mission_id=mission_id, summary=summary, gaps=gaps, force=force, reason=reason, write_light=write_light
    )


@operation("mission.abandon", effect=Effect.WRITE, raises=_WRITE)
def abandon(
    call: Call,
    reason: Annotated[Text, Meta(description="why it is given up")],
    mission_id: MissionId = None,
) -> dict[str, Any]:
    """Give a mission up. What it learned stays: its packet lists what is proven and what is not."""
    return call.house.missions.abandon(call.caller, mission_id=mission_id, reason=reason)


@operation("mission.status", effect=Effect.READ, positional=("mission_id",), raises=_READ)
def status(
    call: Call,
    mission_id: SeenMissionId = None,
    at: Annotated[Annotated[int, Meta(ge=0)] | None, Meta(description="as it stood after this event")] = None,
    events: Annotated[int, Meta(ge=0, le=1_000, description="how many of its last events to show")] = 10,
) -> dict[str, Any]:
    """Show how a mission stands: route, budget, guard, claims, warnings, last events."""
    return call.house.missions.telling.status(call.caller, mission_id=mission_id, at=at, events=events)


@operation("mission.list", effect=Effect.READ, raises=(BrainlessRoot, CallerRootUnknown, InvalidParams))
def listed(
    call: Call,
    agent: Annotated[Annotated[str, Meta(max_length=200)] | None, Meta(description="only missions of this agent")] = None,
    state: Annotated[str | None, Meta(description="only active, handed_off, closed or abandoned ones")] = None,
    limit: Annotated[int, Meta(ge=1, le=200, description="missions at most, the latest first")] = 20,
    standing: Annotated[
        bool, Meta(description="also how far each is: budget used, claims, warnings; reads their events")
    ] = False,
) -> dict[str, Any]:
    """List the missions of this project, the latest first."""
    return call.house.missions.telling.listed(call.caller, agent=agent, state=state, limit=limit, standing=standing)


@operation("route_explain", effect=Effect.READ, positional=("mission_id",), raises=_READ)
def explain(call: Call, mission_id: MissionId = None) -> dict[str, Any]:
    """Say which rule gives the next move of a mission, and by which facts. Changes nothing."""
    return call.house.missions.advising.explain(call.caller, mission_id=mission_id)


@operation("flight", effect=Effect.READ, positional=("mission_id",), raises=_READ)
def flight(
    call: Call,
    mission_id: SeenMissionId = None,
    records: Annotated[int, Meta(ge=0, le=10_000, description="how many of the last records to give")] = 50,
) -> dict[str, Any]:
    """Show the flight record of a mission: what was done, for what reason, on which evidence, and where it went in circles."""
    return call.house.missions.telling.flight(call.caller, mission_id=mission_id, records=records)


@operation("mission.export", effect=Effect.READ, positional=("mission_id",), raises=_READ)
def export(
    call: Call,
    mission_id: SeenMissionId = None,
    format: Annotated[str, Meta(description="state, events, flight, handoff, proof or prov-json")] = "state",  # noqa: A002
    file: Annotated[bool, Meta(description="also the text of the file that verify_packet takes, byte for byte")] = False,
) -> dict[str, Any]:
    """Give a mission as data: its state, events, flight record, hand-over, proof packet or PROV-JSON.

    On the command line --out FILE writes it as a file, byte for byte as verify-packet wants it; a file that is there is never
    overwritten."""
    return call.house.missions.telling.export(call.caller, mission_id=mission_id, form=format, file=file)


@operation(
    "mission.import",
    effect=Effect.WRITE,
    positional=("file",),
    raises=(*_WRITE, PathRefused),
    left_out={"mcp": "a file is taken in by whoever has it, at a terminal", "http": "a file is taken in at a terminal"},
)
def import_(
    call: Call,
    file: Annotated[SourcePath, Meta(max_length=4_000, description="state of a mission, also one of the earlier four-call loop")],
) -> dict[str, Any]:
    """Go on here with a mission that was begun elsewhere. Its events are kept as told, its claims have to be verified again."""
    return call.house.missions.importing.take_in(call.caller, path=file)


@operation("mission.verify_chain", effect=Effect.READ, positional=("mission_id",), raises=_READ)
def verify_chain(call: Call, mission_id: SeenMissionId = None) -> dict[str, Any]:
    """Compute the chain of a mission's events again and name the first that does not hold."""
    return call.house.missions.telling.verify_chain(call.caller, mission_id=mission_id)


@operation("mission.verify_packet", effect=Effect.READ, positional=("file",), raises=(InvalidParams, PathRefused))
def verify_packet(
    call: Call,
    file: Annotated[SourcePath, Meta(max_length=4_000, description="proof packet, as mission export --format proof gives it")],
    events: Annotated[
        Annotated[SourcePath, Meta(max_length=4_000)] | None,
        Meta(description="its events.jsonl, to check the whole chain; default is beside the packet"),
    ] = None,
) -> dict[str, Any]:
    """Check a proof packet, also one of another machine: every byte, its digest, and its events where they are at hand."""
    return call.house.missions.telling.verify_packet(call.caller, path=file, events=events)


@operation(
    "mission.run",
    effect=Effect.WRITE,
    positional=("command",),
    raises=(*_WRITE, PathRefused),
    left_out={
        "mcp": "a command runs in the terminal of whoever gives it: hindbrain mission run -- COMMAND",
        "http": "a command runs in the terminal of whoever gives it: hindbrain mission run -- COMMAND",
    },
)
def run(
    call: Call,
    command: Annotated[list[str], Meta(min_length=1, max_length=1_000, description="the command and its arguments")],
    mission_id: MissionId = None,
) -> dict[str, Any]:
    """Run a command and record it as evidence: the command, its exit code and a digest of what it printed.

    The command runs here, without a shell, in the working directory; its output is shown as it comes."""
    return call.house.missions.recording.run(call.caller, mission_id=mission_id, argv=command)


@operation(
    "mission.heard",
    effect=Effect.WRITE,
    raises=_WRITE,
    left_out={"mcp": "what a host's own hook reports; an agent tells with mission_event"},
)
def heard(
    call: Call,
    payload: Annotated[dict[str, Any], Meta(description="what the host gave its hook after a tool was used")],
) -> dict[str, Any]:
    """Record what a host's hook tells of a tool that was used, in the active mission of that agent. Without one, nothing.

    A command counts as seen when the hook itself tells it, with its own token; from an agent it is a statement."""
    return call.house.missions.recording.heard(call.caller, payload=payload)
