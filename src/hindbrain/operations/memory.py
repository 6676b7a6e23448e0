"""Operations on evidence: record, and memory ingest, search, get, list, delete, restore, purge, reindex."""

from typing import Annotated, Any, Literal

from msgspec import Meta

from hindbrain.domain.errors import (
    BrainlessRoot,
    Busy,
    CallerRootUnknown,
    ClaimTooLarge,
    HumanNeeded,
    HygieneRefused,
    InvalidParams,
    PathRefused,
    Rejected,
    StoreUnavailable,
    UnknownEvidence,
)
from hindbrain.domain.evidence import Domain, Provenance
from hindbrain.domain.places import ProjectRoot, SourcePath
from hindbrain.engines.transcripts import Format, time_of
from hindbrain.operations.registry import Effect, operation
from hindbrain.policy.evidence import WORD_MAX
from hindbrain.services.call import Call, Retrieved
from hindbrain.services.evidence import Observation
from hindbrain.services.evidence_ingest import Request
from hindbrain.services.evidence_list import Wanted
from hindbrain.services.evidence_render import hit_text, known
from hindbrain.services.rendering import gap_text, rendered
from hindbrain.stores.evidence_files import Ignoring
from hindbrain.stores.port import Where

__all__ = ["TimeArgument", "delete", "get", "ingest", "list_", "moment", "purge", "record", "reindex", "restore", "search"]

Wing = Annotated[str, Meta(max_length=WORD_MAX, description="area of knowledge; says nothing about the checkout")]
Room = Annotated[str | None, Meta(description="part of the wing")]
DomainArgument = Annotated[Literal["project", "agent", "skill", "global"], Meta(description="for whom it is")]
ProvenanceArgument = Annotated[
    Literal["human", "research", "runtime"] | None,
    Meta(description="how it was made; by the channel or the source when left out; human is for people"),
]
AnchorKindArgument = Annotated[Literal["worktree", "repo", "global"] | None, Meta(description="with anchor_id; else derived")]
AnchorIdArgument = Annotated[str | None, Meta(description="such as repo:///path/.git")]
Tags = Annotated[list[str] | None, Meta(description="short words to filter by")]
Id = Annotated[str, Meta(description="id of a row of evidence, ev_…")]
TierArgument = Annotated[str | None, Meta(description="project or medulla; default is both")]
TimeArgument = Annotated[str | int | float | None, Meta(description="milliseconds, seconds or ISO")]


def moment(value: str | int | float | None, name: str) -> int | None:
    """A time as a caller wrote it, in milliseconds."""
    found = time_of(value)
    if value is not None and found is None:
        raise InvalidParams(
            f"{name} {str(value)[:40]!r} is not a time", fix="give milliseconds, or ISO such as 2026-07-06T12:00Z"
        )
    return found


@operation(
    "record",
    effect=Effect.WRITE,
    idempotent=True,
    positional=("text",),
    raises=(
        BrainlessRoot,
        CallerRootUnknown,
        HumanNeeded,
        HygieneRefused,
        Rejected,
        InvalidParams,
        ClaimTooLarge,
        PathRefused,
        StoreUnavailable,
    ),
)
def record(
    call: Call,
    text: Annotated[str, Meta(description="what was observed, word for word")],
    wing: Wing = "",
    room: Room = None,
    tags: Tags = None,
    provenance: ProvenanceArgument = None,
    domain: DomainArgument = "project",
    field: Annotated[str, Meta(max_length=WORD_MAX, description="subject, such as debugging")] = "general",
    importance: Annotated[int, Meta(ge=0, le=5)] = 0,
    source: Annotated[str | None, Meta(description="where it comes from: path, URL or conversation")] = None,
    thread: Annotated[str | None, Meta(description="conversation; the text becomes its next turn")] = None,
    message_id: Annotated[str | None, Meta(description="id of the message in its conversation")] = None,
    speaker: str | None = None,
    role: Annotated[str | None, Meta(description="user, assistant, …")] = None,
    said_at: TimeArgument = None,
    anchor_kind: AnchorKindArgument = None,
    anchor_id: AnchorIdArgument = None,
    cwd: Annotated[
        ProjectRoot | None, Meta(description="directory of this project it was made in; the caller's when left out")
    ] = None,
    branch_local: Annotated[bool, Meta(description="research that holds for this checkout only")] = False,
    dry_run: Annotated[bool, Meta(description="only tell the id")] = False,
) -> dict[str, Any]:
    """Keep one raw observation with its source. It is evidence, never a belief: memorize what you conclude from it."""
    seen = Observation(
        text=text,
        wing=wing,
        room=room,
        domain=Domain(domain),
        field=field,
        provenance=Provenance(provenance) if provenance else None,
        tags=tuple(dict.fromkeys(tags or ())),
        importance=importance,
        source=source,
        thread=thread,
        message=message_id,
        speaker=speaker,
        role=role,
        said_at=moment(said_at, "said_at"),
        anchor_kind=anchor_kind,
        anchor_id=anchor_id,
        cwd=cwd,
        branch_local=branch_local,
        dry_run=dry_run,
    )
    return call.house.observations.record(call.caller, seen)


