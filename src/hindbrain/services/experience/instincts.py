"""Instincts: what experience says to a task before it begins. What to prefer, what to avoid, where to be careful; each with the
megrams behind it. Looks only, and costs nearly nothing in a brain without experience."""

from collections.abc import Callable, Iterable
from typing import Any

from hindbrain.domain.brain import Brain
from hindbrain.domain.experience import Action, Effective, Level, Pair, Potentials
from hindbrain.engines.distilling import lesson
from hindbrain.engines.potentials import broken_law, contradicted, potentials
from hindbrain.engines.slug import ENTITY, GLOBAL_SPACE, intent_space, tool_space, words_of
from hindbrain.policy.experience import GLOBAL_TAGS, RESERVED
from hindbrain.services.brains import Brains
from hindbrain.stores.port import BrainStore, MegramFilter

__all__ = ["Instincts", "instinct_texts"]

_KINDS = {Action.EXPLOIT: "prefer", Action.AVOID: "avoid", Action.CAUTION: "careful"}
_WORDS = 12  # of a task that are looked for among tools and tags
_TAGGED = 20
_OF_A_PAIR = 50  # newest megrams of a pair that are read
_OF_A_KIND = 3
_IDS = 5
_TEXT = 240
_TOLD = {"prefer": "Prefer", "avoid": "Avoid", "careful": "Be careful"}


class Instincts:
    """The beat of experience in a first answer."""

    def __init__(self, brains: Brains, clock: Callable[[], int]) -> None:
        self._brains = brains
        self._clock = clock

    def beat(self, brain: Brain, task: str) -> dict[str, list[dict[str, Any]]]:
        """kind -> what is advised, the strongest first; empty when experience has nothing to say."""
        with self._brains.use(brain) as opened:
            store, now = opened.store, self._clock()
            if next(store.effective(MegramFilter(levels=("M", "K", "C")), limit=1), None) is None:
                return {}
            found: dict[str, list[dict[str, Any]]] = {}
            for pair in self._pairs(store, task):
                held = list(store.effective(MegramFilter(pair=pair), limit=_OF_A_PAIR))
                sums = potentials(held, now)
                if sums.action is not Action.IGNORE and (told := _told(pair, held, sums)):
                    found.setdefault(_KINDS[sums.action], []).append(told)
        return {
            kind: sorted(found[kind], key=lambda one: (-one["attention"], one["space"], one["entity"]))[:_OF_A_KIND]
            for kind in _KINDS.values()
            if kind in found
        }

    @staticmethod
    def _pairs(store: BrainStore, task: str) -> list[Pair]:
        """What a task is about: everything, its intent, the tools it names, and what carries one of its words as a tag."""
        words = list(dict.fromkeys(words_of(task)))[:_WORDS]
        pairs = [Pair(space=GLOBAL_SPACE, entity=ENTITY), Pair(space=intent_space(task), entity=ENTITY)]
        for word in words:
            newest = store.effective(MegramFilter(space=tool_space(word)), limit=_TAGGED)
            pairs += [one.megram.pair for one in newest]
        pairs += [one.megram.pair for one in store.megrams_tagged([*words, *GLOBAL_TAGS], limit=_TAGGED)]
        return list(dict.fromkeys(pairs))


def _told(pair: Pair, held: list[Effective], sums: Potentials) -> dict[str, Any] | None:
    """A pair in words: its rule where one points the same way and is lawful and not overruled, else its newest lesson."""
    live = [one for one in held if one.level is not Level.T and one.megram.state not in RESERVED]
    episodes = [one for one in live if one.level is not Level.C]
    rules = [
        one
        for one in live
        if one.level is Level.C
        and one.megram.sigma * sums.decision > 0
        and broken_law(one.megram.content, one.megram.sigma) is None
        and not contradicted(one.megram.sigma, episodes)
    ]
    lawful = [one for one in episodes if broken_law(one.megram.content, one.megram.sigma) is None]
    said = [*rules, *lawful]
    if not said:
        return None
    return {
        "space": pair.space,
        "entity": pair.entity,
        "text": lesson(said[0].megram.content)[:_TEXT],
        "rule": bool(rules),
        "attention": sums.attention,
        "decision": sums.decision,
        "megram_ids": [one.megram.id for one in said[:_IDS]],
    }


def instinct_texts(beat: dict[str, list[dict[str, Any]]]) -> Iterable[str]:
    """The beat in words, one text for each."""
    for kind, rows in beat.items():
        for row in rows:
            ids = ", ".join(one[:8] for one in row["megram_ids"])
            yield f"{_TOLD[kind]} ({row['space']} / {row['entity']}, experience {ids})\n{row['text']}"
