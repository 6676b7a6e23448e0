"""Planning without a model: of the ways to each goal, the first that nothing forbids. What was blocked stays blocked; memory puts
a way in front or keeps it back. Where it leaves no way at all, who asks anew, or names the very thing, outweighs it."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from itertools import combinations, islice

from hindbrain.domain.plan import Draft, Plan
from hindbrain.domain.task import OverriddenRule, TaskSpec
from hindbrain.engines.calibration import Calibration, forbidden_by, mentions
from hindbrain.engines.goal_criteria import criteria_for
from hindbrain.engines.goal_words import Refusal, read
from hindbrain.engines.goals import Goal
from hindbrain.engines.plan_check import Forbidden, PlanRules, acts_of, checked, normal
from hindbrain.engines.ways import Way, reads_of, ways_to, writes_of
from hindbrain.engines.wording import parts_of, sentences_of
from hindbrain.policy.goal_words import FORMS, FUNCTION_WORDS
from hindbrain.policy.planning import COMBINATIONS, TOOL_DISTRUST

__all__ = ["Act", "Proposal", "Reputation", "Request", "acts_to_ask", "propose", "request_of"]

Act = tuple[str, str]  # a tool and its target


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """A task as its goals; `refused` are the sentences of which no rule accounts for every word."""

    goals: tuple[Goal, ...]
    refused: tuple[Refusal, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Reputation:
    """What memory thinks of acts, and of tools whatever they are used on."""

    acts: Mapping[Act, str] = field(default_factory=dict)  # to an action
    tools: Mapping[str, tuple[float, float]] = field(default_factory=dict)  # to attention and decision

    def distrusts(self, tool: str) -> bool:
        attention, decision = self.tools.get(tool, (0.0, 0.0))
        return attention >= TOOL_DISTRUST[0] and decision <= TOOL_DISTRUST[1]

    def forbidden(self) -> tuple[Forbidden, ...]:
        return tuple(
            Forbidden(tool=tool, target=target, why="this failed before")
            for (tool, target), say in self.acts.items()
            if say == "Avoid"
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Proposal:
    """A plan with the ways it goes, or why there is none."""

    plan: Plan | None
    ways: tuple[Way, ...] = ()
    findings: tuple[str, ...] = ()
    yielded: tuple[OverriddenRule, ...] = ()  # rules that the person's words outweighed


def request_of(spec: TaskSpec) -> Request:
    """The goals of a task: of the whole text whose first sentence is the intent, be it the request or an answer to a question.
    An intent that nobody typed may say less than the request, so the request is read as well."""
    typed = (spec.raw_input, *(one.a for one in reversed(spec.x.clarifications)))
    whole = next((text for text in typed if " ".join(next(iter(sentences_of(text)), "").split()) == spec.intent), None)
    found = [read(part) for part in parts_of(whole if whole is not None else spec.intent)]
    if whole is None:
        found += _unsaid(spec)
    return Request(
        goals=tuple(one for one in found if isinstance(one, Goal)),
        refused=tuple(one for one in found if isinstance(one, Refusal)),
    )


def _unsaid(spec: TaskSpec) -> list[Refusal]:
    """The sentences of a request with words that its intent does not repeat."""
    said = {word.lower() for word in _words(spec.intent)} | FUNCTION_WORDS
    found = []
    for part in parts_of(spec.raw_input):
        words = tuple(dict.fromkeys(word for word in _words(part) if word.lower() not in said))
        if words:
            found.append(Refusal(sentence=part, words=words, form=FORMS["count_files"]))
    return found


def _words(text: str) -> list[str]:
    return re.findall(r"[^\W_]+", text)


def acts_to_ask(request: Request) -> tuple[Act, ...]:
    """Every act of every way, the best ways first: what memory is to be asked about."""
    ranked = [ways_to(goal) for goal in request.goals]
    longest = max((len(ways) for ways in ranked), default=0)
    return tuple(
        dict.fromkeys(act for rank in range(longest) for ways in ranked for way in ways[rank : rank + 1] for act in _acts(way))
    )


def propose(
    request: Request,
    *,
    spec: TaskSpec,
    rules: PlanRules,
    calibration: Calibration,
    reputation: Reputation,
    before: tuple[Way, ...] = (),
) -> Proposal:
    """The first combination of ways that the check of plans lets through."""
    if request.refused or not request.goals:
        told = tuple(map(_refused, request.refused))
        return Proposal(plan=None, findings=told or (f"no rule knows a way to: {spec.intent}",))
    ranked: list[tuple[Way, ...]] = []
    free = rules
    yielded: list[OverriddenRule] = []
    for number, goal in enumerate(request.goals):
        kept = before[number] if number < len(before) else None
        open_, against = _open_ways(goal, rules, calibration, reputation)
        if not open_ and against:
            own = [way for way in against if not rules.directive or _named_by_person(way, spec, free)]
            if own:
                open_ = own
                spoken = {act for way in own for act in _acts(way)}
                free = replace(
                    free, forbidden=tuple(one for one in free.forbidden if (one.tool, normal(one.target)) not in spoken)
                )
                yielded += _rules_against(calibration, spoken)
        if not open_:
            return Proposal(plan=None, findings=(_no_way(goal, against),))
        ranked.append(_in_order(open_, kept, rules, calibration, reputation))
    findings: tuple[str, ...] = ()
    for chosen in islice(_combined(ranked), COMBINATIONS):
        plan = _plan(request.goals, chosen)
        findings = checked(plan, _relaxed(free, chosen, before))
        if not findings:
            return Proposal(plan=plan, ways=chosen, yielded=tuple(yielded))
    return Proposal(plan=None, findings=findings or ("no way is left",))


def _acts(way: Way) -> tuple[Act, ...]:
    return acts_of(Draft(intent=way.says, steps=way.steps))


def _tools(way: Way) -> frozenset[str]:
    return frozenset(step.tool for step in way.steps)


def _open_ways(goal: Goal, rules: PlanRules, calibration: Calibration, reputation: Reputation) -> tuple[list[Way], list[Way]]:
    """The ways that nothing forbids, and those that only memory does."""
    blocked = {normal(target) for target in rules.blocked_targets}
    open_: list[Way] = []
    against: list[Way] = []
    for way in ways_to(goal):
        acts = _acts(way)
        if (
            _tools(way) & set(rules.blocked_tools)
            or not _tools(way) <= set(rules.tools)
            or any(target in blocked for _, target in acts)
        ):
            continue
        forbidden = forbidden_by(calibration, acts) or any(reputation.acts.get(act) == "Avoid" for act in acts)
        (against if forbidden else open_).append(way)
    return open_, against


def _named_by_person(way: Way, spec: TaskSpec, rules: PlanRules) -> bool:
    """Whether each act that memory forbids was asked for in so many words."""
    forbidden = {(one.tool, normal(one.target)) for one in rules.forbidden}
    return all(target in spec.raw_input for tool, target in _acts(way) if (tool, target) in forbidden)


def _rules_against(calibration: Calibration, acts: set[Act]) -> list[OverriddenRule]:
    return [
        one.rule
        for one in calibration.entries
        if one.rule is not None and not one.prefer and any(mentions(one.text, tool, target) for tool, target in acts)
    ]


def _in_order(
    ways: list[Way], kept: Way | None, rules: PlanRules, calibration: Calibration, reputation: Reputation
) -> tuple[Way, ...]:
    """What worked before first, tools of ill repute last; then what the directive asks for in front of all."""
    ranked = sorted(ways, key=lambda way: (-_worked(way, calibration, reputation), any(map(reputation.distrusts, _tools(way)))))
    if kept is None or not rules.directive:
        return tuple(ranked)
    if kept in ranked:  # nothing speaks against it: this part did not fail
        return (kept, *(way for way in ranked if way is not kept and way != kept))
    kind = rules.tools.get
    if rules.directive == "refine":
        return tuple(sorted(ranked, key=lambda way: (way.main != kept.main, kind(way.main) != kind(kept.main))))
    if rules.directive == "change_path":
        return tuple(sorted(ranked, key=lambda way: kind(way.main) != kind(kept.main)))
    return tuple(sorted(ranked, key=lambda way: kind(way.main) == kind(kept.main)))


def _worked(way: Way, calibration: Calibration, reputation: Reputation) -> bool:
    acts = _acts(way)
    if not acts:
        return False
    told = any(all(mentions(text, tool, target) for tool, target in acts) for text in calibration.prefer)
    return told or all(reputation.acts.get(act) == "Exploit" for act in acts)


def _relaxed(rules: PlanRules, chosen: tuple[Way, ...], before: tuple[Way, ...]) -> PlanRules:
    """Where a goal has no way left with the tools it had, the one that is left is taken; what is blocked stays blocked."""
    if rules.directive in ("refine", "change_path") and any(way not in before for way in chosen):
        return replace(rules, directive="")
    return rules


def _combined(ranked: list[tuple[Way, ...]]) -> Iterator[tuple[Way, ...]]:
    """The best way of each, then with one other, then with two others: never more changes than needed."""
    best = [ways[0] for ways in ranked]
    for changes in range(min(len(ranked), 3) + 1):
        for places in combinations(range(len(ranked)), changes):
            yield from _varied(ranked, best, places)


def _varied(ranked: list[tuple[Way, ...]], best: list[Way], places: tuple[int, ...]) -> Iterator[tuple[Way, ...]]:
    if not places:
        yield tuple(best)
        return
    for way in ranked[places[0]][1:]:
        yield from _varied(ranked, [*best[: places[0]], way, *best[places[0] + 1 :]], places[1:])


def _plan(goals: tuple[Goal, ...], chosen: tuple[Way, ...]) -> Plan:
    drafts = []
    for goal, way, sequence in zip(goals, chosen, _sequences(goals), strict=True):
        drafts.append(
            Draft(
                intent=way.says,
                success_criteria=criteria_for(goal, way),
                context=f"Asked for: {goal.sentence}",
                sequence=sequence,
                tool_hints=tuple(dict.fromkeys(step.tool for step in way.steps)),
                steps=way.steps,
            )
        )
    criteria = {one.criterion: one for goal, way in zip(goals, chosen, strict=True) for one in criteria_for(goal, way)}
    return Plan(task_criteria=tuple(criteria.values()), subtasks=tuple(drafts))


def _sequences(goals: tuple[Goal, ...]) -> tuple[int, ...]:
    """Who needs a file that another makes comes after it, and so does who says `then`; a command may touch anything."""
    numbers: list[int] = []
    for at, goal in enumerate(goals):
        first = 1
        for earlier, number in zip(goals[:at], numbers, strict=True):
            needs = set(writes_of(earlier)) & {*reads_of(goal), *writes_of(goal)} or set(reads_of(earlier)) & set(writes_of(goal))
            anything = {earlier.kind, goal.kind} & {"command", "tests", "build"} or (writes_of(earlier) and not goal.files)
            if needs or anything or goal.after:
                first = max(first, number + 1)
        numbers.append(first)
    return tuple(numbers)


def _refused(one: Refusal) -> str:
    if one.words:
        return f"without a model, no rule handles {', '.join(one.words)} in: {one.sentence}"
    return f"without a model, no rule can plan this sentence; it lacks a part of “{one.form}”: {one.sentence}"


def _no_way(goal: Goal, against: list[Way]) -> str:
    if against:
        return f"memory advises against every way that is left to: {goal.sentence}"
    return f"no way is left to: {goal.sentence}"