@operation(
    "memory.ingest",
    effect=Effect.WRITE,
    idempotent=True,
    progress=True,
    positional=("path",),
    raises=(BrainlessRoot, CallerRootUnknown, HygieneRefused, InvalidParams, PathRefused, HumanNeeded, Busy, StoreUnavailable),
)
def ingest(
    call: Call,
    path: Annotated[SourcePath | None, Meta(description="file or directory; - reads standard input at a command line")] = None,
    text: Annotated[str | None, Meta(description="the text itself, instead of a path")] = None,
    source: Annotated[str | None, Meta(description="what a single file or text is called")] = None,
    source_format: Annotated[
        Literal["auto", "claude", "codex", "chatgpt", "slack", "jsonl", "convos", "text"],
        Meta(description="what it is; convos reads a plain text as a conversation"),
    ] = "auto",
    wing: Wing = "",
    room: Room = None,
    tags: Tags = None,
    provenance: ProvenanceArgument = None,
    domain: DomainArgument = "project",
    field: Annotated[str, Meta(max_length=WORD_MAX, description="subject, such as debugging")] = "general",
    importance: Annotated[int, Meta(ge=0, le=5)] = 0,
    anchor_kind: AnchorKindArgument = None,
    anchor_id: AnchorIdArgument = None,
    cwd: Annotated[ProjectRoot | None, Meta(description="directory of this project; where the path lies when left out")] = None,
    dry_run: Annotated[bool, Meta(description="only count")] = False,
    strip_noise: Annotated[bool, Meta(description="leave out what a host wrote into its log")] = True,
    keep_tools: Annotated[bool, Meta(description="also what tools answered")] = False,
    gitignore: Annotated[bool, Meta(description="honour .gitignore")] = True,
    ignorefile: Annotated[bool, Meta(description="honour .hindbrainignore")] = True,
    ignore_file: Annotated[list[SourcePath] | None, Meta(description="more files with ignore rules")] = None,
) -> dict[str, Any]:
    """Take in a file, a tree, a conversation export or a text as evidence, in chunks; again is safe and changes nothing."""
    more = tuple(ignore_file or ())
    request = Request(
        path=path,
        text=text,
        source=source,
        form=Format(source_format) if source_format != "auto" else None,
        wing=wing,
        room=room,
        domain=Domain(domain),
        field=field,
        provenance=Provenance(provenance) if provenance else None,
        tags=tuple(dict.fromkeys(tags or ())),
        importance=importance,
        anchor_kind=anchor_kind,
        anchor_id=anchor_id,
        cwd=cwd,
        strip_noise=strip_noise,
        keep_tools=keep_tools,
        ignoring=Ignoring(gitignore=gitignore, ignorefile=ignorefile, more=more),
        dry_run=dry_run,
    )
    return call.house.evidence_ingest.run(call.caller, request, call.progress)


