"""Hypotheses: combinations of tools that nobody tried, made of what worked. Two rules that share a tool, and of which each has
one that the other lacks, suggest all of them together. A guess, never advice. Pure."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from hindbrain.domain.experience import MegramId, Pair
from hindbrain.engines.distilling import tools_in
from hindbrain.policy.experience import HYPOTHESES_MOST, HYPOTHESIS_SPACE, HYPOTHESIS_TOOLS

__all__ = ["Cluster", "Hypothesis", "cluster_of", "hypotheses"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Cluster:
    """A strong group: the pair it is about, the tools that worked there, and the rule that it became."""

    pair: Pair
    tools: frozenset[str]
    rule: MegramId | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Hypothesis:
    """A combination that is in no cluster, and the two clusters that suggest it."""

    tools: tuple[str, ...]
    sources: tuple[Cluster, Cluster]

    @property
    def pair(self) -> Pair:
        """A pair of its own: a guess adds nothing to the sums of what was experienced."""
        return Pair(space=HYPOTHESIS_SPACE, entity=f"tools:{'+'.join(self.tools)}")

    @property
    def text(self) -> str:
        told = " and ".join(f"{one.pair.space} ({', '.join(sorted(one.tools))})" for one in self.sources)
        return f"Untried: {', '.join(self.tools)} together, as {told} suggest."


def cluster_of(pair: Pair, content: str, *, known: Iterable[str], rule: MegramId | None = None) -> Cluster:
    """The cluster behind a rule, by the tools that its text names."""
    return Cluster(pair=pair, tools=tools_in(content.replace(")", " ")) & frozenset(known), rule=rule)


def hypotheses(new: Sequence[Cluster], others: Sequence[Cluster], order: Sequence[str]) -> tuple[Hypothesis, ...]:
    """What new clusters suggest with the others, each combination once, in the order in which tools are preferred."""
    tried = {one.tools for one in (*new, *others)}
    found: dict[frozenset[str], Hypothesis] = {}
    for own in new:
        for other in (*others, *new):
            both = own.tools | other.tools
            fits = own.tools & other.tools and own.tools - other.tools and other.tools - own.tools
            if fits and len(both) <= HYPOTHESIS_TOOLS and both not in tried and both not in found:
                tools = tuple(sorted(both, key=list(order).index))
                found[both] = Hypothesis(tools=tools, sources=(own, other))
    return tuple(found.values())[:HYPOTHESES_MOST]
