"""Operations of the gym: fixtures, rounds, reports, judges, comparisons."""

from typing import Annotated, Any, Literal

import msgspec
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
from hindbrain.domain.gym import Report
from hindbrain.domain.gym_fixture import LANES, Arm
from hindbrain.engines.gym_compare import compared, tuned
from hindbrain.engines.gym_html import page
from hindbrain.engines.gym_markdown import comparison_text, report_text, tuning_text
from hindbrain.operations.exchange import absolute
from hindbrain.operations.registry import Effect, operation
from hindbrain.services.call import Call
from hindbrain.services.gym.gym import Wish
from hindbrain.services.gym.rounds import RoundDirectory

__all__ = ["candidates", "compare", "fixtures", "judge", "report", "run"]

Name = Annotated[str, Meta(min_length=1, max_length=4_096)]
_ROUND = "id of the round (rnd_…), or its directory at a terminal"
_TERMINAL = "it starts programs, and belongs to the terminal of whoever wants them started"
_ARMS = ", ".join(f"{name} ({one.arm.value})" for name, one in LANES.items())


@operation("gym.fixtures", effect=Effect.READ, raises=(NotReady,))
def fixtures(call: Call) -> dict[str, Any]:
    """List the fixtures of the gym and its lanes: which family each is of, how much is planted, and its locked digest."""
    gym = call.house.gym
    infos = [gym.fixtures.info(name) for name in gym.fixtures.names()]
    lines = [f"{one.name:12} {one.family.value:24} {one.seeded:2} planted  {one.title}" for one in infos]
    lanes = [f"{one.name:12} {one.arm.value:24} {one.says}" for one in LANES.values()]
    return {
        "ok": True,
        "schema": "hindbrain-gym-fixtures-v1",
        "fixtures": [
            {"name": one.name, "family": one.family.value, "title": one.title, "seeded": one.seeded, "digest": one.digest}
            for one in infos
        ],
        "lanes": [_plain(one) for one in LANES.values()],
        "rounds": list(gym.rounds.names()),
        "rendered": "\n".join(["fixtures", *lines, "", "lanes", *lanes]),
    }


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
    gym = call.house.gym
    if round is not None:
        place = _place(call, round)
    else:
        wish = Wish(
            fixtures=_names(fixture),
            lanes=_names(lanes),
            repeats=repeats,
            budget=budget,
            change=change,
            agent_command=agent_command,
            arm=Arm(arm) if arm is not None else None,
            out=absolute(out, call) if out is not None else None,
        )
        place = gym.begin(wish)
    made = gym.run(place, time_limit_s=float(time_limit_s), progress=call.progress)
    return {
        "ok": True,
        "schema": "hindbrain-gym-run-v1",
        "round_id": made.round_id,
        "path": str(place.path),
        "complete": made.complete,
        "report": _summary(made),
        "files": {form: str(place.path / name) for form, name in _FILES.items()},
        "rendered": f"{report_text(made)}\nThe round is in {place.path}; open {place.path / 'report.html'} for the charts.",
    }


_FILES = {"json": "report.json", "markdown": "report.md", "html": "report.html"}


@operation("gym.report", effect=Effect.READ, positional=("round",), raises=(InvalidParams, NotReady, UnknownRound))
def report(
    call: Call,
    round: Annotated[Name, Meta(description=_ROUND)],  # noqa: A002
    format: Annotated[Literal["json", "markdown", "html"], Meta(description="form of `text`")] = "markdown",  # noqa: A002
) -> dict[str, Any]:
    """Score a recorded round again and show its report: every metric by arm, fixture and lane, and what is not claimed."""
    made = call.house.gym.report(_place(call, round))
    text = _text(made, format)
    return {
        "ok": True,
        "schema": "hindbrain-gym-report-v1",
        "round_id": made.round_id,
        "complete": made.complete,
        "report": _summary(made),
        "format": format,
        "text": text,
        "rendered": text,
    }


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
    place = _place(call, round)
    path = absolute(file, call) if file is not None else None
    before, after, made = call.house.gym.judge(call.caller, place, judge=by, path=path)
    waiting = [sum(one.extra_unadjudicated for one in told.arms) for told in (before, after)]
    return {
        "ok": True,
        "schema": "hindbrain-gym-judge-v1",
        "round_id": after.round_id,
        "judge": by,
        "rulings": made,
        "extra_unadjudicated_before": waiting[0],
        "extra_unadjudicated": waiting[1],
        "report": _summary(after),
        "rendered": f"{made} rulings by {by}: {waiting[0]} extra findings waited, {waiting[1]} wait now",
    }