@operation("memory.search", effect=Effect.READ, retrieval=True, positional=("query",), raises=(InvalidParams,))
def search(
    call: Call,
    query: Annotated[str, Meta(description="words or a question")],
    top_k: Annotated[int, Meta(ge=0, le=1000, description="rows at most")] = 10,
    wing: Annotated[str | None, Meta(description="only this wing")] = None,
    room: Annotated[str | None, Meta(description="only this room")] = None,
    domain: Annotated[Literal["project", "agent", "skill", "global"] | None, Meta(description="only for these")] = None,
    field: Annotated[str | None, Meta(description="only this subject")] = None,
    provenance: Annotated[Literal["human", "research", "runtime"] | None, Meta(description="only made so")] = None,
    anchor_kind: Annotated[Literal["worktree", "repo", "global"] | None, Meta(description="only anchored so")] = None,
    anchor_id: Annotated[str | None, Meta(description="only anchored here")] = None,
    tag: Annotated[str | None, Meta(description="only with this tag")] = None,
    thread: Annotated[str | None, Meta(description="only this conversation or document")] = None,
    source: Annotated[str | None, Meta(description="only this source")] = None,
    source_type: Annotated[Literal["project", "conversation", "manual"] | None, Meta(description="only such sources")] = None,
    tier: TierArgument = None,
    with_neighbors: Annotated[bool, Meta(description="also the chunk before and after; with at most 10 rows")] = False,
    min_score: Annotated[float, Meta(ge=0, description="no rows that match less than this")] = 0.0,
    floor: Annotated[bool, Meta(description="say nothing relevant rather than show what is not")] = True,
) -> Retrieved:
    """Find evidence by words and meaning: verbatim rows with their source, in this project and in the medulla."""
    call.house.counters.add(call.house.router.route(call.caller).brain, "queries_processed")
    where = Where(
        wing=wing,
        room=room,
        domain=domain,
        field=field,
        provenance=provenance,
        source_type=source_type,
        source=source,
        thread=thread,
        tag=tag,
        anchor_kind=anchor_kind,
        anchor_ids=(anchor_id,) if anchor_id is not None else None,
    )
    found = call.house.evidence_search.search(
        call.caller,
        query,
        where=where,
        tier=tier,
        top_k=top_k,
        min_score=min_score,
        floor=floor,
        with_neighbours=with_neighbors,
    )
    days = call.house.settings.number("stale_after_days")
    rows = [hit.told(call.now, days) for hit in found.hits]
    shown, left = rendered([hit_text(row) for row in rows], call.house.recall.tokens)
    answer = {
        "schema": "hindbrain-memory-search-v0",
        "query": query,
        "results": rows,
        "evidence_exists": found.exists,
        "honest_gaps": list(found.gaps),
        "embeddings_used": found.by_meaning,
        "rendered": "\n".join([shown or _nothing(top_k, found.exists), *map(gap_text, found.gaps)]),
    }
    return Retrieved(answer=answer | ({"left_out": left} if left else {}), candidates=found.found if rows else 0)


def _nothing(top_k: int, exists: int) -> str:
    return f"{'nothing relevant' if top_k else 'no rows were asked for'} ({known(exists)})"


@operation("memory.get", effect=Effect.READ, positional=("evidence_id",), raises=(UnknownEvidence,))
def get(
    call: Call,
    evidence_id: Id,
    deleted: Annotated[bool, Meta(description="also when it was deleted")] = False,
    around: Annotated[int, Meta(ge=0, le=20, description="rows before and after it in its conversation, so many each")] = 0,
    citing: Annotated[bool, Meta(description="also the cards that cite it, each with the role it has there")] = False,
) -> dict[str, Any]:
    """Show one row of evidence whole, with its source, scope and place in its conversation."""
    answer = call.house.observations.get(call.caller, evidence_id=evidence_id, deleted=deleted, around=around, citing=citing)
    return answer | {"rendered": rendered([hit_text(answer)], call.house.recall.tokens)[0]}


