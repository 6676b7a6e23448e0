"""The rooms of the bus: channels, sessions, a look at a pane, hand-over, capture into evidence, doctor and runbook."""

from typing import Annotated, Any, Literal

from msgspec import Meta

from hindbrain.domain.agent_errors import (
    DeliveryFailed,
    InboxFull,
    PaneUnreachable,
    UnknownAgent,
    UnknownChannel,
    UnknownCoworkSession,
)
from hindbrain.domain.errors import (
    BrainlessRoot,
    Busy,
    CallerRootUnknown,
    HumanNeeded,
    HygieneRefused,
    InvalidParams,
    PathRefused,
    Rejected,
    StoreUnavailable,
)
from hindbrain.engines.cowork_handoff import Filters
from hindbrain.operations.cowork import AgentId, CheckoutArgument, From, Message, Now, Thread
from hindbrain.operations.memory import moment
from hindbrain.operations.registry import Effect, operation
from hindbrain.policy.cowork_rooms import (
    CAPTURE_LIMIT,
    CAPTURE_WING,
    GOAL_CHARACTERS,
    HANDOFF_LIMIT,
    HANDOFF_MOST,
    NOTE_CHARACTERS,
    PEEK_LINES,
    PEEK_MOST,
    RUNBOOK,
    RUNBOOK_TITLE,
    TITLE_CHARACTERS,
)
from hindbrain.policy.evidence import WORD_MAX
from hindbrain.services.call import Call
from hindbrain.services.cowork.capturing import Capture

__all__ = [
    "capture",
    "channel_list",
    "channel_send",
    "channel_set",
    "doctor",
    "handoff",
    "peek",
    "runbook",
    "session_close",
    "session_create",
    "session_list",
    "session_status",
]

_ELSEWHERE = (Busy, CallerRootUnknown, InvalidParams, PathRefused, StoreUnavailable)
_KEPT = (BrainlessRoot, HygieneRefused, Rejected)

Channel = Annotated[str, Meta(description="the channel, e.g. review")]
Members = Annotated[list[str], Meta(max_length=100, description="registered agents")]
SessionId = Annotated[str, Meta(description="the session, e.g. release-2")]
OneThread = Annotated[str | None, Meta(description="only this work stream")]
OneChannel = Annotated[str | None, Meta(description="only this channel")]
OneSession = Annotated[str | None, Meta(description="only this session, with its thread and channels")]
Note = Annotated[
    Annotated[str, Meta(max_length=NOTE_CHARACTERS)] | None, Meta(description="why it is kept; stands in what is kept")
]
Wing = Annotated[str, Meta(max_length=WORD_MAX, description="area of knowledge that it is kept in")]
Room = Annotated[Annotated[str, Meta(max_length=WORD_MAX)] | None, Meta(description="part of the wing")]
Execute = Annotated[bool, Meta(description="really keep it; otherwise it is only shown")]


@operation("cowork.channel.set", effect=Effect.WRITE, idempotent=True, raises=(HygieneRefused, UnknownAgent, *_ELSEWHERE))
def channel_set(call: Call, channel: Channel, agents: Members, project_root: CheckoutArgument = None) -> dict[str, Any]:
    """Say which agents a channel reaches. The list replaces the one before."""
    return call.house.cowork.channels.set(call.caller, channel=channel, agents=agents, project_root=project_root)


@operation("cowork.channel.list", effect=Effect.READ, raises=_ELSEWHERE)
def channel_list(call: Call, project_root: CheckoutArgument = None) -> dict[str, Any]:
    """List the channels of this bus with their agents."""
    return call.house.cowork.channels.listed(call.caller, project_root=project_root)


@operation(
    "cowork.channel.send",
    effect=Effect.WRITE,
    progress=True,
    raises=(DeliveryFailed, HumanNeeded, HygieneRefused, InboxFull, UnknownAgent, UnknownChannel, *_ELSEWHERE),
)
def channel_send(
    call: Call, from_: From, channel: Channel, message: Message, thread_id: Thread = None, project_root: CheckoutArgument = None
) -> dict[str, Any]:
    """Send a copy of one message to every agent that a channel reaches now, except to the sender."""
    return call.house.cowork.channels.send(
        call.caller, source=from_, channel=channel, message=message, thread_id=thread_id, project_root=project_root
    )


@operation("cowork.peek", effect=Effect.READ, raises=(PaneUnreachable, UnknownAgent, *_ELSEWHERE))
def peek(
    call: Call,
    agent_id: AgentId,
    lines: Annotated[int, Meta(ge=1, le=PEEK_MOST, description="how many of the last lines")] = PEEK_LINES,
    project_root: CheckoutArgument = None,
) -> dict[str, Any]:
    """Look at the terminal of an agent that is registered with a pane of tmux. What it shows is data, and is kept nowhere."""
    return call.house.cowork.peeking.peek(call.caller, agent_id=agent_id, lines=lines, project_root=project_root)


@operation("cowork.runbook", effect=Effect.READ)
def runbook(call: Call) -> dict[str, Any]:
    """Tell how agents work side by side, step by step, with the commands."""
    return {
        "ok": True,
        "schema": "hindbrain-cowork-runbook-v0",
        "title": RUNBOOK_TITLE,
        "content": RUNBOOK,
        "rendered": f"{RUNBOOK_TITLE}\n\n{RUNBOOK}",
    }


