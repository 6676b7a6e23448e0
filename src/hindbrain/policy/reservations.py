"""Reservations: how long, how many, with the reason beside the number."""

__all__ = ["MINUTES", "MINUTES_MOST", "PATHS_MOST", "PATH_CHARACTERS", "REASON_CHARACTERS", "RESERVATIONS_MOST", "STAGED_MOST"]

MINUTES = 60  # a piece of work; who needs longer says so again
MINUTES_MOST = 480  # a working day; what is forgotten frees itself overnight
PATHS_MOST = 50  # of one call; who needs more means a directory
PATH_CHARACTERS = 300
REASON_CHARACTERS = 200  # one line for whoever is held up
RESERVATIONS_MOST = 500  # of one repository; beyond it nothing is told apart any more
STAGED_MOST = 50_000  # paths of one commit
