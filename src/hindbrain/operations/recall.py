"""Operations that retrieve: north, seek, recall."""

import datetime
import os
from dataclasses import replace
from typing import Annotated, Any

from msgspec import Meta

from hindbrain.domain.brain import Tier, TierAsked
from hindbrain.domain.errors import InvalidParams
from hindbrain.domain.places import ProjectFile
from hindbrain.operations.registry import Effect, operation
from hindbrain.policy.code_search import NORTH_ANCHORS
from hindbrain.policy.recall import BEAT_MIN_SCORE, SEEK_TOP_K
from hindbrain.services.call import Call, Retrieved
from hindbrain.services.code_rows import judged, with_anchors, with_code
from hindbrain.services.experience.instincts import instinct_texts
from hindbrain.services.explaining import Trace, explained
from hindbrain.services.fanout import in_turn
from hindbrain.services.finding import GRAPH_CORRUPT, GRAPH_LOST
from hindbrain.services.recall import WIDE_IS_OFF, tier_asked
from hindbrain.services.rendering import claims_known, gap_text, labelled_text, rendered_rows

__all__ = ["north", "recall", "seek"]

_LOST = (GRAPH_CORRUPT, GRAPH_LOST)
_GAPS = 3  # told with an empty answer, to say why it is empty; honest_gaps has all of them

TierArgument = Annotated[
    str | None, Meta(description="project, medulla, or all-brains (every brain, labelled); default is project and medulla")
]

TimeArgument = Annotated[
    str | int | None,
    Meta(description="a time: milliseconds, or ISO such as 2026-07-06T12:00 (UTC; a date alone is its first moment)"),
]


@operation("north", effect=Effect.READ, everyday=True, retrieval=True, positional=("task",))
def north(
    call: Call,
    task: Annotated[str | None, Meta(description="what you are about to do, in a sentence")] = None,
    tier: TierArgument = None,
    explain: Annotated[
        bool, Meta(description="also why each row stands where it does, and what it costs; a look, not a beat")
    ] = False,
) -> Retrieved:
    """Start here: what this project and the medulla know about your task, what disagrees, what is missing, and one next move."""
    route = call.house.router.route(call.caller)
    trace = Trace() if explain else None
    if trace is None:
        call.house.counters.add(route.brain, "queries_processed")
    found = call.house.north.north(call.caller, task=task, tier=tier, trace=trace)
    if task is None or not task.strip():
        return _explained(call, found, trace)
    code = call.house.finding.code(route, task, limit=NORTH_ANCHORS, tier=tier, min_score=BEAT_MIN_SCORE)
    answer = with_anchors(found.answer, code, budget=call.house.recall.tokens)
    found = Retrieved(answer=answer, candidates=found.candidates + len(code.rows), scope=found.scope)
    return _explained(call, found, trace)


def _explained(call: Call, found: Retrieved, trace: Trace | None) -> Retrieved:
    if trace is None:
        return found
    told = [*instinct_texts(found.answer.get("instincts") or {})]
    why = explained(found.answer, trace, instincts=told, budget=call.house.recall.tokens)
    return replace(found, answer={**found.answer, "explain": why})


