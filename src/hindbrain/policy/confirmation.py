"""Confirmation of human acts: what a passphrase must be, how often it may be wrong, and which calls are looks that need none."""

from collections.abc import Mapping
from typing import Any, Final

__all__ = ["CONFIRMED_S", "LONGEST", "LOOKS", "MOST_WRONG", "SCRYPT", "SHORTEST", "WRONG_MS", "is_look"]

SHORTEST: Final = 8  # characters; with the cost below a guess takes a tenth of a second and 32 MB
LONGEST: Final = 128  # it travels in a header
SCRYPT: Final = {"n": 2**15, "r": 8, "p": 1}  # what RFC 7914 suggests for an interactive login, doubled
MOST_WRONG: Final = 5  # a person mistypes twice or thrice; a program needs thousands
WRONG_MS: Final = 15 * 60 * 1000  # how long a wrong try counts
CONFIRMED_S: Final = 300.0  # in the Hall, for the page that gave it: several decisions in a row need one passphrase

# Operations that can write, and the arguments with which they only look. The Hall asks these by itself, so a question for the
# passphrase would come without an act of a person.
LOOKS: Final[Mapping[str, tuple[str, Any]]] = {
    "experience.curve": ("out", None),
    "experience.dream": ("dry_run", True),
    "doctor.fix": ("yes", None),
    "task.apply": ("yes", None),
}


def is_look(operation: str, arguments: Mapping[str, Any]) -> bool:
    """Return True if a call with these arguments changes nothing, although its operation can."""
    if operation not in LOOKS:
        return False
    name, value = LOOKS[operation]
    return bool((arguments.get(name) or None) == value)
