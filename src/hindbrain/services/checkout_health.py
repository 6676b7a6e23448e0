"""Checkout health: where the claim files of this checkout differ from memory, for the doctor. None of it is a fault."""

from hindbrain.services.brains import OpenBrain
from hindbrain.services.reconcile import kept_out

__all__ = ["checkout_notes"]

_NAMED = 5  # labels that one note names


def checkout_notes(opened: OpenBrain) -> list[tuple[str, str, str]]:
    """Return kind, text and fix for claims without a file here, files of an earlier version, and files whose claim ended."""
    rows, hidden = opened.store.digests(), kept_out(opened)
    here, ended, other = set(), [], []
    for place in opened.places:
        known = opened.state.all(str(place.path))
        for slug in (facts.slug for facts in place.scan()):
            here.add(slug)
            seen = known.get(slug)
            if seen is None or slug in hidden:
                continue
            if slug not in rows:
                ended.append(slug)
            elif seen.digest != rows[slug]:
                other.append(slug)
    absent = sorted(rows.keys() - here)
    name = opened.brain.name
    notes = []
    if absent:
        text = f"{name}: {_counted(absent)} live in memory and have no file in this checkout ({opened.place.path})"
        notes.append(
            ("file_absent", text, _ways(absent, "claim restore", "write the file here", "claim remove", "end the claim"))
        )
    if other:
        text = f"{name}: {_counted(other)} have a file here with another version than memory"
        notes.append(("file_of_other_version", text, _way(other, "claim restore", "write memory's version into the file")))
    if ended:
        text = f"{name}: {_counted(ended)} ended, and their files are still in this checkout; they are not served"
        notes.append(("file_of_ended_claim", text, _way(ended, "claim restore", "bring the claim back") + "; or remove the file"))
    return notes


def _counted(slugs: list[str]) -> str:
    named = ", ".join(sorted(slugs)[:_NAMED])
    more = f" and {len(slugs) - _NAMED} more" if len(slugs) > _NAMED else ""
    return f"{len(slugs)} claim(s) ({named}{more})"


def _way(slugs: list[str], command: str, purpose: str) -> str:
    return f"hindbrain {command} {sorted(slugs)[0]} to {purpose}"


def _ways(slugs: list[str], first: str, purpose: str, second: str, other: str) -> str:
    return f"{_way(slugs, first, purpose)}; {_way(slugs, second, other)}"
