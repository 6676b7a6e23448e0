"""Operations on experience: query, explain, curve, summary, pairs, nights, dream, feedback, remember, forget, export, import,
propose."""

from typing import Annotated, Any, Literal

from msgspec import Meta

from hindbrain.domain.errors import (
    BrainlessRoot,
    ClaimTooLarge,
    HumanNeeded,
    HygieneRefused,
    InvalidParams,
    PathRefused,
    Rejected,
    UnknownMegram,
)
from hindbrain.domain.places import Endings, OutputFile, SourcePath
from hindbrain.operations.registry import Effect, operation
from hindbrain.policy.experience import GLOBAL_ENTITY, GLOBAL_SPACE
from hindbrain.services.call import Call, Retrieved

__all__ = [
    "curve",
    "dream",
    "explain",
    "export",
    "feedback",
    "forget",
    "import_",
    "nights",
    "pairs",
    "propose",
    "query",
    "remember",
    "summary",
]

Id = Annotated[str, Meta(description="id of an experience, or how it begins")]
Space = Annotated[str, Meta(description="kind of act, such as tool:glob or intent:fix_the_build")]
Entity = Annotated[str | None, Meta(description="what it was done to, such as path:src; all of the space when left out")]


@operation(
    "experience.query", effect=Effect.READ, retrieval=True, positional=("space", "entity"), raises=(BrainlessRoot, InvalidParams)
)
def query(
    call: Call,
    space: Space = GLOBAL_SPACE,
    entity: Entity = None,
    recent: Annotated[int, Meta(ge=0, le=50, description="newest episodes to show")] = 5,
) -> Retrieved:
    """What experience advises about something: attention, decision, the action they give, rules and newest episodes."""
    answer = call.house.telling.query(call.caller, space=space, entity=entity, recent=recent)
    return Retrieved(answer=answer, candidates=len(answer["rules"]) + len(answer["recent"]))


@operation("experience.explain", effect=Effect.READ, positional=("megram",), raises=(BrainlessRoot, InvalidParams, UnknownMegram))
def explain(call: Call, megram: Id) -> dict[str, Any]:
    """Why something is known by experience: the event, task and loss behind it, its sources, and what befell it."""
    return call.house.telling.explain(call.caller, id_prefix=megram)


@operation(
    "experience.curve",
    effect=Effect.WRITE,
    positional=("space", "entity"),
    raises=(BrainlessRoot, InvalidParams, UnknownMegram, PathRefused),
)
def curve(
    call: Call,
    space: Annotated[str | None, Meta(description="kind of act; or give megram")] = None,
    entity: Entity = None,
    megram: Annotated[str | None, Meta(description="one experience, by its id or how that begins")] = None,
    days: Annotated[float, Meta(gt=0, le=3650, description="how far to look ahead")] = 60.0,
    out: Annotated[
        OutputFile | None,
        Endings((".svg", ".png")),
        Meta(description="file to write the picture to, .svg or .png; never overwritten"),
    ] = None,
    back: Annotated[float, Meta(ge=0, le=3650, description="how many days to look back, too; gives before")] = 0.0,
) -> dict[str, Any]:
    """Draw how an experience, or all about one thing, fades from now on; with `out` also as a picture."""
    return call.house.telling.curve(call.caller, space=space, entity=entity, id_prefix=megram, days=days, out=out, back=back)


@operation("experience.summary", effect=Effect.READ, raises=(BrainlessRoot,))
def summary(
    call: Call, verbose: Annotated[bool, Meta(description="every group with its sums and entries")] = False
) -> dict[str, Any]:
    """How much experience there is at each level, every rule that came of it, and what would take the trust of each."""
    return call.house.telling.summary(call.caller, verbose=verbose)


@operation("experience.pairs", effect=Effect.READ, positional=("find",), raises=(BrainlessRoot,))
def pairs(
    call: Call,
    find: Annotated[str, Meta(max_length=400, description="words that its names have")] = "",
    action: Annotated[
        Literal["Exploit", "Avoid", "Caution", "Ignore"] | None, Meta(description="only pairs that advise this")
    ] = None,
    limit: Annotated[int, Meta(ge=1, le=500, description="pairs at most, the strongest; total counts all")] = 100,
) -> dict[str, Any]:
    """Every pair that something was experienced with: attention, decision, what they advise, and how many at each level."""
    return call.house.survey.pairs(call.caller, find=find, action=action, limit=limit)


@operation("experience.nights", effect=Effect.READ, raises=(BrainlessRoot,))
def nights(
    call: Call, limit: Annotated[int, Meta(ge=1, le=200, description="nights at most, the latest first")] = 10
) -> dict[str, Any]:
    """What the Dreamer did in its last nights: what it forgot, which rules it made, and which lost their trust."""
    return call.house.survey.nights(call.caller, limit=limit)


