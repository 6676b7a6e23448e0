"""Wake-up: how much of a memory is shown to somebody who has just begun."""

__all__ = ["IDENTITY_FILE", "IDENTITY_HINT", "IDENTITY_MAX", "LINE_MAX", "TOP_K", "TOP_K_MOST"]

TOP_K = 5  # what is read before the first thought; context and search have the rest
TOP_K_MOST = 100
LINE_MAX = 120  # characters of one line
IDENTITY_FILE = "identity.txt"
IDENTITY_MAX = 4_000  # characters: who one is fits on a page
IDENTITY_HINT = "no identity yet: write who you are and what you do into identity.txt in the home"
