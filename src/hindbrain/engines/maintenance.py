"""Maintenance: the runbook as a text, and which of its steps make sense now. Pure; carries nothing out."""

from collections.abc import Collection
from typing import Any

from hindbrain.policy.maintenance import STEPS, TOPICS, Need, Step, Topic

__all__ = ["commands", "planned", "runbook"]


def commands() -> list[str]:
    """Every command of the runbook."""
    return [step.command for topic in TOPICS for step in topic.steps]


def runbook() -> str:
    """The loop as Markdown."""
    head = "The loop below is a checklist. Nothing runs by itself, and no step gives a card its status or changes a default."
    return "\n".join([head, *(_section(number, topic) for number, topic in enumerate(TOPICS, start=1))])


def _section(number: int, topic: Topic) -> str:
    lines = ["", f"## {number}. {topic.name[0].upper()}{topic.name[1:]}", "", topic.text, ""]
    return "\n".join([*lines, "```sh", *(f"{step.command}  # {step.purpose}" for step in topic.steps), "```"])


def planned(missing: Collection[Need]) -> list[dict[str, Any]]:
    """The steps in order, each with whether it makes sense now, and why not."""
    return [_planned_step(order, step, missing) for order, step in enumerate(STEPS, start=1)]


def _planned_step(order: int, step: Step, missing: Collection[Need]) -> dict[str, Any]:
    reason = next((need.value for need in step.needs if need in missing), None)
    return {
        "order": order,
        "topic": step.topic,
        "purpose": step.purpose,
        "command": step.command,
        "writes": step.writes,
        "applicable": reason is None,
        "reason": reason,
    }
