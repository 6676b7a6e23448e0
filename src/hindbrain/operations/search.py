"""Operations that look into files: search for a text or a pattern, glob for names."""

import json
from typing import Annotated, Any, Literal

from msgspec import Meta

from hindbrain.domain.errors import InvalidParams
from hindbrain.domain.places import ProjectFile
from hindbrain.engines.fence import fenced
from hindbrain.engines.scopes import Scope
from hindbrain.operations.registry import Effect, operation
from hindbrain.policy.text_search import CONTEXT_DEFAULT, CONTEXT_MAX, GLOB_TOP_K, SEARCH_TOP_K, SEARCH_TOP_K_MAX
from hindbrain.services.call import Call, Retrieved
from hindbrain.services.text_search import Asked

__all__ = ["glob", "search"]

ScopeArgument = Annotated[ProjectFile | None, Meta(description="a path, absolute or not, or an id prefix such as file::src")]


@operation("search", effect=Effect.READ, retrieval=True, positional=("query",), raises=(InvalidParams,))
def search(
    call: Call,
    query: Annotated[str, Meta(description="the text or pattern itself")],
    mode: Annotated[
        Literal["literal", "regex", "semantic"], Meta(description="semantic ranks code by words, as seek does")
    ] = "literal",
    scope: ScopeArgument = None,
    top_k: Annotated[int, Meta(ge=1, le=SEARCH_TOP_K_MAX, description="rows at most")] = SEARCH_TOP_K,
    case_sensitive: bool = False,
    context_lines: Annotated[int, Meta(ge=0, le=CONTEXT_MAX, description="lines shown before and after")] = CONTEXT_DEFAULT,
    invert: Annotated[bool, Meta(description="lines that do not match")] = False,
    count_only: Annotated[bool, Meta(description="only how many")] = False,
    multiline: Annotated[bool, Meta(description="let a match run over line ends, and . match them")] = False,
    filename_pattern: Annotated[str | None, Meta(description="only files such as **/*.py")] = None,
    auto_ingest: Annotated[bool, Meta(description="first ingest a scope outside the ingest roots")] = False,
    max_output_chars: Annotated[int, Meta(ge=200, description="cut whole rows to stay below")] | None = None,
) -> Retrieved:
    """Find a text or a regular expression in ids and files, also in files the graph does not know yet."""
    route = call.house.router.route(call.caller)
    call.house.counters.add(route.brain, "queries_processed")
    if mode == "semantic" and query.strip():
        found = call.house.finding.code(route, query, limit=top_k, scope=scope)
        answer: dict[str, Any] = {
            "results": [] if count_only else [_as_hit(row) for row in found.rows],
            "total_matches": found.found,
            **({"match_count": found.found} if count_only else {}),
            "truncated": not count_only and found.found > len(found.rows),
            "auto_ingested": False,
            "auto_ingested_paths": [],
        }
    else:
        asked = Asked(
            query=query,
            literal=mode != "regex",
            scope=Scope(),
            top_k=top_k,
            case_sensitive=case_sensitive,
            context_lines=context_lines,
            invert=invert,
            count_only=count_only,
            multiline=multiline,
            filename_pattern=filename_pattern,
        )
        answer = call.house.finding.search(call.caller, asked, scope, auto_ingest=auto_ingest, progress=call.progress)
    total = answer["total_matches"]
    head = {"schema": "m1nd-search-v0", "query": query, "mode": mode, "scope_applied": scope}
    answer = head | answer | {"proof_state": "proving" if total else "blocked"}
    return Retrieved(answer=_bounded(answer, max_output_chars), candidates=total, scope=scope)


@operation("glob", effect=Effect.READ, retrieval=True, positional=("pattern",), raises=(InvalidParams,))
def glob(
    call: Call,
    pattern: Annotated[str, Meta(description="path pattern such as **/*_test.py; without a slash it is about names anywhere")],
    scope: ScopeArgument = None,
    top_k: Annotated[int, Meta(ge=1, le=5_000, description="files at most")] = GLOB_TOP_K,
) -> Retrieved:
    """List files by path pattern, from the graph and the disk."""
    call.house.counters.add(call.house.router.route(call.caller).brain, "queries_processed")
    found = call.house.finding.glob(call.caller, pattern, scope, top_k=top_k)
    total = found["total_matches"]
    rendered = "\n".join(row["file_path"] + ("" if row["on_disk"] else "  (gone from the disk)") for row in found["results"])
    answer = {"schema": "m1nd-glob-v0", "pattern": pattern, "scope_applied": scope, **found}
    answer |= {"proof_state": "proving" if total else "blocked", "rendered": rendered or "no file fits this pattern"}
    return Retrieved(answer=answer, candidates=total, scope=scope)


def _as_hit(row: dict[str, Any]) -> dict[str, Any]:
    """A row of code in the shape of a hit."""
    return {
        "node_id": row["node_id"],
        "label": row["label"],
        "type": row["type"],
        "file_path": row["file_path"],
        "line_number": row["line_start"] or None,
        "matched_line": row["excerpt"] or None,
        "context_before": [],
        "context_after": [],
        "graph_linked": True,
        "score": row["score"],
    }


def _bounded(answer: dict[str, Any], most: int | None) -> dict[str, Any]:
    """Whole rows within a number of characters, with the text that a terminal prints."""
    rows = answer["results"]
    if most is not None:
        kept = len(rows)
        while kept and len(json.dumps(_finished(answer, rows[:kept]), ensure_ascii=False)) > most:
            kept = kept * 3 // 4
        if kept < len(rows):
            shown = {one["file_path"] for one in rows[:kept]}
            answer |= {
                "truncated": True,
                "inline_summary": f"{kept} of {answer['total_matches']} matches, in {len(shown)} files; narrow the scope",
            }
            rows = rows[:kept]
    return _finished(answer, rows)


def _finished(answer: dict[str, Any], rows: list[dict[str, Any]]) -> dict[str, Any]:
    lines = [
        f"{row['file_path']}:{row['line_number'] or ''}: {(row['matched_line'] or row['node_id'] or '').strip()}" for row in rows
    ]
    lines = [fenced("\n".join(lines))] if lines else []  # what stands in files was written by anybody: it is quoted
    total = answer["total_matches"]
    if len(rows) < total:
        lines.append(f"{total} matches" if "match_count" in answer else f"{total - len(rows)} more matches")
    told = answer.get("absence", {}).get("why", "")
    return answer | {"results": rows, "rendered": "\n".join(lines) or f"no match{': ' + told if told else ''}"}
