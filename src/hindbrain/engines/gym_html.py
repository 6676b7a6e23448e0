"""Reports of the gym as one page: charts, tables and what is not claimed. The page needs no script and no other file. Pure."""

from collections.abc import Iterable, Sequence

from hindbrain.domain.gym import ArmScore, Report
from hindbrain.domain.gym_fixture import Arm
from hindbrain.engines.graph_formats import xml
from hindbrain.engines.gym_charts import Bar, Group, bars, stacked
from hindbrain.engines.gym_markdown import CLAIM_HEAD, LANE_HEAD, claim_cells, lane_cells, loop_lines
from hindbrain.engines.gym_report import arm_cells, shown
from hindbrain.policy.gym import METRICS

__all__ = ["page"]

_SHORT = {
    Arm.DIRECT: "direct",
    Arm.BASIC: "basic",
    Arm.TRAINED: "trained",
    Arm.SHORT_AUDIT: "short audit",
    Arm.MISSION_CONTROL: "mission",
}
_COLOUR = {
    Arm.DIRECT: "direct",
    Arm.BASIC: "basic",
    Arm.TRAINED: "trained",
    Arm.SHORT_AUDIT: "short",
    Arm.MISSION_CONTROL: "mission",
}
_PARTS = ("t1", "t2", "t3", "t4", "t5", "t6", "t7", "t8")
_BY_NAME = {one.name: one for one in METRICS}

_STYLE = """
:root{color-scheme:light dark;--back:#fbfbf9;--card:#fff;--text:#1c1f23;--soft:#5b636d;--line:#dfe2e6;--track:#eceef0;
--direct:#7b828b;--basic:#c7791f;--trained:#2f78ad;--short:#8659b8;--mission:#1f8a57;
--t1:#2f78ad;--t2:#c7791f;--t3:#1f8a57;--t4:#8659b8;--t5:#b8485a;--t6:#7b828b;--t7:#8c7a2e;--t8:#3a9aa0;--bad:#a33040}
@media (prefers-color-scheme:dark){
:root{--back:#15181b;--card:#1d2125;--text:#e7e9ec;--soft:#a2abb5;
--line:#343a41;--track:#2a3036;
--direct:#9aa2ac;--basic:#e09a4b;--trained:#5aa3d8;--short:#b18ade;--mission:#4dba83;
--t1:#5aa3d8;--t2:#e09a4b;--t3:#4dba83;--t4:#b18ade;--t5:#e07a8b;--t6:#9aa2ac;--t7:#c2ad55;--t8:#62c1c7;--bad:#f08a98}
}
*{box-sizing:border-box}
body{margin:0;background:var(--back);color:var(--text);font:16px/1.5 system-ui,sans-serif}
main{max-width:1080px;margin:0 auto;padding:24px 16px 64px}
h1{font-size:1.5rem;line-height:1.25;margin:0 0 4px;overflow-wrap:anywhere}
h2{font-size:1.15rem;margin:36px 0 10px}
h3{font-size:.95rem;margin:0 0 8px}
p{margin:6px 0}
.soft{color:var(--soft)}
.charts{display:grid;grid-template-columns:repeat(auto-fit,minmax(min(100%,320px),1fr));gap:16px}
.card{background:var(--card);border:1px solid var(--line);border-radius:8px;padding:14px}
svg{display:block;width:100%;max-width:520px;height:auto}
svg text{fill:var(--text);font:13px system-ui,sans-serif}
svg .group{font-weight:600}
svg .none{fill:var(--soft)}
svg .track{fill:var(--track)}
.wide{overflow-x:auto;border:1px solid var(--line);border-radius:8px;background:var(--card)}
table{border-collapse:collapse;width:100%;font-size:.86rem}
th,td{padding:7px 10px;text-align:right;border-bottom:1px solid var(--line);vertical-align:top}
th{color:var(--soft);font-weight:600}
th:first-child,td:first-child{text-align:left;white-space:nowrap;position:sticky;left:0;background:var(--card)}
tr:last-child td{border-bottom:0}
.words td{text-align:left}
.words th{text-align:left}
ul{padding-left:20px;margin:8px 0}
.bad{color:var(--bad)}
.legend{display:flex;flex-wrap:wrap;gap:4px 14px;list-style:none;padding:0;font-size:.84rem;color:var(--soft)}
.legend i{display:inline-block;width:10px;height:10px;border-radius:2px;margin-right:6px}
"""


def page(report: Report) -> str:
    """The whole page."""
    parts = [
        f"<h1>Gym round {xml(report.round_id)}</h1>",
        f'<p class="soft">{xml(_head(report))}</p>',
        _list(report.warnings, "bad"),
        "<h2>At a glance</h2>",
        f'<div class="charts">{_charts(report)}</div>',
        "<h2>Arms</h2>",
        '<p class="soft">Arms are never mixed. Shares are pooled over the lanes that ended, times are medians, '
        "counts are means of a lane. A dash means that nothing could be measured.</p>",
        _arms(report.arms),
    ]
    if len(report.fixtures) > 1:
        for info in report.fixtures:
            parts.append(f"<h2>{xml(info.name)}</h2>")
            parts.append(f'<p class="soft">{xml(info.title)}. {xml(info.family.value)}, {info.seeded} planted.</p>')
            parts.append(_arms(report.by_fixture.get(info.name, ())))
    parts += ["<h2>Lanes</h2>", _table(LANE_HEAD, [lane_cells(one) for one in report.lanes])]
    if rows := [claim_cells(one) for one in report.lanes if one.claims]:
        parts += ["<h2>Verdicts on claims</h2>", _table(CLAIM_HEAD, rows)]
    parts.append(_list([f"{one.lane_id}: {one.note}" for one in report.lanes if one.note], "soft"))
    parts += ["<h2>Loop warnings</h2>", _list(loop_lines(report), "") or "<p>None.</p>"]
    parts += ["<h2>Extra findings</h2>", _extras(report)]
    parts += [
        "<h2>Against the trained arm</h2>",
        f"<p>{'Met' if report.acceptance.met else 'Not met'}: {xml(report.acceptance.says)}.</p>",
        "<h2>What each number is</h2>",
        _list([f"{one.title}: {one.says}." for one in METRICS], ""),
        "<h2>Not claimed</h2>",
        _list(report.non_claims, ""),
    ]
    return (
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width,initial-scale=1">'
        f"<title>Gym round {xml(report.round_id)}</title><style>{_STYLE}</style></head><body><main>\n"
        + "\n".join(part for part in parts if part)
        + "\n</main></body></html>\n"
    )