@operation("memory.list", effect=Effect.READ, raises=(InvalidParams,))
def list_(
    call: Call,
    wing: Annotated[str | None, Meta(description="only this wing")] = None,
    room: Annotated[str | None, Meta(description="only this room")] = None,
    thread: Annotated[str | None, Meta(description="only this conversation or document")] = None,
    source: Annotated[str | None, Meta(description="only this source")] = None,
    tag: Annotated[str | None, Meta(description="only with this tag")] = None,
    anchor_kind: Annotated[Literal["worktree", "repo", "global"] | None, Meta(description="only anchored so")] = None,
    anchor_id: Annotated[str | None, Meta(description="anchored here, or in a checkout of this repository")] = None,
    tier: TierArgument = None,
    deleted: Annotated[bool, Meta(description="what was deleted and can be brought back")] = False,
    limit: Annotated[int, Meta(ge=1, le=1000, description="rows at most")] = 50,
    newest: Annotated[bool, Meta(description="newest first; oldest first without it")] = True,
    cursor: Annotated[Annotated[str, Meta(max_length=200)] | None, Meta(description="next_cursor of the page before")] = None,
) -> dict[str, Any]:
    """List evidence by filters in pages, newest first, with how much there is in all."""
    where = Where(wing=wing, room=room, thread=thread, source=source, tag=tag, anchor_kind=anchor_kind)
    wanted = Wanted(where=where, anchor_id=anchor_id, deleted=deleted, limit=limit, newest=newest, cursor=cursor)
    answer = call.house.evidence_list.page(call.caller, wanted, tier=tier)
    shown, left = rendered([hit_text(row) for row in answer["rows"]], call.house.recall.tokens)
    filtered = where != Where() or anchor_id is not None
    nothing = "no evidence that these filters let through" if filtered else "no evidence"
    return answer | {"rendered": shown or nothing} | ({"left_out": left} if left else {})


@operation(
    "memory.delete", effect=Effect.WRITE, idempotent=True, positional=("evidence_id",), raises=(UnknownEvidence, HygieneRefused)
)
def delete(call: Call, evidence_id: Id, reason: Annotated[str, Meta(description="why")] = "") -> dict[str, Any]:
    """Take one row of evidence out of every answer; memory.restore brings it back, reading its source again does not."""
    return call.house.observations.delete(call.caller, evidence_id=evidence_id, reason=reason)


@operation(
    "memory.restore", effect=Effect.WRITE, idempotent=True, positional=("evidence_id",), raises=(UnknownEvidence, Rejected)
)
def restore(call: Call, evidence_id: Id) -> dict[str, Any]:
    """Bring a deleted row of evidence back."""
    return call.house.observations.restore(call.caller, evidence_id=evidence_id)


@operation("memory.purge", effect=Effect.DESTRUCTIVE, human=True, raises=(HumanNeeded, BrainlessRoot, InvalidParams))
def purge(
    call: Call,
    before: Annotated[str | int | float | None, Meta(description="only what was deleted before this time")] = None,
    tier: Annotated[str | None, Meta(description="medulla for the shared one")] = None,
) -> dict[str, Any]:
    """Erase for good what memory.delete took away: text, words and vectors."""
    return call.house.observations.purge(call.caller, before=moment(before, "before"), tier=tier)


@operation(
    "memory.reindex", effect=Effect.WRITE, idempotent=True, progress=True, raises=(BrainlessRoot, InvalidParams, StoreUnavailable)
)
def reindex(
    call: Call,
    stale: Annotated[bool, Meta(description="what an older version read; the default")] = False,
    force: Annotated[bool, Meta(description="every source whose file is still there")] = False,
    dry_run: Annotated[bool, Meta(description="only count")] = False,
) -> dict[str, Any]:
    """Read sources again that an older version had read otherwise; a source that is gone keeps its rows."""
    if stale and force:
        raise InvalidParams("stale and force exclude each other", fix="give one of them")
    return call.house.evidence_reindex.run(call.caller, force=force, dry_run=dry_run, progress=call.progress)
