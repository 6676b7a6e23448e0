"""Arrivals: how much a claim counts that came by file and was not written here."""

__all__ = ["ADOPTED_MOST", "ARRIVED_CONFIDENCE", "ARRIVED_STATE"]

ARRIVED_STATE = "authored"  # nobody here verified it
ARRIVED_CONFIDENCE = 0.5  # what a claim without a confidence counts in lists: neither doubted nor trusted
ADOPTED_MOST = 1_000  # files that arrive without a person's word; a project of several years has fewer claims than that
