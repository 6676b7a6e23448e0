"""Recalling: what R2 asks memory before each plan, over the bus and in a short time. No model; data becomes text elsewhere."""

from collections.abc import Sequence
from dataclasses import dataclass

from hindbrain.domain.message import MessageType, Role
from hindbrain.domain.notes import MemoryQuery, MemoryResponse
from hindbrain.domain.task import TaskSpec
from hindbrain.engines.calibration import Recalled
from hindbrain.engines.planning import Act, Reputation
from hindbrain.engines.slug import ENTITY, GLOBAL_SPACE, class_space, intent_space, path_entity, tool_space
from hindbrain.policy.planning import ENTRIES, MEMORY_S, PAIRS_ASKED, RECENT
from hindbrain.services.control.ports import Heard, Voice

__all__ = ["Recollection", "recollect", "reputation_of", "spaces_of"]

_LATE = f"memory gave no answer within {round(MEMORY_S * 1000)} ms"


@dataclass(frozen=True, slots=True, kw_only=True)
class Recollection:
    """What came back, and why something is missing."""

    pairs: tuple[Recalled, ...]
    error: str | None = None


def spaces_of(spec: TaskSpec) -> tuple[str, ...]:
    """What a task's experience is kept under: its intent, its class, and what holds for everything."""
    spaces = [intent_space(spec.intent)]
    if spec.x.task_class:
        spaces.append(class_space(spec.x.task_class))
    return tuple(dict.fromkeys((*spaces, GLOBAL_SPACE)))


def recollect(voice: Voice, spec: TaskSpec, because: Heard | None) -> Recollection:
    """Ask for rules, then potentials, then the newest episodes of each pair, and for what is tagged."""
    queries: list[MemoryQuery] = []
    spaces = spaces_of(spec)
    for space in spaces:
        for kind, n in (("C", 0), ("MK", 0), ("recent", RECENT)):
            queries.append(_query(len(queries), kind, space, ENTITY, n))
    queries.append(MemoryQuery(query_id=_id(len(queries)), kind="tags", n=ENTRIES, tags=spec.x.tags))
    answers = _asked(voice, spec.task_id, queries, because)
    pairs = []
    for number, space in enumerate(spaces):
        rules, sums, recent = answers[3 * number : 3 * number + 3]
        pairs.append(
            Recalled(
                space=space,
                entity=ENTITY,
                sops=rules.sops if rules else (),
                potentials=sums.potentials if sums else None,
                recent=recent.megrams if recent else (),
            )
        )
    tagged = answers[-1]
    if tagged is not None and tagged.megrams:
        pairs.append(Recalled(space="", entity=ENTITY, recent=tagged.megrams))
    return Recollection(pairs=tuple(pairs), error=_missing(answers))


def reputation_of(voice: Voice, task_id: str, acts: Sequence[Act], tools: Sequence[str], because: Heard | None) -> Reputation:
    """What memory thinks of these acts, and of the tools in general. No answer speaks against nothing."""
    asked = tuple(acts)[:PAIRS_ASKED]
    queries = [_query(number, "MK", tool_space(tool), path_entity(target), 0) for number, (tool, target) in enumerate(asked)]
    queries += [_query(len(asked) + number, "MK", tool_space(tool), "", 0) for number, tool in enumerate(tools)]
    if not queries:
        return Reputation()
    answers = _asked(voice, task_id, queries, because)
    sums = [one.potentials if one else None for one in answers]
    return Reputation(
        acts={act: found.action for act, found in zip(asked, sums, strict=False) if found is not None},
        tools={
            tool: (found.attention, found.decision)
            for tool, found in zip(tools, sums[len(asked) :], strict=True)
            if found is not None
        },
    )


def _id(number: int) -> str:
    return f"q{number + 1}"


def _query(number: int, kind: str, space: str, entity: str, n: int) -> MemoryQuery:
    return MemoryQuery(query_id=_id(number), kind=kind, space=space, entity=entity, n=n)  # type: ignore[arg-type]  # of the list


def _asked(voice: Voice, task_id: str, queries: list[MemoryQuery], because: Heard | None) -> list[MemoryResponse | None]:
    answers = voice.ask(
        Role.MEMORY, queries, task_id=task_id, answers=MessageType.MEMORY_RESPONSE, timeout_s=MEMORY_S, because=because
    )
    return [one if isinstance(one, MemoryResponse) else None for one in answers]


def _missing(answers: Sequence[MemoryResponse | None]) -> str | None:
    if any(one is None for one in answers):
        return _LATE
    return next((one.error for one in answers if one is not None and one.error), None)
