"""Operations that hold the product to its own promises: the gates of a wave, and acceptance."""

import os
from typing import Annotated, Any, Literal

import msgspec
from msgspec import Meta

from hindbrain.domain.errors import InvalidParams, NotReady
from hindbrain.operations.registry import Effect, operation
from hindbrain.policy.waves import WAVES
from hindbrain.services.call import Call

__all__ = ["accept", "gate"]

_TERMINAL = "it works for a while in a directory of its own, and belongs to the terminal of whoever wants it"


@operation(
    "gate",
    effect=Effect.WRITE,
    progress=True,
    positional=("wave",),
    raises=(InvalidParams, NotReady),
    left_out={"mcp": _TERMINAL, "http": _TERMINAL},
)
def gate(
    call: Call,
    wave: Annotated[int, Meta(ge=1, le=6, description="1 kernel, 2 strategy, 3 flight, 4 routes, 5 recovery, 6 hand-over")],
) -> dict[str, Any]:
    """Run the gates of a wave of the operating layer, those of the earlier waves first, and say which open.

    Each is a small proof with the real product in a home of its own; the files that show it stay below the home."""
    place, results = call.house.gates.run(wave, call.progress)
    failed = sum(not one.passed for one in results)
    lines = []
    for number in range(1, wave + 1):
        lines.append(f"wave {number}: {WAVES[number].title}")
        for one in (one for one in results if one.wave == number):
            lines.append(f"  {'pass' if one.passed else 'FAIL'}  {one.name}: {one.says}")
            lines += [f"        {os.path.relpath(path, place)}" for path in one.evidence]
        lines.append(f"  not claimed: {WAVES[number].non_claim}")
    return {
        "ok": True,
        "schema": "hindbrain-gate-v1",
        "wave": wave,
        "passed": not failed,
        "exit_code": 1 if failed else 0,
        "gates": [
            {"row": WAVES[one.wave].row, "shows": WAVES[one.wave].gates[one.name], **msgspec.to_builtins(one)} for one in results
        ],
        "path": str(place),
        "non_claims": [WAVES[number].non_claim for number in range(1, wave + 1)],
        "rendered": "\n".join([*lines, f"{len(results) - failed} of {len(results)} gates open; their evidence is in {place}"]),
    }


@operation("accept", effect=Effect.READ, positional=("version",), raises=(InvalidParams, NotReady))
def accept(call: Call, version: Annotated[Literal["v1"], Meta(description="v1: mission control")] = "v1") -> dict[str, Any]:
    """Say whether the operating layer may be called by its version: seven conditions, by recorded gates and a recorded round.

    `gate 6` and `gym run --lanes trained,mission` record them; only those of the same build count. The name of the version is
    printed when all seven are met, and not before."""
    conditions = call.house.gates.conditions()
    lacking = [one for one in conditions if not one.met]
    lines = [f"{'met ' if one.met else 'OPEN'}  {one.row} {one.name}: {one.says}" for one in conditions]
    lines.append(
        f"mission control {version} is accepted" if not lacking else f"not accepted: {len(lacking)} of {len(conditions)} are open"
    )
    return {
        "ok": True,
        "schema": "hindbrain-acceptance-v0",
        "accepted": not lacking,
        **({"version": version} if not lacking else {}),
        "exit_code": 1 if lacking else 0,
        "conditions": [msgspec.to_builtins(one) for one in conditions],
        "rendered": "\n".join(lines),
    }