@operation("seek", effect=Effect.READ, everyday=True, retrieval=True, positional=("query",), raises=(InvalidParams,))
def seek(
    call: Call,
    query: Annotated[str, Meta(description="words or a question")],
    top_k: Annotated[int, Meta(ge=1, le=200, description="rows at most")] = SEEK_TOP_K,
    scope: Annotated[ProjectFile | None, Meta(description="id prefix such as light:: or evidence::, or a path")] = None,
    tier: TierArgument = None,
    min_score: Annotated[float, Meta(ge=0, le=1, description="no rows that match less than this")] = BEAT_MIN_SCORE,
    include_history: Annotated[bool, Meta(description="also superseded versions, labelled")] = False,
    node_types: Annotated[list[str], Meta(description="only rows of these types, e.g. file, class, function")] = [],  # noqa: B006
    graph_rerank: Annotated[bool, Meta(description="also weigh what was changed lately, and with what words")] = True,
) -> Retrieved:
    """Find claims and evidence by words and meaning, and the code that is meant: this project's first, then the medulla's."""
    route = call.house.router.route(call.caller)
    call.house.counters.add(route.brain, "queries_processed")
    if not query.strip():
        raise InvalidParams("query is empty", fix="give words to look for")
    asked, warning = tier_asked(tier)
    recall_service, fanout = call.house.recall, call.house.fanout
    options: dict[str, Any] = {"scope": scope, "node_types": node_types, "min_score": min_score, "related": graph_rerank}
    merging: dict[str, Any] = {"top_k": top_k, "budget": recall_service.tokens, "node_types": node_types}
    if asked is TierAsked.ALL_BRAINS and fanout.allowed and _memory_scope(scope):
        wide = fanout.ask(route, query, limit=top_k, min_score=min_score)
        rows = [_labelled(row) for row in in_turn(wide["groups"])]
        answer = {"schema": "m1nd-seek-v0", "query": query, **wide, "results": rows, "rendered": "nothing relevant"}
        code = call.house.finding.code(route, query, limit=top_k, tier=None, **options)
        answer = with_code(answer | judged(rows), code, text_of=labelled_text, **merging)
        # The whole texts are in groups; here is only what is needed to find them there.
        answer["results"] = [{key: value for key, value in row.items() if key != "text"} for row in answer["results"]]
        return Retrieved(answer=answer, candidates=wide["found"] + code.found, scope=scope)
    wanted = tier if asked is not TierAsked.ALL_BRAINS else None
    beat = recall_service.beat(
        route,
        query,
        tier=wanted,
        fallback=False,
        limit=top_k,
        min_score=min_score,
        include_history=include_history,
        ranked_pairs=False,
        evidence=top_k if _scoped(scope, "evidence::") else 0,
    )
    claims = [_result(row) for row in beat.rows] if _memory_scope(scope) else []
    evidence = [_labelled(row) for row in beat.evidence]
    own, shared = _by_owner(claims, evidence, top_k)
    rows, found = [*own, *shared], (beat.found if claims else 0) + len(beat.evidence)
    answer = {
        "schema": "m1nd-seek-v0",
        "query": query,
        "results": own,
        "tier": beat.tier,
        "memory_exists": beat.exists,
        "memory_exists_by_tier": beat.exists_by_tier,
        "conflicts": beat.conflicts,
        "honest_gaps": beat.gaps,
        "embeddings_used": beat.by_meaning,
        **_sufficiency(claims[:top_k], found if evidence else beat.found),
        "rendered": "\n".join([f"nothing relevant ({claims_known(beat.exists)})", *map(gap_text, beat.gaps[:_GAPS])]),
    }
    if beat.evidence_exists:
        answer["evidence_exists"] = beat.evidence_exists
    if warning or beat.warning:
        answer["tier_warning"] = warning or beat.warning
    if asked is TierAsked.ALL_BRAINS:
        answer["tier_warning"] = WIDE_IS_OFF
    code = call.house.finding.code(route, query, limit=top_k, tier=wanted, **options)
    answer = with_code(answer, code, shared=shared, **merging)
    answer |= _degraded(answer)
    return Retrieved(answer=answer, candidates=(found if rows else 0) + code.found, scope=scope)


def _by_owner(
    claims: list[dict[str, Any]], evidence: list[dict[str, Any]], top_k: int
) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """Split rows into those of the project and those of the medulla. A project row that only came along with its medulla
    counterpart, because both disagree, stays with that one."""

    def is_own(row: dict[str, Any]) -> bool:
        return bool(row["tier"] == Tier.PROJECT.value and row["match"] != "pair")

    parts = []
    for wanted in (True, False):
        kept = [row for row in claims if is_own(row) is wanted][:top_k]
        parts.append([*kept, *[row for row in evidence if is_own(row) is wanted][: top_k - len(kept)]])
    return parts[0], parts[1]


def _degraded(answer: dict[str, Any]) -> dict[str, Any]:
    """An empty answer because something did not answer is no absence: what is wrong, and the way out as it can be called."""
    silent = [one for one in answer["honest_gaps"] if one["kind"].endswith("_unreachable") or one["kind"] in _LOST]
    if answer["results"] or not silent:
        return {}
    told = [text for one in silent if (text := gap_text(one)) not in answer["rendered"]]
    return {"status": "blocked", "diagnosis": silent[0], "rendered": "\n".join([answer["rendered"], *told])}


