"""Triage: the words by which a claim of a mixed medulla is proposed for a project or for staying. A proposal, never a verdict."""

import re

__all__ = ["PROJECT_WORDS", "STAY_WORDS"]

# Notes about one repository's work: what was shipped, fixed or stuck there.
PROJECT_WORDS = re.compile(
    r"\b(?:ship(?:s|ped|ping)?|fix(?:es|ed|ing)?|hotfix|bugfix|release[ds]?|deploy(?:s|ed)?|merged|regression|ci|flaky)\b",
    re.IGNORECASE,
)

# What holds wherever the reader works. Doubt means stay, so these words win over the ones above.
STAY_WORDS = re.compile(
    r"\b(?:doctrines?|preferences?|prefers?|vocabulary|glossary|cross[- ]project|(?:all|every|across)\s+(?:our\s+)?projects?)\b",
    re.IGNORECASE,
)