@operation("experience.dream", effect=Effect.WRITE, idempotent=True, raises=(BrainlessRoot,))
def dream(call: Call, dry_run: Annotated[bool, Meta(description="only tell what would happen")] = False) -> dict[str, Any]:
    """Forget what has faded, distrust rules that experience contradicts, and make rules of what keeps repeating."""
    brain, done = call.house.experience.dream(call.caller, dry_run=dry_run)
    promoted = [
        {
            "id": one.id,
            "space": one.pair.space,
            "entity": one.pair.entity,
            "sigma": one.sign,
            "content": one.text,
            "sources": one.sources,
            "distilled_by": one.by,
        }
        for one in done.promoted
    ]
    would = "would be " if dry_run else ""
    return {
        "ok": True,
        "schema": "hindbrain-experience-dream-v0",
        "brain": brain.name,
        "dry_run": dry_run,
        "skipped": done.skipped,
        "complete": done.complete,
        "forgotten": done.forgotten,
        "spent": done.spent,
        "pairs": done.pairs,
        "demoted": list(done.demoted),
        "promoted": promoted,
        "hypotheses": [{"tools": list(one.tools), "content": one.text} for one in done.supposed],
        "failed": done.failed,
        "elapsed_ms": done.elapsed_ms,
        "rendered": "Another Dreamer has this brain; nothing was done."
        if done.skipped
        else f"{done.forgotten + done.spent} {would}forgotten, {len(done.demoted)} {would}demoted, "
        f"{len(promoted)} {would}promoted in {done.elapsed_ms} ms."
        + "".join(f"\nHypothesis: {one.text}" for one in done.supposed),
    }


@operation(
    "experience.feedback",
    effect=Effect.WRITE,
    human=True,
    positional=("rule", "content"),
    raises=(BrainlessRoot, HumanNeeded, UnknownMegram, InvalidParams, HygieneRefused, Rejected, ClaimTooLarge),
)
def feedback(call: Call, rule: Id, content: Annotated[str, Meta(description="what speaks against it")]) -> dict[str, Any]:
    """Speak against a rule: an opposite experience is added, the rule itself is never edited."""
    return call.house.experience.feedback(call.caller, rule=rule, content=content)


@operation(
    "experience.remember",
    effect=Effect.WRITE,
    human=True,
    positional=("text",),
    raises=(BrainlessRoot, HumanNeeded, InvalidParams, HygieneRefused, Rejected, ClaimTooLarge),
)
def remember(
    call: Call,
    text: Annotated[str, Meta(description="what holds")],
    level: Annotated[
        Literal["M", "K", "C", "T"], Meta(description="episode, task knowledge, rule, or what thinking rests on")
    ] = "C",
    space: Space = GLOBAL_SPACE,
    entity: Annotated[str, Meta(description="what it is about")] = GLOBAL_ENTITY,
    tags: Annotated[list[str] | None, Meta(description="short words to find it by")] = None,
) -> dict[str, Any]:
    """State something by hand, at once as a rule unless another level is given."""
    return call.house.experience.remember(call.caller, text=text, level=level, space=space, entity=entity, tags=tuple(tags or ()))


@operation(
    "experience.forget",
    effect=Effect.DESTRUCTIVE,
    human=True,
    positional=("megram",),
    raises=(BrainlessRoot, HumanNeeded, UnknownMegram, InvalidParams, HygieneRefused),
)
def forget(
    call: Call,
    megram: Annotated[str | None, Meta(description="id, or how the ids begin")] = None,
    all: Annotated[bool, Meta(description="all experience of this brain; needs confirm")] = False,  # noqa: A002 - the flag
    confirm: Annotated[str | None, Meta(description="the name of the brain, typed")] = None,
    reason: Annotated[str, Meta(description="why")] = "",
) -> dict[str, Any]:
    """Delete experience for good, with the texts of the finished tasks it came from. What is left is that it was forgotten."""
    if (megram is None) is not all:
        raise InvalidParams("one thing is forgotten: what begins with an id, or all", fix="give megram, or all with confirm")
    return call.house.experience.forget(call.caller, id_prefix=megram, everything=all, confirm=confirm, reason=reason)


@operation("experience.export", effect=Effect.WRITE, positional=("target",), raises=(BrainlessRoot, InvalidParams, PathRefused))
def export(
    call: Call, target: Annotated[OutputFile, Endings((".jsonl",)), Meta(description="file to write, .jsonl; never overwritten")]
) -> dict[str, Any]:
    """Write all experience of this brain as lines of JSON, with what befell it and how often it was used."""
    return call.house.experience_exchange.export(call.caller, target=target)


@operation(
    "experience.import",
    effect=Effect.WRITE,
    human=True,
    idempotent=True,
    positional=("source",),
    raises=(BrainlessRoot, HumanNeeded, InvalidParams, PathRefused),
)
def import_(call: Call, source: Annotated[SourcePath, Meta(description="file that experience export wrote")]) -> dict[str, Any]:
    """Read experience into this brain: it counts as it counted where it came from. The laws of this brain stay its own."""
    return call.house.experience_exchange.take_in(call.caller, source=source)


@operation(
    "experience.propose",
    effect=Effect.WRITE,
    positional=("rule",),
    raises=(BrainlessRoot, UnknownMegram, InvalidParams, HygieneRefused, Rejected, PathRefused),
)
def propose(
    call: Call,
    rule: Annotated[str | None, Meta(description="id of a rule, or how it begins")] = None,
    out: Annotated[
        OutputFile | None,
        Endings((".md", ".txt", ".json", ".jsonl")),
        Meta(description="instead: file for rules a person may take into thinking"),
    ] = None,
    dry_run: Annotated[bool, Meta(description="only look")] = False,
) -> dict[str, Any]:
    """Propose a rule as a candidate card with its episodes as evidence; never more. With `out`, only a file for a person."""
    if (rule is None) is (out is None):
        raise InvalidParams("one thing is proposed: a rule, or a file of rules", fix="give rule, or out")
    if out is not None:
        return call.house.proposing.thinking(call.caller, out=out)
    return call.house.proposing.propose(call.caller, rule=rule or "", dry_run=dry_run)
