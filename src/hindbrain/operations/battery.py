"""Operations of the battery: confusions that were confirmed, as cases that run against the live brain."""

import secrets
from collections.abc import Mapping
from dataclasses import replace
from typing import Annotated, Any, Literal

import msgspec
from msgspec import Meta

from hindbrain.domain.brain import Tier
from hindbrain.domain.caller import AgentId, Channel, RootSource, SessionId
from hindbrain.domain.errors import (
    BrainlessRoot,
    CallerRootUnknown,
    ClaimTooLarge,
    ConfigInvalid,
    HygieneRefused,
    InvalidParams,
    PathRefused,
)
from hindbrain.domain.misdelivery import Misdelivery
from hindbrain.engines.fence import shown
from hindbrain.operations.registry import Effect, dispatch, operation
from hindbrain.services.call import Call

__all__ = ["add", "check", "list_", "run"]

_TERMINAL = "cases are made and run by whoever keeps the project, at a terminal or in its checks"
_LEFT_OUT = {"mcp": _TERMINAL, "http": _TERMINAL}
_RUNNER = AgentId("ci:battery")  # asks under its own name, so that no mission of the caller counts the questions as its work

Text = Annotated[str, Meta(min_length=1, max_length=500)]
Texts = Annotated[list[Text], Meta(max_length=3)]


@operation(
    "battery.add",
    effect=Effect.WRITE,
    idempotent=True,
    positional=("letter_id",),
    raises=(BrainlessRoot, CallerRootUnknown, ClaimTooLarge, ConfigInvalid, HygieneRefused, InvalidParams, PathRefused),
    left_out=_LEFT_OUT,
)
def add(
    call: Call,
    letter_id: Annotated[
        Annotated[str, Meta(max_length=64)] | None,
        Meta(description="the letter that told of it; without one the case is synthetic"),
    ] = None,
    kind: Annotated[Misdelivery | None, Meta(description="what happened; the letter's own kind when left out")] = None,
    tier: Annotated[
        Literal["project", "medulla"] | None, Meta(description="whose battery; a leak concerns all, anything else this project")
    ] = None,
    name: Annotated[
        Annotated[str, Meta(pattern="^[a-z0-9][a-z0-9-]{0,79}$")] | None, Meta(description="id of the case, a-z, 0-9 and -")
    ] = None,
    about: Annotated[Text | None, Meta(description="words to ask memory with; the letter's when left out")] = None,
    absent: Annotated[Texts | None, Meta(description="texts that memory must not show here")] = None,
    present: Annotated[Texts | None, Meta(description="texts that memory must show here")] = None,
) -> dict[str, Any]:
    """Make a case of a confirmed confusion, before it is fixed: questions to the live brain and what must hold of the answers.

    The file is plain JSON in .hindbrain/battery/ of the project, or in the medulla's battery; edit it as you like."""
    found = call.house.battery.add(
        call.caller,
        letter_id=letter_id,
        kind=kind,
        tier=Tier(tier) if tier is not None else None,
        name=name,
        about=about,
        absent=absent or (),
        present=present or (),
    )
    case = found["case"]
    said = "Added" if found["added"] else "There already:"
    return {
        "ok": True,
        "schema": "hindbrain-battery-add-v0",
        **found,
        "case": msgspec.to_builtins(case),
        "rendered": f"{said} case {case.id}: {found['path']}\nRun it: hindbrain battery run {case.id}",
    }


