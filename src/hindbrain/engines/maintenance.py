"""Maintenance: the runbook as a text, and which of its steps make sense now. Pure; carries nothing out."""

from collections.abc import Collection
from typing import Any

from hindbrain.policy.maintenance import BUS, LATER, STEPS, TOPICS, Need, Step, Topic

__all__ = ["commands", "planned", "runbook"]


def _offered(step: Step, known: Collection[str]) -> bool:
    return step.operation in known


def commands(known: Collection[str]) -> list[str]:
    """Every command that the runbook spells out."""
    return [step.command for topic in TOPICS for step in topic.steps if _offered(step, known)]


def runbook(known: Collection[str]) -> str:
    """The loop as Markdown. Only what this program offers is spelled out."""
    head = "The loop below is a checklist. Nothing runs by itself, and no step gives a card its status or changes a default."
    return "\n".join([head, *(_section(number, topic, known) for number, topic in enumerate(TOPICS, start=1))])


def _section(number: int, topic: Topic, known: Collection[str]) -> str:
    lines = ["", f"## {number}. {topic.name[0].upper()}{topic.name[1:]}", "", topic.text, ""]
    offered = [step for step in topic.steps if _offered(step, known)]
    if offered:
        lines += ["```sh", *(f"{step.command}  # {step.purpose}" for step in offered), "```"]
    else:
        lines.append(f"No command yet: {LATER}.")
    return "\n".join(lines)


def planned(known: Collection[str], missing: Collection[Need]) -> list[dict[str, Any]]:
    """The steps in order, each with whether it makes sense now, and why not."""
    return [_told(order, step, known, missing) for order, step in enumerate(STEPS, start=1)]


def _told(order: int, step: Step, known: Collection[str], missing: Collection[Need]) -> dict[str, Any]:
    offered = _offered(step, known)
    reason = _reason(step, missing) if offered else LATER if step.operation.startswith(f"{BUS}.") else "not offered here"
    return {
        "order": order,
        "topic": step.topic,
        "purpose": step.purpose,
        "command": step.command if offered else None,
        "writes": step.writes,
        "applicable": reason is None,
        "reason": reason,
    }


def _reason(step: Step, missing: Collection[Need]) -> str | None:
    return next((need.value for need in step.needs if need in missing), None)
