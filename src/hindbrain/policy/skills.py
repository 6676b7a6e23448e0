"""Skills: from when on a procedure is offered, how many of them, and how strongly a critique counts. Each number with why."""

from hindbrain.policy.experience import Quantum

__all__ = [
    "CRITIQUE",
    "CRITIQUE_STATE",
    "DEFINED",
    "FAILED",
    "OFFERED_MOST",
    "SKILL_STATE",
    "SKILL_TAG",
    "TEXT_MOST",
    "USED",
    "USES_LEAST",
]

USES_LEAST = 3  # verified uses: once is luck, twice may be, three times somebody else can repeat it
OFFERED_MOST = 5  # for one mission: a list that is longer than that is not read
TEXT_MOST = 2_000  # characters of one text of a skill

SKILL_STATE, SKILL_TAG = "skill", "hindbrain-skill"
USED, FAILED = "success", "abandon"  # states of experience; their numbers are those of `policy.experience`
DEFINED = Quantum(f=1.0, sigma=1.0, k=0.0, why="as strong as the rule it carries out: failures must outweigh it to end its trust")

CRITIQUE_STATE = "critique"
CRITIQUE = Quantum(f=0.85, sigma=-1.0, k=0.05, why="as a change of approach: something was seen to be wrong, once")
