"""The wording of claims: whether one says that tests or a build pass, or fail. Then only their run can show it."""

import re

__all__ = ["says_it_fails", "says_it_passes"]

_WHAT = r"\b(?:(?:py)?tests?(?: suite)?|suite|checks?|build|lint|type ?check|compilation)"
_BETWEEN = r"\s+(?:(?:now|all|still|again|do|does|is|are|have|has)\s+)*"
_WELL = r"(?:pass(?:es|ed|ing)?|succe(?:ed|eds|eded|eding|ssful)|green|ok|clean)\b"
# `the test passes None to it` is about an argument: what follows must end the phrase or say when and where.
_END = r"(?=\s*(?:\Z|[.,;:!)])|\s+(?:now|again|after|on|with|in|and|for|at|when|without)\b)"
_PASSES = re.compile(_WHAT + _BETWEEN + _WELL + _END, re.IGNORECASE)
_FAILS = re.compile(_WHAT + _BETWEEN + r"(?:fail(?:s|ed|ing)?|red|broken|not pass(?:ing)?)\b" + _END, re.IGNORECASE)
_COMPILES = re.compile(r"\b(?:it|code|project|program|module) (?:now )?compiles\b" + _END, re.IGNORECASE)
_SENTENCES = re.compile(r"(?<=[.!?;])\s+|\n")
_OPEN = frozenset({"not", "no", "never", "few", "cannot", "if", "until", "unless", "should", "would", "whether", "make", "makes"})
_BEFORE = 3  # words before, that can turn it round


def says_it_passes(claim: str) -> bool:
    """Whether somewhere in a claim something is said to pass."""
    return any(_says(sentence) for sentence in _SENTENCES.split(claim))


def says_it_fails(claim: str) -> bool:
    """Whether somewhere in a claim a run is said to fail."""
    return any(
        not _OPEN.intersection(sentence[: found.start()].lower().split()[-_BEFORE:])
        for sentence in _SENTENCES.split(claim)
        for found in _FAILS.finditer(sentence)
    )


def _says(sentence: str) -> bool:
    for pattern in (_PASSES, _COMPILES):
        for found in pattern.finditer(sentence):
            before = sentence[: found.start()].lower().split()[-_BEFORE:]
            if not _OPEN.intersection(before):
                return True
    return False