def _memory_scope(scope: str | None) -> bool:
    """Claims are in no scope that names code; an absolute path is judged by the envelope."""
    return _scoped(scope, "light::")


def _scoped(scope: str | None, prefix: str) -> bool:
    return scope is None or scope == "" or scope.startswith(prefix) or prefix.startswith(scope) or os.path.isabs(scope)


def _text(call: Call, rows: list[dict[str, Any]], none: str) -> dict[str, Any]:
    """The rows as text for a context, with the number of those that its budget left out."""
    text, left = rendered_rows(rows, call.house.recall.tokens)
    return {"rendered": text or none} | ({"left_out": left} if left else {})


def _labelled(row: dict[str, Any]) -> dict[str, Any]:
    """A row of any kind with the label that every result has."""
    if row["kind"] == "evidence":
        return row | {"label": row["source_file"]}
    return row | {"label": row["claim"]} if row["kind"] == "card" else _result(row)


def _result(row: dict[str, Any]) -> dict[str, Any]:
    return row | {
        "label": row["claim"],
        "type": "module",
        "score_breakdown": row.get("score_breakdown") or {"keyword": row["score"]},
    }


def _sufficiency(rows: list[dict[str, Any]], found: int) -> dict[str, Any]:
    """How far a single answer carries."""
    scores = [row["score"] for row in rows if row["score"] is not None]
    top = max(scores, default=0.0)
    margin = top - sorted(scores)[-2] if len(scores) > 1 else top
    proof = "blocked" if not found else "proving" if top >= 0.45 and margin >= 0.02 else "triaging"
    state = "sufficient" if top >= 0.45 else "gathering"
    why = "a claim covers most of the question" if state == "sufficient" else "no claim covers the question well"
    return {"proof_state": proof, "sufficiency": {"state": state, "top_score": top, "captured": found, "why": why}}


@operation("recall", effect=Effect.READ, retrieval=True, positional=("query",), raises=(InvalidParams,))
def recall(
    call: Call,
    query: Annotated[str | None, Meta(description="words; without them everything that was live")] = None,
    as_of: TimeArgument = None,
    tier: Annotated[str | None, Meta(description="project or medulla; default is both")] = None,
    limit: Annotated[int, Meta(ge=1, le=1000, description="rows at most")] = 50,
) -> Retrieved:
    """Show what was believed at a time, from the record; without a time, what is believed now."""
    route = call.house.router.route(call.caller)
    call.house.counters.add(route.brain, "queries_processed")
    at = _time(as_of, call.now)
    asked, warning = tier_asked(tier)
    if asked is TierAsked.ALL_BRAINS:
        asked, warning = TierAsked.DEFAULT, "the record is read one brain at a time; served from this project and the medulla"
    rows, found = call.house.recall.as_of(route, query, at=at, tier=tier, limit=limit)
    answer = {
        "schema": "hindbrain-recall-v0",
        "as_of": at,
        "memory": rows,
        "found": found,
        "tier": asked.value,
        **_text(call, rows, f"nothing {'about this ' if query else ''}was live at {_told(at)}"),
    }
    if warning:
        answer["tier_warning"] = warning
    return Retrieved(answer=answer, candidates=found)


def _told(at: int) -> str:
    try:
        return datetime.datetime.fromtimestamp(at / 1000, datetime.UTC).strftime("%Y-%m-%d %H:%M:%S UTC")
    except (ValueError, OverflowError, OSError):
        return "a time before or after every calendar"


def _time(value: str | int | None, now: int) -> int:
    if value is None:
        return now
    if isinstance(value, int):
        return value
    told_ms = value.strip()
    if told_ms.isascii() and told_ms.isdigit() and len(told_ms) <= 18:
        return int(told_ms)
    try:
        told = datetime.datetime.fromisoformat(value.strip())
    except ValueError as wrong:
        raise InvalidParams(
            f"as_of {value[:40]!r} is not a time", fix="give milliseconds or ISO, e.g. 2026-07-06T12:00:00Z"
        ) from wrong
    told = told if told.tzinfo else told.replace(tzinfo=datetime.UTC)
    return int(told.timestamp() * 1000)
