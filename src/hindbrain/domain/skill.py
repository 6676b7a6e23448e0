"""Skills: procedures that have proven themselves. A skill is a rule of experience with steps and a check of what must hold after
them; how often it was used and what came of it is counted from what was recorded, never written down."""

from hindbrain.domain.task import Count, Record

__all__ = ["Skill", "SkillText"]


class SkillText(Record, frozen=True, kw_only=True):
    """What somebody wrote of a skill; the rest follows from its uses."""

    name: str
    precondition: str
    steps: tuple[str, ...]
    check: str  # the command whose success says that what must hold afterwards does
    script: str | None = None


class Skill(Record, frozen=True, kw_only=True):
    """A skill as it stands now."""

    skill_id: str
    rule_id: str  # the C rule it carries out
    rule: str
    space: str
    entity: str
    name: str
    precondition: str
    steps: tuple[str, ...]
    check: str
    script: str | None
    evidence: tuple[str, ...]  # ids of events, the newest uses first
    successes: Count
    failures: Count
    check_passed: bool  # the last time it ran
    trusted: bool  # neither the skill nor its rule has gone bankrupt
    potential: float
    match: float = 0.0  # with what is asked for
    schema: str = "hindbrain-skill-v1"
