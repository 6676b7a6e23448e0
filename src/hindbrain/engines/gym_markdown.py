"""Reports, comparisons and tunings of the gym as Markdown. Pure."""

from collections.abc import Iterable, Sequence

from hindbrain.domain.gym import ArmScore, Comparison, Difference, LaneScore, Report, Tuning
from hindbrain.engines.gym_report import arm_cells, shown
from hindbrain.policy.gym import METRICS

__all__ = ["CLAIM_HEAD", "LANE_HEAD", "claim_cells", "comparison_text", "lane_cells", "loop_lines", "report_text", "tuning_text"]

LANE_HEAD = (
    "lane",
    "counts",
    "ended",
    "recall",
    "first good finding",
    "tool calls",
    "direct",
    "graph",
    "repeated",
    "loops",
    "adherence",
)
CLAIM_HEAD = ("lane", "claims", "verified", "verified and not true", "precision", "recall")
_BY_NAME = {one.name: one for one in METRICS}


def report_text(report: Report) -> str:
    """The whole report."""
    parts = [f"# Gym round {report.round_id}", _head(report)]
    if report.warnings:
        parts.append(_list(report.warnings))
    parts += ["## Arms", _table(("arm", "lanes", *(one.title for one in METRICS)), _arms(report.arms))]
    for info in report.fixtures:
        if len(report.fixtures) > 1:
            rows = _arms(report.by_fixture.get(info.name, ()))
            parts += [
                f"## {info.name}: {info.title}",
                f"Family {info.family.value}, {info.seeded} planted, digest `{info.digest[:19]}…`.",
                _table(("arm", "lanes", *(one.title for one in METRICS)), rows),
            ]
    parts += ["## Lanes", _table(LANE_HEAD, [lane_cells(one) for one in report.lanes])]
    parts.append(_list(f"{one.lane_id}: {one.note}" for one in report.lanes if one.note))
    parts += ["## Loop warnings", _list(loop_lines(report)) or "None."]
    if rows := [claim_cells(one) for one in report.lanes if one.claims]:
        parts += ["## Verdicts on claims", _table(CLAIM_HEAD, rows)]
    parts += ["## Extra findings", _extras(report)]
    parts += ["## Against the trained arm", f"{'Met' if report.acceptance.met else 'Not met'}: {report.acceptance.says}."]
    parts += ["## Not claimed", _list(report.non_claims)]
    return "\n\n".join(part for part in parts if part) + "\n"


def comparison_text(told: Comparison) -> str:
    """A against B."""
    parts = [f"# {told.a} (A) against {told.b} (B)"]
    for name in told.pairs:
        lanes = told.lanes[name]
        parts += [
            f"## {name}",
            f"Completed lanes: A {lanes[0]}, B {lanes[1]}.",
            _table(("metric", "A", "B", "difference", "better"), [_difference(one) for one in told.differences[name]]),
            f"Gate for a change of policy: {'passed' if told.gates[name].passed else 'not passed'}.",
            _list(told.gates[name].says),
        ]
    parts += ["## What may be claimed", _list(told.may_claim), "## What may not be claimed", _list(told.may_not_claim)]
    return "\n\n".join(parts) + "\n"


def tuning_text(told: Tuning) -> str:
    """Candidates against the round without a change."""
    parts = [f"# Candidates against {told.baseline}, arm {told.arm.value}"]
    for one in sorted(told.candidates, key=lambda candidate: (candidate.place or 10**6, candidate.round_id)):
        place = f"place {one.place}" if one.place else "does not pass the gate"
        parts += [
            f"## {one.round_id}: {one.change}",
            f"{place}: {'; '.join(one.gate.says)}.",
            _table(("metric", "without", "with", "difference", "better"), [_difference(row) for row in one.differences]),
        ]
    return "\n\n".join([*parts, _list(told.says)]) + "\n"


def lane_cells(one: LaneScore) -> list[str]:
    """One lane as a row."""
    recall, first = _BY_NAME["seeded_recall"], _BY_NAME["first_good_finding_ms"]
    found = f" ({one.matched}/{one.seeded})" if one.seeded else ""
    return [
        one.lane_id,
        "yes" if one.valid else "no",
        "yes" if one.completed else "no",
        f"{shown(recall, one.seeded_recall)}{found}",
        shown(first, one.first_good_finding_ms),
        str(one.tool_calls),
        str(one.direct_evidence_count),
        str(one.graph_call_count),
        str(one.repeated_search_count),
        str(len(one.loop_warnings)),
        shown(recall, one.adherence),
    ]


def loop_lines(report: Report) -> list[str]:
    """Where lanes went in circles, one line for each warning."""
    return [f"{one.lane_id}: {loop.rule} ({loop.action}) {loop.message}" for one in report.lanes for loop in one.loop_warnings]


def claim_cells(one: LaneScore) -> list[str]:
    """The verdicts of a lane on the claims of its fixture."""
    recall = _BY_NAME["seeded_recall"]
    return [
        one.lane_id,
        str(one.claims),
        str(one.claims_verified),
        str(one.claims_verified - one.claims_verified_true),
        shown(recall, one.verdict_precision),
        shown(recall, one.verdict_recall),
    ]


def _head(report: Report) -> str:
    words = [
        f"Recorded {report.created_at} by version {report.version}, policy {report.policy_version}.",
        f"Budget: {report.budget or 'that of each fixture'}.",
        *([f"Change: {report.change}."] if report.change else []),
        "Complete." if report.complete else "Incomplete.",
    ]
    return " ".join(words)


def _arms(arms: Iterable[ArmScore]) -> list[list[str]]:
    return [[one.arm.value, f"{one.completed}/{one.lanes}", *arm_cells(one)] for one in arms]


def _extras(report: Report) -> str:
    rows = [
        [one.lane_id, f"{found.path}:{found.line}" if found.line else found.path, found.standing, found.statement, found.why]
        for one in report.lanes
        for found in one.findings
        if found.standing.startswith("extra")
    ]
    if not rows:
        return "None."
    arms = [f"{one.arm.value}: precision {one.precision:.2f}" for one in report.arms if one.precision is not None]
    return "\n\n".join([_table(("lane", "place", "standing", "statement", "judge"), rows), *([_list(arms)] if arms else [])])


def _difference(one: Difference) -> list[str]:
    metric = _BY_NAME[one.metric]
    change = shown(metric, one.change)
    if one.change is not None and one.change > 0:
        change = f"+{change}"
    return [
        metric.title,
        shown(metric, one.a),
        shown(metric, one.b),
        change,
        {"a": "A", "b": "B"}.get(one.better or "", one.better or "–"),
    ]


def _table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    lines = [f"| {' | '.join(head)} |", f"|{'---|' * len(head)}"]
    lines += [f"| {' | '.join(_cell(one) for one in row)} |" for row in rows]
    return "\n".join(lines)


def _cell(text: str) -> str:
    return " ".join(text.split()).replace("|", "\\|")


def _list(lines: Iterable[str]) -> str:
    return "\n".join(f"- {' '.join(one.split())}" for one in lines)
