"""Research: reads a report of a research tool and plans what of it becomes evidence. Pure; creates no knowledge, ever."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from hindbrain.policy.research import (
    CONTRADICTING,
    COUNTEREXAMPLE,
    FINDING_WORDS,
    FINDINGS_MOST,
    INSIGHT_WORDS,
    NAME_MAX,
    SUGGESTED_TIER,
    TO_WRITE,
)

__all__ = ["Finding", "Insight", "Report", "read", "suggested"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """One finding as it will be kept. Its place in the report is in the source, not in the text: the text makes the id."""

    index: int
    source: str
    content: str
    tags: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Insight:
    """Something the tool believes to follow, and the findings it rests on. Never more than a suggestion."""

    statement: str
    findings: tuple[int, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Report:
    """What a report holds. One with errors is not taken in."""

    report_id: str = ""
    title: str = ""
    source_count: int = 0
    finding_count: int = 0
    insight_count: int = 0
    errors: tuple[str, ...] = ()
    findings: tuple[Finding, ...] = ()
    insights: tuple[Insight, ...] = ()

    @property
    def valid(self) -> bool:
        return not self.errors

    def told(self) -> dict[str, Any]:
        return {
            "valid": self.valid,
            "report_id": self.report_id,
            "title": self.title,
            "source_count": self.source_count,
            "finding_count": self.finding_count,
            "candidate_insight_count": self.insight_count,
            "errors": list(self.errors),
        }


def read(given: object) -> Report:
    """A report with its plan, or with everything that is wrong with it. Keys it does not know change nothing."""
    if not isinstance(given, Mapping):
        return Report(errors=("a report is a JSON object",))
    errors: list[str] = []
    report_id, title = _name(given, "report_id", errors), _name(given, "title", errors)
    sources, findings = _items(given, "sources", errors), _items(given, "findings", errors)
    insights = given.get("candidate_insights")
    if insights is not None and not isinstance(insights, list):
        errors.append("candidate_insights: must be a list")
    said = insights if isinstance(insights, list) else []
    if len(findings) > FINDINGS_MOST:
        errors.append(f"findings: {len(findings)} are more than {FINDINGS_MOST}; split the report")
    suggestions = _insights(said, len(findings), errors)
    planned = () if errors else tuple(_finding(at, one, report_id, title, sources) for at, one in enumerate(findings))
    return Report(
        report_id=report_id,
        title=title,
        source_count=len(sources),
        finding_count=len(findings),
        insight_count=len(said),
        errors=tuple(errors),
        findings=planned,
        insights=() if errors else suggestions,
    )


def _name(given: Mapping[str, Any], key: str, errors: list[str]) -> str:
    value = given.get(key)
    if not isinstance(value, str) or not value.strip():
        errors.append(f"{key}: must be a text that is not blank")
        return ""
    name = " ".join(value.split())
    if len(name) > NAME_MAX:
        errors.append(f"{key}: has {len(name)} characters; {NAME_MAX} are the most")
    return name[:NAME_MAX]


def _items(given: Mapping[str, Any], key: str, errors: list[str]) -> Sequence[Any]:
    value = given.get(key)
    if not isinstance(value, list) or not value:
        errors.append(f"{key}: must be a list with at least one entry")
        return ()
    return value


def _words(value: object, keys: Sequence[str]) -> str:
    """The first of these words that says something; '' when none does."""
    if isinstance(value, str):
        return value.strip()
    held = value if isinstance(value, Mapping) else {}
    return next((said.strip() for key in keys if isinstance(said := held.get(key), str) and said.strip()), "")


def _json(value: object) -> str:
    """The same value gives the same text, in whatever order its keys came."""
    return json.dumps(value, sort_keys=True, ensure_ascii=False)


def _finding(index: int, value: object, report_id: str, title: str, sources: Sequence[Any]) -> Finding:
    raw = _json(value)
    lines = (
        f"Research: {title}",
        f"Report: {report_id}",
        f"Finding: {_words(value, FINDING_WORDS) or raw}",
        f"Sources: {_json(sources)}",
        f"Raw: {raw}",
    )
    return Finding(
        index=index,
        source=f"research://{report_id}#finding-{index}",
        content="\n".join(lines),
        tags=(COUNTEREXAMPLE,) if _contradicts(value) else (),
    )


def _contradicts(value: object) -> bool:
    if not isinstance(value, Mapping):
        return False
    kinds = (value.get("kind"), value.get("type"))
    return any(value.get(key) for key in (*CONTRADICTING, "contradicts")) or any(kind in CONTRADICTING for kind in kinds)


def _insights(said: Sequence[object], findings: int, errors: list[str]) -> tuple[Insight, ...]:
    found = []
    for at, one in enumerate(said):
        statement = " ".join(_words(one, INSIGHT_WORDS).split())
        if not statement:
            continue
        refs = one.get("finding_refs") if isinstance(one, Mapping) else None
        chosen = range(findings) if refs is None or not findings else refs
        if not isinstance(chosen, list | range) or any(type(ref) is not int or not 0 <= ref < findings for ref in chosen):
            errors.append(f"candidate_insights[{at}].finding_refs: must be a list of places in findings, from 0")
            continue
        found.append(Insight(statement=statement, findings=tuple(dict.fromkeys(chosen)) or tuple(range(findings))))
    return tuple(found)


def suggested(insight: Insight, refs: Sequence[str], field: str) -> dict[str, Any]:
    """An insight as a command that a person or an agent may run, once its content is written."""
    words = ["hindbrain", "knowledge", "distill", "--statement", insight.statement, "--content", TO_WRITE]
    words += ["--tier", SUGGESTED_TIER, "--field", field]
    words += [word for ref in refs for word in ("--supporting-refs", ref)]
    return {"statement": insight.statement, "supporting_refs": list(refs), "suggested_command": words, "needs_content": True}
