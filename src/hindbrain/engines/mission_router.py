"""The router: the one next move of a mission, and what not to do meanwhile. An ordered table; the first rule that matches
decides. Pure: the same facts give the same move, live and when a mission is read again from its log."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import msgspec

from hindbrain.domain.errors import MissionClosed
from hindbrain.domain.mission import Family, MissionMode, Move, Phase, Policy, Route
from hindbrain.engines.mission_closing import open_requirements
from hindbrain.engines.mission_facts import Facts, remaining
from hindbrain.engines.mission_limits import forbidden, forbids
from hindbrain.engines.mission_moves import Moves, argv_of
from hindbrain.policy.mission_routes import RULES, SHORT_OF_PROOF, SPENT_TOOLS, STALE_STEPS, TOOLS, TRIED_REPAIRS
from hindbrain.policy.missions import POLICY_VERSION

__all__ = ["Facts", "Routed", "explained", "remaining", "route"]

Options = Iterable[Move] | None  # None: the rule does not match


@dataclass(frozen=True, slots=True, kw_only=True)
class Routed:
    """A decision: the rule, the move it gives and the policy that holds meanwhile."""

    rule: str
    phase: Phase
    route: Route
    move: Move
    policy: Policy
    soft_warning: str | None
    left_out: int = 0  # entries of do_not beyond what an answer holds


def route(facts: Facts) -> Routed:
    """The next move. A mission that is not active has none."""
    course = facts.course
    if not course.active:
        raise MissionClosed(
            f"mission {course.spec.mission_id} is {course.status.value}",
            fix="take it up again with mission resume, or begin another",
        )
    rule, options = _first(facts)
    do_not, left_out = forbidden(facts, rule)
    moves = Moves(facts)
    if course.dissent is not None:
        move = moves.chosen(course.dissent)
    else:
        found = list(_spent(facts, moves) if facts.spent else options)
        move = next((one for one in found if _may(facts, one, do_not)), moves.handoff("nothing that would help is allowed now"))
    line = RULES[rule]
    policy = Policy(
        allowed_tools=_allowed(facts, do_not),
        preferred_tool=move.tool,
        do_not=do_not,
        stop_condition=line.stop_condition,
        fallback=line.fallback,
        evidence_required=move.evidence_required if move.evidence_required != "none" else line.evidence_required,
        budget_remaining=remaining(course, facts.now),
        rule=rule,
        version=course.spec.policy_version or POLICY_VERSION,
    )
    return Routed(
        rule=rule,
        phase=course.phase,
        route=Route.DIRECT_PROOF if rule == "P4" else course.spec.route,
        move=move,
        policy=policy,
        soft_warning=_soft_warning(facts),
        left_out=left_out,
    )


def explained(facts: Facts) -> dict[str, Any]:
    """The rule that fires, the facts it used, and every rule before it that did not. Reads only."""
    course = facts.course
    told: dict[str, Any] = {"policy_version": course.spec.policy_version, "facts": _told(facts)}
    if not course.active:
        line = RULES["P0"]
        return {
            **told,
            "rule": "P0",
            "name": line.name,
            "because": line.when,
            "considered": [_considered("P0", True)],
            "move": None,
        }
    routed = route(facts)
    line = RULES[routed.rule]
    order = list(RULES)[: list(RULES).index(routed.rule) + 1]
    return {
        **told,
        "rule": routed.rule,
        "name": line.name,
        "because": line.when,
        "why": line.why,
        "considered": [_considered(one, one == routed.rule) for one in order],
        "phase": routed.phase.value,
        "route": routed.route.value,
        "move": msgspec.to_builtins(routed.move),
        "policy": msgspec.to_builtins(routed.policy),
        "soft_warning": routed.soft_warning,
        "left_out": routed.left_out,
    }


def _considered(rule: str, matched: bool) -> dict[str, Any]:
    return {"rule": rule, "name": RULES[rule].name, "when": RULES[rule].when, "matched": matched}


def _told(facts: Facts) -> dict[str, Any]:
    course = facts.course
    return {
        "status": course.status.value,
        "mode": course.spec.mode.value,
        "route": course.spec.route.value,
        "phase": course.phase.value,
        "budget_consumed": facts.consumed,
        "workspace": None if course.guard is None else course.guard.classification,
        "stale_build": course.stale_build,
        "graph_freshness": None if course.trust is None else course.trust.graph_freshness,
        "graph_calls_since_direct": course.streak,
        "graph_open": facts.graph_open,
        "blocked_retrieval": course.blocked_retrieval,
        "direct_events": course.direct_count,
        "claims": len(facts.own_claims),
        "claims_verified": len(course.verified),
        "targets_open": list(facts.targets())[:5],
        "candidates": list(facts.candidates)[:5],
        "loops": [one.rule for one in course.loops.active()],
        "directive": facts.directed,
        "open_requirements": list(open_requirements(course)),
        "events": course.seq,
    }


# -- the table -----------------------------------------------------------------------------------------------------------


def _first(facts: Facts) -> tuple[str, Iterable[Move]]:
    moves = Moves(facts)
    for rule, decide in _TABLE.items():
        options = decide(facts, moves)
        if options is not None:
            return rule, options
    raise AssertionError("the last rule always matches")


def _wrong_workspace(facts: Facts, moves: Moves) -> Options:
    if not facts.wrong_workspace:
        return None
    guard = facts.course.guard
    if guard is not None and guard.recovery is not None:
        return [moves.way_out(guard.recovery)]
    return [moves.recover("recovery_playbook", RULES["P1"].why, {"scope": facts.course.spec.repo})]


def _stale_build(facts: Facts, moves: Moves) -> Options:
    if not facts.course.stale_build:
        return None
    due = [one for one in STALE_STEPS if one not in facts.course.repairs and one not in facts.missing_tools]
    made = [moves.recover(one, RULES["P2"].why, type_="rebind" if TOOLS[one] is Family.HOST else "recover") for one in due]
    return [*made, moves.ask_human("the host still runs another build: only a person can restart it")]


def _blocked_retrieval(facts: Facts, moves: Moves) -> Options:
    course = facts.course
    if course.blocked_retrieval is None:
        return None
    why = RULES["P3"].why
    seen = {"observed_tool": course.blocked_retrieval, "observed_proof_state": "blocked"}
    due = [moves.recover(one, why, seen) for one in TRIED_REPAIRS if one not in course.repairs]
    return [*(_with(one, evidence="direct_search") for one in due), *moves.literals(why), *moves.reads(why)]


def _known_target(facts: Facts, moves: Moves) -> Options:
    named = list(facts.targets())
    if not named:
        return None
    why = RULES["P4"].why
    return [*(moves.look_at(one, why) for one in named), *(moves.beside(one, why) for one in named)]


def _unknown_repository(facts: Facts, moves: Moves) -> Options:
    course = facts.course
    if facts.targeted or course.direct_count or not facts.graph_open:
        return None
    why, taken_in = RULES["P5"].why, "graph_ingest" in course.checked
    if facts.graph_behind and not taken_in:
        return [moves.ingest(why), *moves.literals(why)]
    if taken_in and "audit" not in course.checked and not course.graph_calls:
        return [moves.audit(why), *moves.literals(why)]
    return None


def _graph_used_up(facts: Facts, moves: Moves) -> Options:
    if not facts.graph_used_up:
        return None
    why = RULES["P6"].why
    return [*moves.reads(why), *moves.literals(why), moves.ask_human("which file is meant? the graph's answers lead to none")]


def _loop(facts: Facts, moves: Moves) -> Options:
    circles = [one for one in facts.course.loops.active() if one.rule != "LW3"]
    if not circles:
        return None
    why = f"{circles[0].rule}: {circles[0].message}"
    thrash = any(one.rule == "LW8" for one in circles)
    conclude = [*_conclusions(facts, moves, why)] if not thrash else []
    if any(one.rule in ("LW5", "LW6") for one in circles):  # what is known has to be said
        return [*conclude, *moves.reads(why), *moves.literals(why), moves.handoff(why)]
    return [*moves.reads(why), *moves.literals(why), *conclude, moves.handoff(why)]


def _unjudged(facts: Facts, moves: Moves) -> Options:
    made = list(_conclusions(facts, moves, RULES["P8"].why))
    return made or None


def _conclusions(facts: Facts, moves: Moves, why: str) -> Iterator[Move]:
    """What the direct evidence allows to say."""
    course = facts.course
    if not course.direct_count:
        return
    for claim in course.open_claims:
        if course.loops.thrashed(claim.claim_id) is None:
            yield moves.verify(claim, why)
    if not facts.own_claims:
        yield moves.claim(why)


def _directive(facts: Facts, moves: Moves) -> Options:
    course, said = facts.course, facts.directed
    if said is None:
        return None
    why = f"{said}: {course.control.rationale}" if course.control.rationale else f"{said}: {RULES['P9'].why}"
    if said == "abandon":
        return [moves.handoff(why)]
    failed = [one for one in course.claims.values() if one.verdict == "insufficient_evidence"]
    if course.last_direct > course.rounds[-1]["seq"]:  # something new was seen since: it is judged again
        return [*(moves.verify(one, why) for one in reversed(failed)), moves.claim(why), moves.handoff(why)]
    again = [moves.look_at(one, why) for claim in reversed(failed) for one in claim.targets]
    run = [moves.test(".", why, facts.test_command)] if facts.test_command else []
    others = [*moves.reads(why), *moves.literals(why)]
    match said:
        case "refine":
            found = [*again, *others, *run]
        case "change_path":
            found = [*others, *run]
        case _:  # another tool, not only another place
            seek = [moves.seek(course.spec.task, why)] if facts.graph_open else []
            found = [*run, *moves.literals(why), *moves.reads(why), *seek]
    return [*found, moves.handoff(why)]


def _sweep(facts: Facts, moves: Moves) -> Options:
    return [moves.sweep(RULES["P10"].why)] if facts.course.sweep_due else None


def _refactor(facts: Facts, moves: Moves) -> Options:
    course = facts.course
    known = {"impact", "plan"} & course.checked or (not facts.graph and course.direct["direct_search"])
    if course.spec.mode is not MissionMode.REFACTOR or known:
        return None
    why = RULES["P11"].why
    touched = [*map(facts.plain, course.spec.known_targets), *course.candidates, *course.directs_by_target]
    asked = [moves.impact(one, why) for one in dict.fromkeys(touched)] if facts.graph_open else []
    fallback = [moves.beside(one, why) for one in dict.fromkeys(touched)]
    first = [moves.audit(why)] if facts.graph_open and not touched else []
    return [*asked, *first, *fallback, *moves.literals(why)]


def _documents(facts: Facts, moves: Moves) -> Options:
    course = facts.course
    loose = [text for text, standing in course.statements.items() if standing == "open"]
    if course.spec.mode is not MissionMode.DOCS_DRIFT or not loose:
        return None
    why = RULES["P12"].why
    bound = [_with(moves.seek(loose[0], why), evidence="doc_bound")] if facts.graph_open else []
    return [*bound, moves.literal(loose[0], why)]


def _release(facts: Facts, moves: Moves) -> Options:
    course = facts.course
    if course.spec.mode is not MissionMode.RELEASE or not course.verified:
        return None
    why = RULES["P13"].why
    if not facts.tested:
        known = argv_of(course.tests[-1].command) if course.tests else ()
        return [moves.test(".", why, facts.test_command or known)]
    unread = [one for one in facts.release_files if facts.unseen(one)]
    return [moves.read(one, why) for one in unread] or None


def _short_of_proof(facts: Facts, moves: Moves) -> Options:
    if not facts.short_of_proof:
        return None
    why = RULES["P14"].why
    return [*moves.reads(why), *moves.literals(why), moves.handoff(why)]


def _ready(facts: Facts, moves: Moves) -> Options:
    course = facts.course
    return [moves.close(RULES["P15"].why)] if course.verified and not open_requirements(course) else None


def _default(facts: Facts, moves: Moves) -> Iterable[Move]:
    course, why = facts.course, RULES["P16"].why
    task = course.spec.task
    seek = [] if course.loops.asked(Family.GRAPH, task, course.spec.scope or "") else [moves.seek(task, why)]
    audit = [] if "audit" in course.checked else [moves.audit(why)]
    looks = [*seek, *audit] if course.spec.route is Route.SHORT_AUDIT else [*audit, *seek]
    rest = [*moves.reads(why), *moves.literals(why), moves.ask_human("what is known leads no further: which file is meant?")]
    return [*(looks if facts.graph_open else ()), *rest]


_TABLE: Mapping[str, Callable[[Facts, Moves], Options]] = {
    "P1": _wrong_workspace,
    "P2": _stale_build,
    "P3": _blocked_retrieval,
    "P4": _known_target,
    "P5": _unknown_repository,
    "P6": _graph_used_up,
    "P7": _loop,
    "P8": _unjudged,
    "P9": _directive,
    "P10": _sweep,
    "P11": _refactor,
    "P12": _documents,
    "P13": _release,
    "P14": _short_of_proof,
    "P15": _ready,
    "P16": _default,
}


# -- what holds for every rule ---------------------------------------------------------------------------------------------


def _spent(facts: Facts, moves: Moves) -> Iterator[Move]:
    """The whole budget is used: what is left is to judge, to hand over or to close."""
    why = "the whole budget is used"
    for claim in facts.course.open_claims:
        if facts.course.loops.thrashed(claim.claim_id) is None:
            yield moves.verify(claim, why)
    if facts.course.verified and not open_requirements(facts.course):
        yield moves.close(why)
    yield moves.handoff(why)


def _may(facts: Facts, move: Move, do_not: tuple[Any, ...]) -> bool:
    """Whether a move can be given: its tool is there and nothing forbids it."""
    if move.tool in facts.missing_tools:
        return False
    family = None if move.type in ("recover", "rebind", "ingest") else TOOLS.get(move.tool)
    searched = move.type in ("literal_search", "graph_query")
    broken = forbids(
        do_not,
        tool=move.tool,
        family=None if family is None else family.value,
        target=move.target,
        query=move.target if searched else "",
    )
    return broken is None


def _allowed(facts: Facts, do_not: tuple[Any, ...]) -> tuple[str, ...]:
    if facts.spent:
        return SPENT_TOOLS
    offered = (one for one, family in TOOLS.items() if facts.graph or family is not Family.GRAPH)
    return tuple(
        one
        for one in offered
        if one not in facts.missing_tools and forbids(do_not, tool=one, family=TOOLS[one].value, target=None) is None
    )


def _soft_warning(facts: Facts) -> str | None:
    if facts.spent:
        late = "the soft deadline has passed" if facts.late else "the whole budget is used"
        return f"{late}: verify, hand over or close"
    if facts.short_of_proof:
        return f"over {SHORT_OF_PROOF:.0%} of the budget is used and nothing was proven directly"
    return None


def _with(move: Move, *, evidence: str) -> Move:
    """The same move, with the proof that its rule asks for."""
    return msgspec.structs.replace(move, evidence_required=evidence)