@operation("battery.list", effect=Effect.READ, left_out=_LEFT_OUT)
def list_(call: Call) -> dict[str, Any]:
    """List the cases of this project and of the medulla, and the files beside them that are none."""
    shelves = call.house.battery.shelves(call.caller)
    rows = [
        {
            "id": case.id,
            "kind": case.kind.value,
            "battery": shelf.brain.tier.value,
            "date": case.date,
            "letter": case.letter,
            "synthetic": case.synthetic,
            "what": case.what,
            "questions": len(case.probes),
        }
        for shelf in shelves
        for case in shelf.cases
    ]
    unreadable = [{"battery": shelf.brain.tier.value, **one} for shelf in shelves for one in shelf.unreadable]
    lines = [
        f"{one['id']}  {one['kind']}  {one['battery']}  {one['date']}{'  synthetic' if one['synthetic'] else ''}" for one in rows
    ]
    lines += [f"no case: {one['file']}: {one['reason']}" for one in unreadable]
    return {
        "ok": True,
        "schema": "hindbrain-battery-list-v0",
        "cases": rows,
        "unreadable": unreadable,
        "rendered": "\n".join(lines) or "The battery is empty.",
    }


@operation(
    "battery.run",
    effect=Effect.READ,
    progress=True,
    positional=("case_id",),
    raises=(BrainlessRoot, CallerRootUnknown, InvalidParams),
    left_out=_LEFT_OUT,
)
def run(
    call: Call,
    case_id: Annotated[Annotated[str, Meta(max_length=80)] | None, Meta(description="only this case; all when left out")] = None,
) -> dict[str, Any]:
    """Run the cases of this project and of the medulla against the live brain, and say which hold.

    They ask by the public operations and write nothing but counters. Exit code 1 when a case fails or a file is no case."""
    root = call.house.router.write_route(call.caller).root
    session = SessionId(f"battery-{secrets.token_hex(8)}")
    asker = replace(
        call.caller, agent=_RUNNER, root=root, root_source=RootSource.CALL, told_root=None, session=session, channel=Channel.AGENT
    )
    inner = Call(caller=asker, house=call.house, progress=lambda done, total, text: None)

    def ask(name: str, arguments: Mapping[str, Any]) -> dict[str, Any]:
        return dispatch(inner, name, arguments)

    try:
        verdicts, unreadable = call.house.battery.run(call.caller, ask, call.progress, only=case_id)
    finally:
        call.house.router.end(session)
    failed = sum(not one.passed for one in verdicts)
    lines = []
    for one in verdicts:
        said = "FAIL" if not one.passed else "pass" if one.asked else "skip"  # who was asked nothing has shown nothing
        lines.append(f"{said}  {one.id}  ({one.kind}, {one.asked} questions)")
        lines += [f"      {wrong.call}: expected {wrong.expected}; seen: {wrong.seen}" for wrong in one.failing]
    lines += [f"no case: {one['file']}: {one['reason']}" for one in unreadable]
    ran = [one for one in verdicts if one.asked]
    empty = "No case asks anything here." if verdicts else "The battery is empty."
    lines.append(f"{len(ran) - failed} of {len(ran)} cases hold" if ran else empty)
    return {
        "ok": True,
        "schema": "hindbrain-battery-run-v0",
        "passed": not failed and not unreadable,
        "exit_code": 1 if failed or unreadable else 0,
        "cases": [msgspec.to_builtins(one) for one in verdicts],
        "unreadable": unreadable,
        "rendered": "\n".join(lines),
    }


@operation("battery.check", effect=Effect.READ, progress=True, raises=(ConfigInvalid,), left_out=_LEFT_OUT)
def check(call: Call) -> dict[str, Any]:
    """List confirmed confusions that no triage ties to a case of a battery. Each is to have its case before its fix."""
    lacking, events = call.house.battery.check(call.caller)
    lines = [f"{events - len(lacking)} of {events} confirmed confusions have a case"]
    lines += [
        f"  {one['letter']}  {one['kind']}: "
        + ("no triage names a case" if not one["named"] else "the case that is named is not there")
        for one in lacking
    ]
    if lacking:
        lines.append(f"Make one: hindbrain battery add {lacking[0]['letter']}, then name it: hindbrain triage … --case ID")
    for one in lacking:
        one["what"] = shown(one["what"] or "")[:200]
    return {
        "ok": True,
        "schema": "hindbrain-battery-check-v0",
        "events": events,
        "without_case": lacking,
        "exit_code": 1 if lacking else 0,
        "rendered": "\n".join(lines),
    }
