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
from hindbrain.domain.places import OutputDirectory, RoundName, SourcePath
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
    out: Annotated[OutputDirectory | None, Meta(description="directory for the round; default is below the home")] = None,
    round: Annotated[RoundName | None, Meta(description="go on with this round instead of a new one: id or directory")] = None,  # noqa: A002
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
        "out": out,
    }
    return call.house.gym.telling.run(call.caller, asked, name=round, time_limit_s=float(time_limit_s), progress=call.progress)


@operation("gym.report", effect=Effect.READ, positional=("round",), raises=(InvalidParams, NotReady, UnknownRound))
def report(
    call: Call,
    round: Annotated[RoundName, Meta(description=_ROUND)],  # noqa: A002
    format: Annotated[Literal["json", "markdown", "html"], Meta(description="form of `text`")] = "markdown",  # noqa: A002
) -> dict[str, Any]:
    """Score a recorded round again and show its report: every metric by arm, fixture and lane, and what is not claimed."""
    return call.house.gym.telling.report(call.caller, round, form=format)


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
    round: Annotated[RoundName, Meta(description=_ROUND)],  # noqa: A002
    by: Annotated[
        Literal["reproduction", "model", "human"],
        Meta(description="run the finding's own failing test, ask the set model, or read a person's file"),
    ] = "reproduction",
    file: Annotated[SourcePath | None, Meta(description="for human: a JSON list of lane_id, finding_id, verdict and why")] = None,
) -> dict[str, Any]:
    """Rule on findings that the key does not know. Until every one is ruled on, no precision is reported."""
    return call.house.gym.telling.judge(call.caller, round, judge=by, path=file)


@operation("gym.compare", effect=Effect.READ, positional=("a", "b"), raises=(InvalidParams, NotReady, UnknownRound))
def compare(
    call: Call,
    a: Annotated[RoundName, Meta(description="a round, before; `ROUND:LANE` takes one lane of it")],
    b: Annotated[RoundName, Meta(description="the round to hold against it, after")],
) -> dict[str, Any]:
    """Hold one round against another: every metric, how many lanes there were, and what may and may not be claimed."""
    return call.house.gym.telling.compare(call.caller, a, b)


@operation(
    "gym.candidates", effect=Effect.READ, positional=("baseline", "rounds"), raises=(InvalidParams, NotReady, UnknownRound)
)
def candidates(
    call: Call,
    baseline: Annotated[RoundName, Meta(description="the round without a change")],
    rounds: Annotated[list[RoundName], Meta(min_length=1, max_length=200, description="recorded rounds, each with one change")],
    lane: Annotated[Name, Meta(description="lane that the change is about")] = "mission",
) -> dict[str, Any]:
    """Rank recorded changes of routes or prompts by what they did to the metrics. Changes nothing."""
    return call.house.gym.telling.candidates(call.caller, baseline, rounds, lane=lane)


def _names(given: list[str] | None) -> tuple[str, ...]:
    """Names as people type them: one flag each, or several with commas between."""
    return tuple(name for one in given or () for name in one.replace(",", " ").split())
