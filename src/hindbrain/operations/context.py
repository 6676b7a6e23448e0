"""Operations that assemble what to go by in a piece of work: a context, and a brief of it."""

from typing import Annotated, Literal

from msgspec import Meta

from hindbrain.domain.errors import InvalidParams, PathRefused
from hindbrain.domain.evidence import Domain
from hindbrain.domain.places import ProjectRoot
from hindbrain.engines.brief import brief_of
from hindbrain.operations.registry import Effect, operation
from hindbrain.policy.cards import CONTEXT_DAO_TIAN, CONTEXT_ITEMS
from hindbrain.policy.evidence import WORD_MAX
from hindbrain.services.call import Call, Retrieved
from hindbrain.services.context import Asked
from hindbrain.services.context_text import brief_shown, pack_text, suggestion_text
from hindbrain.services.rendering import gap_text
from hindbrain.services.retrieval import LAG

__all__ = ["brief", "context"]


@operation("context", effect=Effect.READ, retrieval=True, positional=("query",), raises=(InvalidParams, PathRefused))
def context(
    call: Call,
    query: Annotated[str, Meta(description="what the work is about")],
    field: Annotated[str, Meta(max_length=WORD_MAX, description="subject; general asks for every one")] = "general",
    domain: Annotated[Literal["project", "agent", "skill", "global"], Meta(description="for whom")] = "project",
    cwd: Annotated[ProjectRoot | None, Meta(description="directory of this project; the caller's when left out")] = None,
    include_evidence: Annotated[bool, Meta(description="also observations, last")] = False,
    include_cards: Annotated[bool | None, Meta(description="also opt-in cards, and what each card cites")] = None,
    max_items: Annotated[int, Meta(ge=0, le=200, description="items at most")] = CONTEXT_ITEMS,
    dao_tian_limit: Annotated[int, Meta(ge=0, le=50, description="universal laws at most")] = CONTEXT_DAO_TIAN,
    distill_suggestions: Annotated[bool, Meta(description="name subjects of which nothing is known yet")] = True,
) -> Retrieved:
    """Assemble what to go by: laws, then methods, then tools, then evidence; near before far. Use it to choose an approach."""
    asked = Asked(
        query=query,
        field=field,
        domain=Domain(domain),
        max_items=max_items,
        dao_tian_limit=dao_tian_limit,
        cwd=cwd,
        include_evidence=include_evidence,
        include_cards=include_cards,
        suggestions=distill_suggestions,
    )
    pack = call.house.context.pack(call.caller, asked)
    # How far an index lags is told beside the text: it changes with every write, and the text of a context must not.
    lasting = [one for one in pack.gaps if one["kind"] != LAG]
    after = [*map(suggestion_text, pack.suggestions), *map(gap_text, lasting)]
    text, left = pack_text(pack.told(), after, call.house.recall.tokens)
    answer = {
        "schema": "hindbrain-context-v0",
        **pack.told(),
        "context_hash": pack.hash,
        "distill_suggestions": pack.suggestions,
        "honest_gaps": pack.gaps,
        "rendered": text,
    }
    found = sum(len(section["items"]) for section in pack.sections)
    return Retrieved(answer=answer | ({"left_out": left} if left else {}), candidates=found)


@operation("brief", effect=Effect.READ, retrieval=True, positional=("query",), raises=(InvalidParams, PathRefused))
def brief(
    call: Call,
    query: Annotated[str, Meta(description="what the brief is about")],
    field: Annotated[str, Meta(max_length=WORD_MAX, description="subject; general asks for every one")] = "general",
    domain: Annotated[Literal["project", "agent", "skill", "global"], Meta(description="for whom")] = "project",
    cwd: Annotated[ProjectRoot | None, Meta(description="directory of this project; the caller's when left out")] = None,
    max_items: Annotated[int, Meta(ge=0, le=200, description="items at most")] = CONTEXT_ITEMS,
    dao_tian_limit: Annotated[int, Meta(ge=0, le=50, description="universal laws at most")] = CONTEXT_DAO_TIAN,
) -> Retrieved:
    """Tell what cards and evidence say about something, each part with its source, and what is open, disputed or missing."""
    asked = Asked(
        query=query,
        field=field,
        domain=Domain(domain),
        max_items=max_items,
        dao_tian_limit=dao_tian_limit,
        cwd=cwd,
        include_evidence=True,
        include_cards=True,
        suggestions=False,
    )
    pack = call.house.context.pack(call.caller, asked)
    told = brief_of(pack.told())
    answer = {
        "schema": "hindbrain-brief-v0",
        **told,
        "honest_gaps": pack.gaps,
        "rendered": brief_shown(told, call.house.recall.tokens),
    }
    return Retrieved(answer=answer, candidates=sum(len(section["items"]) for section in pack.sections))
