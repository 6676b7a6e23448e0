"""Limits: what not to do now, from every source, each with its reason and its end; and whether somebody did it all the same."""

from collections.abc import Iterable, Iterator
from itertools import islice
from typing import Any

from hindbrain.domain.mission import DoNot, EventType, Family, MissionEvent, Route
from hindbrain.engines.course import Course
from hindbrain.engines.guarding import guard_do_not
from hindbrain.engines.inheriting import inherited_do_not
from hindbrain.engines.loop_act import SEARCHES, Found, Span, by_agent, overlapping, span_of
from hindbrain.engines.mission_facts import Facts
from hindbrain.engines.mission_query import normal_query, query_of
from hindbrain.policy.mission_routes import DO_NOT_MOST, RULES, TOOLS, UNTIL, Barred

__all__ = ["forbidden", "forbids", "undeclared"]

_FAMILIES = frozenset(one.value for one in Family)
_UNTIL_OF_LOOP = {
    "LW1": UNTIL.other,
    "LW2": UNTIL.scope,
    "LW3": UNTIL.direct,
    "LW4": UNTIL.other,
    "LW5": UNTIL.other,
    "LW6": UNTIL.scope,
    "LW7": UNTIL.dissent,
    "LW8": UNTIL.direct,
}


def forbidden(facts: Facts, rule: str) -> tuple[tuple[DoNot, ...], int]:
    """What not to do while a rule decides, and how many more there are than fit. The first reason for an item stands."""
    found: dict[tuple[str, str], DoNot] = {}
    for one in _all(facts, rule):
        if not _lifted(facts.course, one):
            found.setdefault((one.item, one.kind), one)
    entries = tuple(found.values())
    unlooked = max(0, len(facts.course.dead) - DO_NOT_MOST)
    return entries[:DO_NOT_MOST], max(0, len(entries) - DO_NOT_MOST) + unlooked


def _all(facts: Facts, rule: str) -> Iterator[DoNot]:
    course = facts.course
    yield from (_dated(course, one) for one in guard_do_not(course.guard))
    for barred in RULES[rule].do_not:
        yield _of_rule(course, barred, RULES[rule].stop_condition)
    if course.blocked_retrieval is not None:
        yield _entry(
            course,
            course.blocked_retrieval,
            "tool",
            "it answered nothing though the graph has nodes",
            "route",
            RULES["P3"].stop_condition,
        )
    if facts.directed is not None:
        why = f"the controller said {facts.directed} after the last verification"
        for tool in course.control.blocked_tools:
            yield _entry(course, tool, "tool_family" if tool in _FAMILIES else "tool", why, "ggs", UNTIL.verified)
        for target in course.control.blocked_targets:
            yield _entry(course, target, "target", why, "ggs", UNTIL.verified)
    if course.spec.route is Route.SHORT_AUDIT and EventType.GRAPH_INGEST.value in course.checked:
        yield _entry(course, "ingest", "tool", "the short route takes the files in once", "route", UNTIL.mission)
    for circle in (*course.loops.active(), *course.loops.closed()):
        yield _of_loop(course, circle)
    for item, kind, reason in facts.experience:
        yield _entry(course, item, kind, reason, "memory", UNTIL.memory)
    brought = {one.item for one in inherited_do_not(course.inherited)}
    for path in islice(reversed(course.dead.values()), DO_NOT_MOST):  # the newest are the likeliest
        source = "handoff" if path.target in brought else "loop"
        yield _entry(course, path.target, "target", path.why_ruled_out, source, path.until or UNTIL.dissent)


def _of_rule(course: Course, barred: Barred, until: str) -> DoNot:
    return _entry(course, barred.item, barred.kind, barred.reason, barred.source, until)


def _of_loop(course: Course, circle: Found) -> DoNot:
    return _entry(course, circle.item, circle.kind, circle.message, "loop", _UNTIL_OF_LOOP[circle.rule])


