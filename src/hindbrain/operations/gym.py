"""Operations of the gym: fixtures, rounds, reports, judges, comparisons. What they need is loaded when one of them is called."""

from typing import Annotated, Any, Literal

from msgspec import Meta

from hindbrain.domain.errors import (
    Busy,
    HumanNeeded,
    InvalidParams,
    ModelFailed,
    ModelUnavailable,
    NotReady,
    PathRefused,
    RoundBlocked,
    UnknownRound,
)
from hindbrain.domain.gym_fixture import LANES, Arm
from hindbrain.operations.exchange import absolute
from hindbrain.operations.registry import Effect, operation
from hindbrain.services.call import Call

__all__ = ["candidates", "compare", "fixtures", "judge", "report", "run"]

Name = Annotated[str, Meta(min_length=1, max_length=4_096)]
_ROUND = "id of the round (rnd_…), or its directory at a terminal"
_TERMINAL = "it starts programs, and belongs to the terminal of whoever wants them started"
_ARMS = ", ".join(f"{name} ({one.arm.value})" for name, one in LANES.items())


@operation("gym.fixtures", effect=Effect.READ, raises=(NotReady,))
def fixtures(call: Call) -> dict[str, Any]:
    """List the fixtures of the gym and its lanes: which family each is of, how much is planted, and its locked digest."""
    return call.house.gym.telling.fixtures()


@operation(
    "gym.run",
    effect=Effect.WRITE,
    progress=True,
    positional=("fixture",),
    raises=(Busy, InvalidParams, NotReady, PathRefused, RoundBlocked, UnknownRound),
    left_out={"mcp": _TERMINAL, "http": _TERMINAL},
)
def run(
    call: Call,
    fixture: Annotated[
        Annotated[list[Name], Meta(max_length=100)] | None, Meta(description="fixtures; default are the bundled bug hunts")
    ] = None,
    lanes: Annotated[
        Annotated[list[Name], Meta(max_length=10)] | None,
        Meta(description=f"ways of working: {_ARMS}; default is direct, graph, mission"),
    ] = None,
    repeats: Annotated[int, Meta(ge=1, le=50, description="how often each lane runs")] = 1,
    budget: Annotated[Literal["short", "normal", "deep"] | None, Meta(description="default is that of each fixture")] = None,
    agent_command: Annotated[
        Annotated[str, Meta(max_length=4_000)] | None,
        Meta(description="for the lane agent: the command to start, with {prompt} or {prompt_file} in it"),
    ] = None,
    arm: Annotated[
        Literal["direct", "hindbrain-basic", "hindbrain-trained", "hindbrain-short-audit", "hindbrain-mission-control"] | None,
        Meta(description="for the lane agent: which instructions it is given, and reported under; default is direct"),
    ] = None,
    time_limit_s: Annotated[int, Meta(ge=1, le=86_400, description="for one agent command")] = 600,
    change: Annotated[
        str, Meta(max_length=2_000, description="what was changed for this round, when it is a candidate for a change of policy")
    ] = "",
    out: Annotated[Name | None, Meta(description="directory for the round; default is below the home")] = None,
    round: Annotated[Name | None, Meta(description="go on with this round instead of a new one: id or directory")] = None,  # noqa: A002
) -> dict[str, Any]:
    """Run agents over fixtures, each lane in a copy and a home of its own, and score what they find against a private key.

    Interrupt it with Ctrl-C: the round keeps the lanes that ended, and goes on with --round ID."""
    asked = {
        "fixtures": _names(fixture),
        "lanes": _names(lanes),
        "repeats": repeats,
        "budget": budget,
        "change": change,
        "agent_command": agent_command,
        "arm": Arm(arm) if arm is not None else None,
        "out": absolute(out, call) if out is not None else None,
    }
    name = _named(call, round) if round is not None else None
    return call.house.gym.telling.run(call.caller, asked, name=name, time_limit_s=float(time_limit_s), progress=call.progress)


@operation("gym.report", effect=Effect.READ, positional=("round",), raises=(InvalidParams, NotReady, UnknownRound))
def report(
    call: Call,
    round: Annotated[Name, Meta(description=_ROUND)],  # noqa: A002
    format: Annotated[Literal["json", "markdown", "html"], Meta(description="form of `text`")] = "markdown",  # noqa: A002
) -> dict[str, Any]:
    """Score a recorded round again and show its report: every metric by arm, fixture and lane, and what is not claimed."""
    return call.house.gym.telling.report(call.caller, _named(call, round), form=format)


@operation(
    "gym.judge",
    effect=Effect.WRITE,
    progress=True,
    positional=("round",),
    raises=(Busy, HumanNeeded, InvalidParams, ModelFailed, ModelUnavailable, NotReady, UnknownRound),
    left_out={"mcp": _TERMINAL, "http": _TERMINAL},
)
def judge(
    call: Call,
    round: Annotated[Name, Meta(description=_ROUND)],  # noqa: A002
    by: Annotated[
        Literal["reproduction", "model", "human"],
        Meta(description="run the finding's own failing test, ask the set model, or read a person's file"),
    ] = "reproduction",
    file: Annotated[Name | None, Meta(description="for human: a JSON list of lane_id, finding_id, verdict and why")] = None,
) -> dict[str, Any]:
    """Rule on findings that the key does not know. Until every one is ruled on, no precision is reported."""
    path = absolute(file, call) if file is not None else None
    return call.house.gym.telling.judge(call.caller, _named(call, round), judge=by, path=path)


@operation("gym.compare", effect=Effect.READ, positional=("a", "b"), raises=(InvalidParams, NotReady, UnknownRound))
def compare(
    call: Call,
    a: Annotated[Name, Meta(description="a round, before; `ROUND:LANE` takes one lane of it")],
    b: Annotated[Name, Meta(description="the round to hold against it, after")],
) -> dict[str, Any]:
    """Hold one round against another: every metric, how many lanes there were, and what may and may not be claimed."""
    return call.house.gym.telling.compare(call.caller, _named(call, a), _named(call, b))


@operation(
    "gym.candidates", effect=Effect.READ, positional=("baseline", "rounds"), raises=(InvalidParams, NotReady, UnknownRound)
)
def candidates(
    call: Call,
    baseline: Annotated[Name, Meta(description="the round without a change")],
    rounds: Annotated[list[Name], Meta(min_length=1, max_length=200, description="recorded rounds, each with one change")],
    lane: Annotated[Name, Meta(description="lane that the change is about")] = "mission",
) -> dict[str, Any]:
    """Rank recorded changes of routes or prompts by what they did to the metrics. Changes nothing."""
    names = [_named(call, one) for one in rounds]
    return call.house.gym.telling.candidates(call.caller, _named(call, baseline), names, lane=lane)


def _named(call: Call, name: str) -> str:
    """A round as the caller means it: a directory that is not named whole lies in theirs."""
    return name if name.startswith("rnd_") or not call.caller.reads_files else absolute(name, call)


def _names(given: list[str] | None) -> tuple[str, ...]:
    """Names as people type them: one flag each, or several with commas between."""
    return tuple(name for one in given or () for name in one.replace(",", " ").split())