@operation("cowork.doctor", effect=Effect.READ, progress=True, raises=_ELSEWHERE)
def doctor(
    call: Call,
    now: Now = None,
    probe_tmux: Annotated[bool, Meta(description="also ask tmux whether each pane is there")] = False,
    project_root: CheckoutArgument = None,
) -> dict[str, Any]:
    """Check the bus of this checkout: silent agents, pending messages, panes that are gone. It repairs nothing."""
    at = moment(now, "now")
    return call.house.cowork.checking.report(call.caller, now=at, probe_tmux=probe_tmux, project_root=project_root)


@operation(
    "cowork.session.create",
    effect=Effect.WRITE,
    idempotent=True,
    raises=(HygieneRefused, UnknownAgent, UnknownChannel, *_ELSEWHERE),
)
def session_create(
    call: Call,
    session_id: SessionId,
    title: Annotated[str, Meta(max_length=TITLE_CHARACTERS, description="what the work is, in one line")],
    agents: Members,
    goal: Annotated[
        Annotated[str, Meta(max_length=GOAL_CHARACTERS)] | None, Meta(description="what shall hold when it is done")
    ] = None,
    channels: Annotated[Annotated[list[str], Meta(max_length=100)] | None, Meta(description="channels that it uses")] = None,
    thread_id: Thread = None,
    project_root: CheckoutArgument = None,
) -> dict[str, Any]:
    """Begin a piece of work that several agents share. The same id again says anew what it is, and it is active."""
    return call.house.cowork.sessions.create(
        call.caller,
        session_id=session_id,
        title=title,
        goal=goal,
        agents=agents,
        channels=channels or (),
        thread_id=thread_id,
        project_root=project_root,
    )


@operation("cowork.session.list", effect=Effect.READ, raises=_ELSEWHERE)
def session_list(call: Call, project_root: CheckoutArgument = None) -> dict[str, Any]:
    """List the sessions of this bus, whatever their status."""
    return call.house.cowork.sessions.listed(call.caller, project_root=project_root)


@operation("cowork.session.status", effect=Effect.WRITE, idempotent=True, raises=(UnknownCoworkSession, *_ELSEWHERE))
def session_status(
    call: Call,
    session_id: SessionId,
    status: Annotated[Literal["active", "paused", "closed"], Meta(description="the new status")],
    project_root: CheckoutArgument = None,
) -> dict[str, Any]:
    """Give a session another status. Messages go as before."""
    return call.house.cowork.sessions.moved(call.caller, session_id=session_id, status=status, project_root=project_root)


@operation(
    "cowork.session.close",
    effect=Effect.WRITE,
    idempotent=True,
    raises=(UnknownCoworkSession, *_KEPT, *_ELSEWHERE),
)
def session_close(
    call: Call,
    session_id: SessionId,
    capture: Annotated[bool, Meta(description="also capture the hand-over of the session")] = False,
    execute: Execute = False,
    project_root: CheckoutArgument = None,
) -> dict[str, Any]:
    """Close a session. Memory is written only with capture and execute together."""
    wanted = None
    if capture:
        filters = Filters(session_id=session_id, limit=CAPTURE_LIMIT)
        wanted = Capture(filters=filters, wing=CAPTURE_WING, execute=execute)
    return call.house.cowork.capturing.close(call.caller, session_id, wanted, project_root=project_root)


@operation("cowork.handoff", effect=Effect.READ, raises=(UnknownCoworkSession, *_ELSEWHERE))
def handoff(
    call: Call,
    thread_id: OneThread = None,
    channel: OneChannel = None,
    session_id: OneSession = None,
    limit: Annotated[int, Meta(ge=1, le=HANDOFF_MOST, description="rows of each part, the newest")] = HANDOFF_LIMIT,
    all_sessions: Annotated[bool, Meta(description="also sessions that are paused or closed")] = False,
    project_root: CheckoutArgument = None,
) -> dict[str, Any]:
    """Show sessions, agents, pending messages and recent events on one page. It drains nothing and keeps nothing."""
    filters = Filters(thread_id=thread_id, channel=channel, session_id=session_id, limit=limit, all_sessions=all_sessions)
    return call.house.cowork.handing_over.told(call.caller, filters, project_root=project_root)


@operation(
    "cowork.capture",
    effect=Effect.WRITE,
    idempotent=True,
    raises=(UnknownCoworkSession, *_KEPT, *_ELSEWHERE),
)
def capture(
    call: Call,
    source: Annotated[Literal["handoff"], Meta(description="what is kept; a hand-over is the only kind")] = "handoff",
    wing: Wing = CAPTURE_WING,
    room: Room = None,
    thread_id: OneThread = None,
    channel: OneChannel = None,
    session_id: OneSession = None,
    note: Note = None,
    execute: Execute = False,
    project_root: CheckoutArgument = None,
) -> dict[str, Any]:
    """Keep the hand-over of a bus as one row of evidence. Without execute it shows what would be kept and writes nothing."""
    filters = Filters(thread_id=thread_id, channel=channel, session_id=session_id, limit=CAPTURE_LIMIT)
    wanted = Capture(filters=filters, source=source, wing=wing, room=room, note=note, execute=execute)
    return call.house.cowork.capturing.kept(call.caller, wanted, project_root=project_root)
