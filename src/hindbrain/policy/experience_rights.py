"""Rights to experience: who may write it and who may ask what. Whoever is not named here may nothing."""

from collections.abc import Mapping

from hindbrain.domain.experience import Writer
from hindbrain.domain.message import Role

__all__ = ["ASKS", "GLOBAL_ONLY", "WRITERS"]

# Outcomes are judged by the controller alone; what the Dreamer and the person write stands under their own name.
WRITERS: Mapping[Role | Writer, Writer] = {
    Role.SOLVER: Writer.SOLVER,
    Writer.SOLVER: Writer.SOLVER,
    Writer.DREAMER: Writer.DREAMER,
    Writer.OPERATOR: Writer.OPERATOR,
}

_ALL = frozenset({"C", "MK", "recent", "tags", "recent_global"})

ASKS: Mapping[Role, frozenset[str]] = {
    Role.PLANNER: _ALL,  # plans by it
    Role.PERCEIVER: frozenset({"C", "MK", "recent", "recent_global"}),  # what holds for every task, and the newest lessons
    Role.USER: _ALL,  # the person may see everything
}

GLOBAL_ONLY = frozenset({Role.PERCEIVER})  # whose questions about a pair are about the global one
