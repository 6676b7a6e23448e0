"""Model policy: which tier serves which role, and how much one task may ask, each with its reason."""

from collections.abc import Mapping

from hindbrain.domain.message import Role

__all__ = [
    "BRAIN",
    "BYTES_PER_TOKEN",
    "PROMPT_KEPT",
    "ROLE_TIERS",
    "TIERS",
    "TOOL",
    "UNBILLED",
]

TOOL, BRAIN = 1, 2  # 0 is the rules: no model
TIERS: Mapping[str, int] = {"brain": BRAIN, "tool": TOOL}

# Who judges a whole task has at least the tier of who planned it. The auditor and the solver never ask a model: what they say has
# to follow from what was recorded.
ROLE_TIERS: Mapping[Role, int] = {
    Role.PERCEIVER: BRAIN,
    Role.PLANNER: BRAIN,
    Role.META_VALIDATOR: BRAIN,
    Role.EXECUTOR: TOOL,
    Role.AGENT_VALIDATOR: TOOL,
    Role.MEMORY: TOOL,  # the Dreamer, and the look back at a task
}

BYTES_PER_TOKEN = 2  # of a prompt before it is sent: no text in use has more tokens than that, so a cap is not passed by a guess
PROMPT_KEPT = 262_144  # characters of a prompt or a reply that are kept

# Failures after which nothing can have been billed. After any other the most that was allowed counts, unless the endpoint says.
UNBILLED = frozenset({"no_key", "rate_limited", "redirected", "refused", "server", "unreachable"})