@operation("gym.compare", effect=Effect.READ, positional=("a", "b"), raises=(InvalidParams, NotReady, UnknownRound))
def compare(
    call: Call,
    a: Annotated[Name, Meta(description="a round, before; `ROUND:LANE` takes one lane of it")],
    b: Annotated[Name, Meta(description="the round to hold against it, after")],
) -> dict[str, Any]:
    """Hold one round against another: every metric, how many lanes there were, and what may and may not be claimed."""
    gym = call.house.gym
    (left, first), (right, second) = (_named(call, one) for one in (a, b))
    told = compared(left, right, arms=_pairs(left, right, first, second), bundled=gym.bundled)
    return {"ok": True, **_plain(told), "rendered": comparison_text(told)}


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
    gym = call.house.gym
    base = gym.report(_place(call, baseline))
    told = tuned(base, [gym.report(_place(call, one)) for one in rounds], arm=_arm(lane), bundled=gym.bundled)
    return {"ok": True, **_plain(told), "rendered": tuning_text(told)}


def _place(call: Call, name: str) -> RoundDirectory:
    """A round by id; a directory only from a process of the user."""
    paths = call.caller.reads_files
    return call.house.gym.rounds.open(name if name.startswith("rnd_") or not paths else absolute(name, call), paths=paths)


def _names(given: list[str] | None) -> tuple[str, ...]:
    """Names as people type them: one flag each, or several with commas between."""
    return tuple(name for one in given or () for name in one.replace(",", " ").split())


def _named(call: Call, text: str) -> tuple[Report, Arm | None]:
    name, _, lane = text.rpartition(":")
    if not name or lane not in LANES:
        name, lane = text, ""
    return call.house.gym.report(_place(call, name)), _arm(lane) if lane else None


def _arm(lane: str) -> Arm:
    if lane not in LANES:
        raise InvalidParams(f"there is no lane {lane[:40]!r}", fix=f"use one of: {', '.join(LANES)}")
    return LANES[lane].arm


def _pairs(left: Report, right: Report, first: Arm | None, second: Arm | None) -> list[tuple[Arm, Arm]]:
    """Which arms are held against each other: those that were named, else every arm that both have."""
    if first is not None or second is not None:
        chosen = first or second
        return [(chosen or Arm.DIRECT, second or chosen or Arm.DIRECT)]
    shared = [one.arm for one in left.arms if one.arm in {other.arm for other in right.arms}]
    if not shared:
        raise InvalidParams("the rounds have no arm in common", fix="name lanes: ROUND:direct against ROUND:mission")
    return [(one, one) for one in shared]


def _text(made: Report, form: str) -> str:
    if form == "html":
        return page(made)
    return report_text(made) if form == "markdown" else msgspec.json.format(msgspec.json.encode(made)).decode() + "\n"


def _summary(made: Report) -> dict[str, Any]:
    """The report without its lanes' findings, which can be long."""
    told = _plain(made)
    for lane in told["lanes"]:
        lane.pop("findings")
    return told


def _plain(value: Any) -> dict[str, Any]:
    """A record as it goes over every wire."""
    found: dict[str, Any] = msgspec.json.decode(msgspec.json.encode(value))
    return found
