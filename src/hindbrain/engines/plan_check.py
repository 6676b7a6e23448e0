"""Plan check: what a plan must not do, found in code before anything is dispatched. A plan with a finding is not sent."""

import hashlib
import json
import re
from collections.abc import Mapping
from dataclasses import dataclass

from hindbrain.domain.plan import Draft, DraftCriterion, Plan, criteria_of
from hindbrain.engines.slug import words_of
from hindbrain.policy.planning import ALIKE, EMPTY_CRITERIA
from hindbrain.policy.tools import target_of

__all__ = [
    "EarlierPlan",
    "Forbidden",
    "PlanRules",
    "acts_of",
    "checked",
    "fingerprint",
    "normal",
    "remembered",
    "similarity",
    "tools_of",
]


@dataclass(frozen=True, slots=True, kw_only=True)
class Forbidden:
    """A way that memory advises against: a tool on a target, and why."""

    tool: str
    target: str
    why: str


@dataclass(frozen=True, slots=True, kw_only=True)
class EarlierPlan:
    """What is kept of a plan that failed: enough to recognise it."""

    fingerprint: str
    tools: frozenset[str]
    words: frozenset[str]


@dataclass(frozen=True, slots=True, kw_only=True)
class PlanRules:
    """What holds for the next plan of one task."""

    intent: str
    tools: Mapping[str, str]  # known tools and their classes
    blocked_tools: tuple[str, ...] = ()
    blocked_targets: tuple[str, ...] = ()
    forbidden: tuple[Forbidden, ...] = ()
    earlier: tuple[EarlierPlan, ...] = ()
    directive: str = ""


def normal(target: str) -> str:
    """A target as it is compared: one space between words, no `./` before it."""
    text = " ".join(target.split())
    return text[2:] if text.startswith("./") and len(text) > 2 else text


def tools_of(draft: Draft) -> tuple[str, ...]:
    """The tools a subtask names, in order, each once."""
    return tuple(dict.fromkeys((*draft.tool_hints, *(step.tool for step in draft.steps or ()))))


def acts_of(draft: Draft) -> tuple[tuple[str, str], ...]:
    """Each tool with its target, where the target is known before the plan runs."""
    found = ((step.tool, target_of(step.input)) for step in draft.steps or ())
    return tuple(dict.fromkeys((tool, normal(target)) for tool, target in found if target))


def fingerprint(plan: Plan) -> str:
    """What the plan would do, whatever its words: two plans with the same steps are the same plan."""
    parts = [[draft.sequence, _doing(draft)] for draft in plan.subtasks]
    text = json.dumps(sorted(parts, key=json.dumps), sort_keys=True, ensure_ascii=False)
    return f"sha256:{hashlib.sha256(text.encode()).hexdigest()}"


def remembered(plan: Plan) -> EarlierPlan:
    """What to keep of a plan."""
    return EarlierPlan(fingerprint=fingerprint(plan), tools=_tools(plan), words=_words(plan))


def similarity(one: frozenset[str], other: frozenset[str]) -> float:
    """The words that two plans share, of all their words."""
    together = one | other
    return round(len(one & other) / len(together), 9) if together else 1.0


def checked(plan: Plan, rules: PlanRules) -> tuple[str, ...]:
    """Every reason why this plan is not sent; none for a good one."""
    found = [*_shape(plan, rules), *_blocks(plan, rules)]
    mark = fingerprint(plan)
    if any(mark == one.fingerprint for one in rules.earlier):
        found.append("the plan is the same as an earlier one that failed")
    if rules.directive == "break_symmetry":
        found += _too_alike(plan, rules)
    elif rules.directive in ("refine", "change_path") and rules.earlier:
        found += _strayed(plan, rules)
    return tuple(dict.fromkeys(found))


def _doing(draft: Draft) -> object:
    if draft.steps:
        return [[step.tool, dict(step.input)] for step in draft.steps]
    return [sorted(tools_of(draft)), sorted(set(words_of(draft.intent)))]


def _tools(plan: Plan) -> frozenset[str]:
    return frozenset(tool for draft in plan.subtasks for tool in tools_of(draft))


def _words(plan: Plan) -> frozenset[str]:
    return frozenset(word for draft in plan.subtasks for word in words_of(draft.intent))


def _shape(plan: Plan, rules: PlanRules) -> list[str]:
    found = [] if plan.subtasks else ["the plan has no subtasks"]
    if not plan.task_criteria:
        found.append("the plan has no criteria for the task")
    found += _criteria(plan.task_criteria, rules.intent, "the task")
    for number, draft in enumerate(plan.subtasks, 1):
        if not draft.intent.strip():
            found.append(f"subtask {number} has no intent")
        if draft.sequence < 1:
            found.append(f"subtask {number} has sequence {draft.sequence}; sequences start at 1")
        if not draft.success_criteria:
            found.append(f"subtask {number} has no criteria")
        found += _criteria(draft.success_criteria, draft.intent, f"subtask {number}")
        named = tools_of(draft)
        if not named:
            found.append(f"subtask {number} names no tool")
        found += [f"subtask {number} uses {tool!r}, which is no tool" for tool in named if tool not in rules.tools]
    return found


def _criteria(given: tuple[str | DraftCriterion, ...], intent: str, whose: str) -> list[str]:
    found = []
    for one in criteria_of(given):
        words = set(words_of(one.criterion))
        if not words:
            found.append(f"{whose} has an empty criterion")
        elif words == set(words_of(intent)):
            found.append(f"a criterion of {whose} only repeats the intent: {one.criterion!r}")
        elif re.search(EMPTY_CRITERIA, one.criterion, re.IGNORECASE):
            found.append(f"a criterion of {whose} says nothing that can be false: {one.criterion!r}")
    return found


def _blocks(plan: Plan, rules: PlanRules) -> list[str]:
    found = []
    blocked = {normal(target) for target in rules.blocked_targets}
    against = {(one.tool, normal(one.target)): one.why for one in rules.forbidden}
    for number, draft in enumerate(plan.subtasks, 1):
        found += [f"subtask {number} uses the blocked tool {tool!r}" for tool in tools_of(draft) if tool in rules.blocked_tools]
        for tool, target in acts_of(draft):
            if target in blocked:
                found.append(f"subtask {number} uses the blocked target {target!r}")
            if (tool, target) in against:
                found.append(
                    f"subtask {number} uses {tool} on {target!r} again; memory says it must not: {against[tool, target]}"
                )
    return found


def _too_alike(plan: Plan, rules: PlanRules) -> list[str]:
    tools, words = _tools(plan), _words(plan)
    found = []
    for one in rules.earlier:
        if one.tools == tools:
            found.append("the plan uses the same tools as an earlier one, and symmetry is to be broken")
        elif similarity(one.words, words) >= ALIKE:
            found.append("the plan says nearly the same as an earlier one, and symmetry is to be broken")
    return found


def _strayed(plan: Plan, rules: PlanRules) -> list[str]:
    """`refine` keeps the tools, `change_path` their classes. A step that only looks up a target may come or go."""
    before, now = rules.earlier[-1].tools, _tools(plan)
    if rules.directive == "change_path":
        before, now = _classes(before, rules.tools), _classes(now, rules.tools)
    if before <= now or now <= before:
        return []
    kept = "tools" if rules.directive == "refine" else "classes of tools"
    return [f"{rules.directive} keeps the {kept} of the plan before: {', '.join(sorted(before))}"]


def _classes(tools: frozenset[str], known: Mapping[str, str]) -> frozenset[str]:
    return frozenset(known.get(tool, tool) for tool in tools)
