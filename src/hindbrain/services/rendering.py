"""Rendering: recalled rows as the text that goes into a context. Fenced, attributed, and never above its budget of tokens."""

from collections.abc import Mapping, Sequence
from typing import Any

from hindbrain.engines.fence import cut, fenced, shares, tokens
from hindbrain.policy.recall import ROW_MIN_TOKENS
from hindbrain.services.routing import Gap
from hindbrain.services.rows import Row

__all__ = [
    "claims_known",
    "conflict_lines",
    "gap_text",
    "known_text",
    "labelled_text",
    "left_out",
    "rendered",
    "rendered_rows",
    "row_text",
    "within",
]

_NOTE_TOKENS = 16  # what the sentence about the rest costs
_GAP_TOKENS = 64
_PAIR_TOKENS = 64
_LOSERS = {"project": "medulla", "medulla": "project"}
_PAIRS = 3  # pairs that a text names one by one


def claims_known(count: int) -> str:
    """How much there is to find, in words."""
    return f"{count} claim{'' if count == 1 else 's'} known"


def gap_text(gap: Gap) -> str:
    """One gap as a line."""
    return cut(f"gap {gap['kind']}: {gap['text']}", _GAP_TOKENS)


def conflict_lines(conflicts: Sequence[Mapping[str, Any]]) -> list[str]:
    """Each pair of claims that disagree as a line that names the winner and the reason."""
    lines = [cut(f"conflict {pair['slug']}: {_verdict(pair)} ({pair['rule']})", _PAIR_TOKENS) for pair in conflicts[:_PAIRS]]
    return lines + ([f"{len(conflicts) - _PAIRS} more pairs are in conflicts."] if len(conflicts) > _PAIRS else [])


def _verdict(pair: Mapping[str, Any]) -> str:
    winner = pair["winner"]
    if winner not in _LOSERS:
        return "neither claim wins, read the code"
    return f"the {winner} claim wins over the {_LOSERS[winner]} claim"


def _side(row: Row) -> list[str]:
    """How a row stands in a pair that disagrees."""
    if (pair := row.get("conflict")) is None:
        return []
    winner = pair["winner"]
    if winner not in _LOSERS:
        return ["in conflict, the code decides"]
    return [f"wins over the {_LOSERS[winner]} claim" if row["tier"] == winner else f"the {winner} claim wins over this"]


def _by(row: Row) -> str:
    """Who says a piece of evidence, else who took it in."""
    taken = row["source_agent"] == "unknown" and row.get("recorded_by")
    return f"recorded by {row['recorded_by']}" if taken else f"by {row['source_agent']}"


def _whose(row: Row) -> list[str]:
    """Who wrote a claim and where. What only its file says is shown as stated."""
    if how := row.get("arrived_by"):
        return [f"stated author {row['source_agent']}", f"arrived by {how} in {row['store_brain']}, not checked here"]
    return [f"by {row['source_agent']}", f"from {row['origin_brain']}"]


def row_text(row: Row) -> str:
    """One row in words: what it is called, whose it is, what to mind, how it came here, what it says."""
    if row["kind"] == "card":
        return f"{row['rank']} card {row['card_id']} ({row['tier']}, {row['status']}, by {row['source_agent']})\n{row['text']}"
    if row["kind"] == "evidence":
        born = [f"from {row['origin_brain']}"] if row["origin_brain"] != row["store_brain"] else []
        return f"evidence from {row['source_file']} ({', '.join([row['tier'], _by(row), *born])})\n{row['text']}"
    marks = [row["tier"], *_whose(row)]
    marks += ["stale"] if row.get("stale") else []
    marks += ["cited code changed since"] if row.get("contradicted_by_code") else []
    marks += ["graded wrong"] if row.get("graded_wrong") or row.get("demotion_pending") else []
    marks += _side(row)
    chain = [row["chain"]["text"]] if "chain" in row else []
    return "\n".join([f"{row['claim']} ({', '.join(marks)})", *chain, row["text"]])


def labelled_text(row: Row) -> str:
    """One row of another brain in words, with the brain that stores it first."""
    return f"in {row['store_brain']}: {row_text(row)}"


def known_text(item: Mapping[str, Any]) -> str:
    """A card in a first answer: how it stands, then what it states."""
    return f"{item['tier']} card {item['id']} ({item['status']}, {item['anchor_kind']})\n{item['text']}"


def rendered(texts: Sequence[str], allowed: int) -> tuple[str, int]:
    """Texts as fenced data within a budget, and how many were left out: long ones are cut first, then the last ones go."""
    kept, left = within(texts, allowed)
    return "\n".join([*kept, *left_out(left)]), left


def left_out(count: int) -> list[str]:
    """The sentence about rows that did not fit, if there are any."""
    return [f"{count} more did not fit; ask for fewer rows or narrower."] if count else []


def within(texts: Sequence[str], allowed: int) -> tuple[list[str], int]:
    """Each text fenced, all within a budget, and how many were left out."""
    whole = [fenced(text) for text in texts]
    if tokens("\n".join(whole)) <= allowed:
        return whole, 0
    most = max(1, (allowed - _NOTE_TOKENS) // ROW_MIN_TOKENS)
    room = max(ROW_MIN_TOKENS, allowed - _NOTE_TOKENS - min(most, len(texts)))  # a line break for each
    given = shares([tokens(text) for text in whole[:most]], room)
    kept = [fenced(text, within=share) for text, share in zip(texts, given, strict=False)]
    return kept, len(texts) - len(kept)


def rendered_rows(rows: Sequence[Row], allowed: int) -> tuple[str, int]:
    """Rows as fenced, attributed data: a stored order stays inside its fence."""
    return rendered([row_text(row) for row in rows], allowed)
