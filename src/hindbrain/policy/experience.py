"""Experience: how strongly each state counts when it becomes a megram, and how fast that fades."""

from collections.abc import Mapping
from dataclasses import dataclass

from hindbrain.domain.errors import InvalidParams

__all__ = ["DISSONANCE", "QUANTA", "Quantum", "quantized"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Quantum:
    """How much attention a state draws, which way it points, and its decay per day."""

    f: float
    sigma: float
    k: float
    why: str


QUANTA: Mapping[str, Quantum] = {
    "abandon": Quantum(f=0.95, sigma=-1.0, k=0.05, why="what ended a task in vain is not to be tried again"),
    "accept": Quantum(f=0.90, sigma=1.0, k=0.05, why="a way on which nothing was missing"),
    "change_approach": Quantum(f=0.85, sigma=-1.0, k=0.05, why="the wrong kind of tool for this"),
    "success": Quantum(f=0.80, sigma=1.0, k=0.05, why="good enough, and worth repeating"),
    "break_symmetry": Quantum(f=0.75, sigma=1.0, k=0.05, why="what worked after nothing had moved"),
    "change_path": Quantum(f=0.30, sigma=0.0, k=0.2, why="a dead end says nothing against the tool"),
    "refine": Quantum(f=0.10, sigma=0.5, k=0.5, why="a small correction, soon forgotten"),
}

DISSONANCE = Quantum(f=0.9, sigma=1.0, k=0.05, why="a task ended well against a rule; its sign is opposite to the rule's")


def quantized(state: str) -> tuple[float, float, float]:
    """f, sigma and k of a state. A state that is not in the table needs numbers of its own."""
    quantum = QUANTA.get(state)
    if quantum is None:
        raise InvalidParams(
            f"the state {state!r} has no numbers", fix="Give f, sigma and k, or one of: " + ", ".join(QUANTA) + "."
        )
    return quantum.f, quantum.sigma, quantum.k