def _head(report: Report) -> str:
    budget = report.budget or "that of each fixture"
    change = f" Change: {report.change}." if report.change else ""
    whole = "complete" if report.complete else "incomplete"
    return (
        f"Recorded {report.created_at}, version {report.version}, policy {report.policy_version}. Budget: {budget}. "
        f"{len(report.lanes)} lanes, {whole}.{change}"
    )


def _charts(report: Report) -> str:
    recall, first = _BY_NAME["seeded_recall"], _BY_NAME["first_good_finding_ms"]
    found = [
        Group(title=name, bars=[_bar(one, one.seeded_recall, shown(recall, one.seeded_recall)) for one in arms])
        for name, arms in report.by_fixture.items()
        if any(one.seeded_recall is not None for one in arms)
    ]
    timed = [
        Group(
            title=name,
            bars=[_bar(one, one.first_good_finding_ms.median, shown(first, one.first_good_finding_ms.median)) for one in arms],
        )
        for name, arms in report.by_fixture.items()
        if any(one.first_good_finding_ms.median is not None for one in arms)
    ]
    parts = []
    if found:
        parts.append(_card("Planted defects found, as a share", bars("Seeded recall by fixture and arm", found, most=1.0)))
    if timed:
        parts.append(_card("Time to the first good finding", bars("First good finding by fixture and arm", timed)))
    parts.append(_tools(report))
    counted = [
        Group(
            title=_BY_NAME[name].title,
            bars=[_bar(one, one.per_lane[name], shown(_BY_NAME[name], one.per_lane[name])) for one in report.arms],
        )
        for name in ("direct_evidence_count", "graph_call_count", "repeated_search_count")
    ]
    parts.append(_card("Evidence, graph calls and repeats of a lane, on average", bars("Counts by arm", counted)))
    return "".join(parts)


def _bar(arm: ArmScore, length: float | None, label: str) -> Bar:
    return Bar(
        name=_SHORT[arm.arm], colour=_COLOUR[arm.arm], length=length, label=label if length is not None else "not measured"
    )


def _tools(report: Report) -> str:
    """Uses of tools of an average lane, by kind."""
    families = sorted({name for one in report.lanes for name in one.tool_calls_by_family})
    colours = {name: _PARTS[at % len(_PARTS)] for at, name in enumerate(families)}
    rows = {}
    for arm in report.arms:
        lanes = [one for one in report.lanes if one.arm is arm.arm and one.valid]
        if lanes:
            rows[_SHORT[arm.arm]] = {
                name: round(sum(one.tool_calls_by_family.get(name, 0) for one in lanes) / len(lanes), 2) for name in families
            }
    legend = "".join(
        f'<li><i style="background:var(--{colours[name]})"></i>{xml(name.replace("_", " "))}</li>' for name in families
    )
    drawn = stacked("Uses of tools by arm and kind", rows, colours)
    return _card("Uses of tools of a lane, on average", f'{drawn}<ul class="legend">{legend}</ul>')


def _card(title: str, body: str) -> str:
    return f'<section class="card"><h3>{xml(title)}</h3>{body}</section>'


def _arms(arms: Iterable[ArmScore]) -> str:
    return _table(
        ("arm", "lanes", *(one.title for one in METRICS), "adherence", "precision"),
        [
            [
                one.arm.value,
                f"{one.completed}/{one.lanes}",
                *arm_cells(one),
                shown(_BY_NAME["seeded_recall"], one.adherence),
                shown(_BY_NAME["seeded_recall"], one.precision),
            ]
            for one in arms
        ],
    )


def _extras(report: Report) -> str:
    rows = [
        [
            one.lane_id,
            f"{found.path}:{found.line}" if found.line else found.path,
            found.standing.replace("_", " "),
            found.statement,
            found.why,
        ]
        for one in report.lanes
        for found in one.findings
        if found.standing.startswith("extra")
    ]
    return _table(("lane", "place", "standing", "statement", "judge"), rows, "words") if rows else "<p>None.</p>"


def _table(head: Sequence[str], rows: Iterable[Sequence[str]], kind: str = "") -> str:
    top = "".join(f"<th>{xml(one)}</th>" for one in head)
    body = "".join(f"<tr>{''.join(f'<td>{xml(one)}</td>' for one in row)}</tr>" for row in rows)
    return f'<div class="wide"><table class="{kind}"><thead><tr>{top}</tr></thead><tbody>{body}</tbody></table></div>'


def _list(lines: Iterable[str], kind: str) -> str:
    items = "".join(f"<li>{xml(one)}</li>" for one in lines)
    return f'<ul class="{kind}">{items}</ul>' if items else ""