def _entry(course: Course, item: str, kind: str, reason: str, source: str, until: str) -> DoNot:
    return DoNot(
        item=item,
        kind=kind,  # type: ignore[arg-type]  # the table and the rules give one of three, and the record checks it when it is read
        reason=reason,
        source=source,  # type: ignore[arg-type]  # one of six, likewise
        until=until,
        since=course.seq,
    )


def _dated(course: Course, one: DoNot) -> DoNot:
    return _entry(course, one.item, one.kind, one.reason, one.source, one.until)


def _lifted(course: Course, one: DoNot) -> bool:
    """A dissent frees what it names for good, and the tool it chose until that was used."""
    return one.item in course.lifted or (course.dissent is not None and _announced(course.dissent, one))


def _announced(dissent: dict[str, Any], one: DoNot) -> bool:
    tool = str(dissent.get("chosen_tool") or "")
    if one.kind == "target":
        return one.item == dissent.get("target")
    return one.item == tool or (one.kind == "tool_family" and one.item == TOOLS.get(tool))


def forbids(
    entries: Iterable[DoNot], *, tool: str, family: str | None, target: str | None, query: str = "", span: Span = None
) -> DoNot | None:
    """The entry that a use of a tool breaks."""
    return next(_broken(entries, tool=tool, family=family, target=target, query=query, span=span), None)


def _broken(
    entries: Iterable[DoNot], *, tool: str, family: str | None, target: str | None, query: str, span: Span
) -> Iterator[DoNot]:
    asked = normal_query(query) if query else ""
    for one in entries:
        match one.kind:
            case "tool":
                broken = one.item == tool
            case "tool_family":
                broken = one.item == family
            case _:
                broken = _is_target(one.item, target, span) or bool(asked and normal_query(one.item) == asked)
        if broken:
            yield one


def _is_target(item: str, target: str | None, span: Span) -> bool:
    if target is None:
        return False
    if item == target:
        return True
    path, _, lines = item.rpartition(":")
    first, _, last = lines.partition("-")
    return (
        path == target and lines.isascii() and first.isdigit() and last.isdigit() and overlapping(span, (int(first), int(last)))
    )


def undeclared(course: Course, event: MissionEvent) -> str | None:
    """What to warn of when an event went against the last do_not and no dissent announced it. Ask after the event was added."""
    if not by_agent(event):
        return None
    dissent = course.declared[1] if course.declared is not None and course.declared[0] == event.seq else None
    family = "ingest" if event.event_type is EventType.GRAPH_INGEST else event.tool_family.value  # it asks the graph nothing
    against = _broken(
        course.forbidden,
        tool=event.tool or event.event_type.value,
        family=family,
        target=event.target,
        query=query_of(event) if event.event_type in SEARCHES else "",
        span=span_of(event.payload.get("range")),
    )
    standing = (  # asked of what was broken only: whether an end has come can mean to look through all circles
        one
        for one in against
        if one.item not in course.lifted
        and not (dissent is not None and _announced(dissent, one))
        and not _ended(course, one, event)
    )
    broken = next(standing, None)
    if broken is None:
        return None
    return f"undeclared_dissent: {event.event_type.value} went against do_not {broken.item} ({broken.reason}), without a dissent"


def _ended(course: Course, one: DoNot, event: MissionEvent) -> bool:
    """Whether the end that an entry names has come before this event."""
    if one.source == "guard":
        wrong = course.guard is not None and course.guard.classification == "wrong_workspace_binding"
        return not (wrong or course.stale_build)
    if one.source == "ggs":
        return (bool(course.rounds) and course.rounds[-1]["seq"] > one.since) or course.last_verified > one.since
    if one.item == Family.GRAPH.value:
        return one.since < course.last_direct < event.seq
    if one.item == Family.EDIT.value:
        return bool({"impact", "plan"} & course.checked)
    if one.until == RULES["P3"].stop_condition:
        return course.blocked_retrieval is None
    if one.until == UNTIL.scope:
        return one.item not in {found.item for found in course.loops.closed()}
    if one.until == UNTIL.other:
        return any(seen.counted and one.since < seen.seq < event.seq for seen in course.recent)
    return False
