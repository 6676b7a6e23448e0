"""Conflicts: when a project claim and a medulla claim disagree, which is shown first. Neither is ever changed."""

from dataclasses import dataclass

__all__ = ["CONTRADICTED", "CROSS_PROJECT", "DOCTRINE", "DOCTRINE_ABSOLUTE", "REPOSITORY_FACT", "Rule"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Rule:
    """One class of pair, who wins it, and why."""

    name: str
    winner: str
    why: str
    suggests: str | None = None  # what the reader could do; nothing does it by itself


REPOSITORY_FACT = Rule(
    name="fact_about_repository", winner="project", why="the shared copy came from here, and here is where it is known best"
)
CROSS_PROJECT = Rule(name="cross_project", winner="medulla", why="it was learned elsewhere and holds in more than one project")
DOCTRINE = Rule(name="doctrine", winner="project", why="inside a repository its own doctrine is nearer than the general one")
DOCTRINE_ABSOLUTE = Rule(name="doctrine", winner="medulla", why="the founder marked it absolute")
CONTRADICTED = Rule(
    name="against_live_code",
    winner="reality",
    why="the code that one of them cites has changed since",
    suggests="read the code, then learn wrong for the one that no longer holds, or memorize a new version",
)
