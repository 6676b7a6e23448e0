"""Briefs: what a context amounts to, told with its sources and its doubts. Pure: nothing is summed up that is not cited."""

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from hindbrain.policy.brief import CONFLICT_CUES, NO_NAMES, OPEN_CUES

__all__ = ["brief_of", "brief_text"]

_NAME = re.compile(r"[^\W_]+(?:-[^\W_]+)*")
_EVIDENCE = "evidence"
Item = Mapping[str, Any]


def brief_of(pack: Mapping[str, Any]) -> dict[str, Any]:
    """The eight parts of a brief, from a pack that was made with evidence and cards."""
    placed = [(section["name"], item) for section in pack["sections"] for item in section["items"]]
    evidence = [{"text": item["text"], "citation": _citation(item)} for name, item in placed if name == _EVIDENCE]
    facts = [
        {"text": item["text"], "section": name, "citation": _citation(item)}
        for name, item in placed
        if name != _EVIDENCE and not _is_opt_in(item)
    ]
    cards = [
        {
            "card_id": item["card_id"],
            "text": item["text"],
            "citation": _citation(item),
            "evidence_citations": item["evidence_citations"],
        }
        for _, item in placed
        if "card_id" in item
    ]
    entries = [{"text": item["text"], "citation": _citation(item)} for _, item in placed]
    open_ = [one for one in entries if _has(one["text"], OPEN_CUES)]
    disputed = [one for one in entries if _has(one["text"], CONFLICT_CUES)]
    doubts = _doubts(evidence, facts, cards, open_, disputed)
    return {
        "query": pack["query"],
        "domain": pack["domain"],
        "field": pack["field"],
        "summary": _summary(len(facts), len(evidence), len(cards), len(open_), len(doubts)),
        "key_facts": facts,
        "evidence": evidence,
        "cards": cards,
        "entities": _names(one["text"] for one in entries),
        "unresolved_items": open_,
        "uncertainty": doubts,
        "next_actions": _next(evidence, facts, cards, open_),
    }


def _is_opt_in(item: Item) -> bool:
    """A card that is shown only where cards are asked for is no fact yet that everybody goes by."""
    return str(item["source_file"]).startswith("knowledge-card://")


def _citation(item: Item) -> dict[str, Any]:
    told = {name: item[name] for name in ("id", "source_file", "anchor_kind", "anchor_id")}
    return told | ({"card_id": item["card_id"]} if "card_id" in item else {})


def _has(text: str, cues: Sequence[str]) -> bool:
    folded = text.casefold()
    return any(cue in folded for cue in cues)


def _names(texts: Iterable[str]) -> list[str]:
    """Words of two letters or more that begin with a capital."""
    found = {word for text in texts for word in _NAME.findall(text) if len(word) > 1 and word[0].isupper()}
    return sorted(found - NO_NAMES)


def _summary(facts: int, evidence: int, cards: int, open_: int, doubts: int) -> dict[str, Any]:
    if not facts + evidence + cards:
        told = "Nothing was found: any answer is unsupported until evidence is added."
    else:
        found = ((facts, "key fact"), (evidence, "row of evidence"), (cards, "card"), (open_, "open item"), (doubts, "doubt"))
        told = f"Found: {', '.join(_counted(number, noun) for number, noun in found)}."
    return {
        "narrative": told,
        "key_fact_count": facts,
        "evidence_count": evidence,
        "card_count": cards,
        "unresolved_count": open_,
        "uncertainty_count": doubts,
    }


def _counted(number: int, noun: str) -> str:
    head, _, rest = noun.partition(" of ")
    return f"{number} {head}{'' if number == 1 else 's'}{f' of {rest}' if rest else ''}"


def _doubts(
    evidence: Sequence[Item], facts: Sequence[Item], cards: Sequence[Item], open_: Sequence[Item], disputed: Sequence[Item]
) -> list[dict[str, Any]]:
    told: list[tuple[str, str, Sequence[Item]]] = []
    told += (
        [("no_evidence", "no evidence was found: what is said here rests on nothing that was seen", ())] if not evidence else []
    )
    told += [("no_key_facts", "no governed knowledge was found", ())] if not facts else []
    told += [("no_cards", "no card was found", ())] if not cards else []
    told += [("unresolved_items", f"{len(open_)} item(s) are still open", open_)] if open_ else []
    told += [("conflict_cue", f"{len(disputed)} item(s) speak of a conflict", disputed)] if disputed else []
    return [{"kind": kind, "message": message, "citations": [one["citation"] for one in cited]} for kind, message, cited in told]


def _next(evidence: Sequence[Item], facts: Sequence[Item], cards: Sequence[Item], open_: Sequence[Item]) -> list[str]:
    """What to do about what is missing or open, and only that."""
    actions = [] if evidence else ["add evidence first: record what was seen"]
    actions += [] if facts else ["distill a card once supporting evidence exists"]
    actions += [] if cards else ["make or retrieve a card if the topic comes back"]
    actions += ["resolve the unresolved items that are cited"] if open_ else []
    return actions or ["look at the cited evidence before acting"]


def brief_text(brief: Mapping[str, Any]) -> list[tuple[str, list[str]]]:
    """The eight headings with their lines; what was stored is to be fenced by whoever shows it."""

    def cited(entries: Iterable[Item]) -> list[str]:
        return [f"{one['text']} [{one['citation']['id']}, {one['citation']['source_file']}]" for one in entries]

    return [
        ("Summary", [brief["summary"]["narrative"]]),
        (
            "Key Facts",
            [f"{one['section']}: {text}" for one, text in zip(brief["key_facts"], cited(brief["key_facts"]), strict=True)],
        ),
        ("Evidence", cited(brief["evidence"])),
        ("Cards", cited(brief["cards"])),
        ("Entities", list(brief["entities"])),
        ("Unresolved", cited(brief["unresolved_items"])),
        ("Uncertainty", [f"{one['kind']}: {one['message']}" for one in brief["uncertainty"]]),
        ("Next Actions", list(brief["next_actions"])),
    ]
