"""Operations of maintenance and release: the runbook, the guided plan, and whether a tree is ready to be released."""

import os
from typing import Annotated, Any

from msgspec import Meta

from hindbrain.domain.errors import InvalidParams
from hindbrain.domain.places import SourcePath
from hindbrain.engines.maintenance import commands, runbook
from hindbrain.operations.registry import REGISTRY, Effect, input_schema, operation
from hindbrain.policy.maintenance import TITLE
from hindbrain.services.call import Call

__all__ = ["plan", "release_check", "runbook_"]


@operation("maintenance.runbook", effect=Effect.READ)
def runbook_(call: Call) -> dict[str, Any]:
    """Print the loop that keeps memory healthy, as a checklist with commands. Nothing runs by itself."""
    content = runbook()
    return {
        "ok": True,
        "schema": "hindbrain-runbook-v0",
        "title": TITLE,
        "content": content,
        "rendered": f"# {TITLE}\n\n{content}",
    }


@operation("maintenance.plan", effect=Effect.READ)
def plan(call: Call) -> dict[str, Any]:
    """Show the steps of maintenance that make sense now, with the command of each. Carries out none of them."""
    return call.house.maintenance.plan(call.caller)


@operation("release.check", effect=Effect.READ, positional=("path",), raises=(InvalidParams,))
def release_check(
    call: Call,
    path: Annotated[SourcePath | None, Meta(description="project directory; the caller's when left out")] = None,
) -> dict[str, Any]:
    """Look whether the source tree of Hindbrain is ready for a release. Runs nothing and publishes nothing."""
    return call.house.release.check(call.caller, path or call.caller.root or os.getcwd(), unknown=_unknown())


def _unknown() -> list[str]:
    """Commands of the runbook that this program would not take: an operation or a flag that is gone."""
    found = []
    for command in commands():
        words = command.split()[1:]
        name = next((name for name in (".".join(words[:2]), words[0]) if name in REGISTRY), None)
        flags = {word[2:].partition("=")[0].replace("-", "_") for word in words if word.startswith("--")}
        if name is None or not flags <= set(input_schema(REGISTRY[name])["properties"]):
            found.append(command)
    return found
