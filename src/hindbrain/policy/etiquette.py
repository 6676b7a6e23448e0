"""Etiquette: who is expected to share beliefs. Agent ids are self-declared, so this warns and records; it does not block."""

__all__ = ["BIRTH_WARNING", "PROMOTE_WARNING", "may_share"]

BIRTH_WARNING = "expected *:orchestrator or human:founder"
PROMOTE_WARNING = "etiquette: makers propose, orchestrators promote"


def may_share(agent: str) -> bool:
    """True for the roles that are expected to write the medulla."""
    return agent == "human:founder" or agent.endswith(":orchestrator")
