"""Reports: what stands in them before and after a judge, what they never claim, and a page that stands by itself."""

import re
from html.parser import HTMLParser
from itertools import pairwise
from xml.etree import ElementTree

import msgspec
import pytest

from hindbrain.domain.gym import JudgeRuling, LaneResult, Report, Round, RoundLane
from hindbrain.domain.gym_fixture import LANES, GymFamily
from hindbrain.engines.gym_findings import ruled
from hindbrain.engines.gym_html import page
from hindbrain.engines.gym_markdown import report_text
from hindbrain.engines.gym_report import reported
from hindbrain.policy.gym import METRICS
from tests.gym.streams import finding, info, key, lane, round_of, run, told


def one_round(
    rulings: tuple[JudgeRuling, ...] = (), *, leaked: tuple[str, ...] = (), asked: tuple[str, ...] = ("direct",)
) -> Report:
    """A round over one fixture; the direct lane found two planted defects and two other things."""
    lanes = tuple(RoundLane(lane_id=f"x.{one}.1", fixture="x", lane=one, arm=LANES[one].arm) for one in asked)
    made = Round(
        round_id="rnd_A",
        created_at="2026-01-01T00:00:00.000Z",
        version="1",
        policy_version="1",
        lanes=lanes,
        fixtures=(info("x"),),
    )
    found = [finding(1), finding(2), finding(50, name="e1", statement="an extra"), finding(51, name="e2", statement="another")]
    result = LaneResult(lane_id="x.direct.1", run=run([told("file_read", "a")], found), leaked=leaked)
    return reported(made, {"x": key(4)}, [result], rulings)


def ruling(name: str, verdict: str, judge: str = "reproduction") -> JudgeRuling:
    return JudgeRuling(lane_id="x.direct.1", finding_id=name, verdict=verdict, judge=judge, why="seen")  # type: ignore[arg-type]


def test_aol_226_extra_findings_wait_for_a_judge_and_there_is_no_precision_until_then() -> None:
    before = one_round()
    half = one_round((ruling("e1", "confirmed"),))
    after = one_round((ruling("e1", "confirmed"), ruling("e2", "refuted")))

    assert (before.lanes[0].extra_unadjudicated, before.lanes[0].precision, before.arms[0].precision) == (2, None, None)
    assert (half.lanes[0].extra_unadjudicated, half.arms[0].precision) == (1, None)
    assert (after.lanes[0].extra_unadjudicated, after.lanes[0].precision, after.arms[0].precision) == (0, 0.75, 0.75)
    assert "no precision is reported" in " ".join(before.warnings)
    assert "precision" not in report_text(before).split("## Extra findings")[1]
    assert "precision 0.75" in report_text(after)
    assert "extra_unadjudicated" in report_text(before)


def test_aol_226_a_ruling_that_decides_nothing_leaves_the_finding_waiting() -> None:
    assert one_round((ruling("e1", "undecided"), ruling("e2", "confirmed"))).lanes[0].extra_unadjudicated == 1


def test_aol_227_a_person_overrules_every_other_judge() -> None:
    said = ruled([ruling("e", "confirmed", "human"), ruling("e", "refuted", "model"), ruling("e", "refuted")])

    assert (said["e"].verdict, said["e"].judge) == ("confirmed", "human")
    assert ruled([ruling("e", "refuted", "model"), ruling("e", "confirmed", "reproduction")])["e"].judge == "reproduction"


def test_aol_226_no_ruling_takes_a_planted_defect_away() -> None:
    assert one_round((ruling("f1", "refuted", "human"),)).lanes[0].matched == 2


def test_aol_232_every_form_of_a_report_carries_what_it_does_not_claim() -> None:
    made = one_round()

    for text in (report_text(made), page(made), msgspec.json.encode(made).decode()):
        assert "one round supports a public claim" in text
        assert "benchmark figures are ready for the public" in text


def test_aol_292_every_form_of_a_report_has_the_loop_warnings_of_its_lanes_with_tool_counts_and_evidence() -> None:
    """A direct lane read one place three times: no mission was there to warn it, and the report names it all the same."""
    made = one_round()
    reads = [told("file_read", "a.py", at=number, payload={"lines": [1, 9]}) for number in range(4)]
    warned = told("loop_warning", "a.py", payload={"rule": "LW1", "item": "a.py", "action": "do_not"})
    asked = Round(
        round_id="rnd_B",
        created_at="2026-01-01T00:00:00.000Z",
        version="1",
        policy_version="1",
        lanes=(RoundLane(lane_id="x.direct.1", fixture="x", lane="direct", arm=LANES["direct"].arm),),
        fixtures=(info("x"),),
    )
    circling = reported(asked, {"x": key(4)}, [LaneResult(lane_id="x.direct.1", run=run([*reads, warned], [finding(1)]))])

    (score,) = circling.lanes
    assert "LW1" in {one.rule for one in score.loop_warnings}
    assert (score.tool_calls, score.direct_evidence_count) == (4, 4)
    message = score.loop_warnings[0].message
    for text in (report_text(circling), msgspec.json.encode(circling).decode()):
        assert message in text
    assert re.search(r"Loop warnings</h2>\s*<ul[^>]*><li>x\.direct\.1: LW", page(circling))
    assert made.lanes[0].loop_warnings == ()
    assert "## Loop warnings\n\nNone." in report_text(made)
    assert "<h2>Loop warnings</h2>\n<p>None.</p>" in page(made)


def test_aol_224_the_report_names_lanes_without_capture() -> None:
    made = round_of([lane((1, 10), 5), lane((0, 10), None, name="direct", missing_capture=True)])

    assert [one.missing_capture for one in made.arms] == [1, 0]


def test_aol_220_a_lane_without_a_result_makes_the_report_incomplete() -> None:
    made = one_round(asked=("direct", "mission"))

    assert (made.complete, made.missing) == (False, ("x.mission.1",))
    assert "Incomplete." in report_text(made)
    assert any("1 of 2 lanes have no result" in one for one in made.warnings)


def test_aol_221_a_lane_that_could_have_read_the_key_does_not_count() -> None:
    made = one_round(leaked=("hint.txt holds 'd1'",))

    assert not made.lanes[0].valid
    assert made.arms[0].seeded_recall is None
    assert "within its reach" in made.warnings[0]


def test_aol_219_aol_229_the_text_groups_by_arm_with_times_and_tool_counts() -> None:
    text = report_text(round_of([lane((4, 10), 5, name="direct"), lane((9, 10), 7), lane((6, 10), 9, fixture="y")]))

    arms = text.split("## Arms")[1].split("##")[0]
    assert [line.split("|")[1].strip() for line in arms.strip().splitlines()[2:]] == ["direct", "hindbrain-mission-control"]
    assert "| hindbrain-mission-control | 2/2 | 0.75 | 8 ms |" in arms
    assert "| y.mission.1 | yes | yes | 0.60 (6/10) | 9 ms | 1 |" in text
    assert all(one.title in arms for one in METRICS)


def test_aol_209_the_text_says_how_many_lanes_had_no_good_finding() -> None:
    text = report_text(round_of([lane((4, 10), 5), lane((0, 10), None, fixture="y")]))

    assert "5 ms (1 without)" in text


class _Page(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.broken: list[str] = []
        self.outside: list[str] = []
        self.tags: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        if tag != "meta":
            self.open.append(tag)
        self.outside += [str(value) for name, value in attrs if name in ("src", "href", "srcset", "data")]

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)

    def handle_endtag(self, tag: str) -> None:
        if not self.open or self.open.pop() != tag:
            self.broken.append(tag)


def arms() -> Report:
    lanes = [
        lane((4, 10), 45_678, name=name, fixture=fixture, tool_calls_by_family={"direct_read": 7, "graph": 3, "test": 2})
        for fixture in ("clix", "pooled")
        for name in ("direct", "graph", "trained", "short", "mission")
    ]
    return round_of([*lanes, lane((0, 10), None, fixture="tabular")])


def test_the_page_is_whole_and_asks_for_nothing_else() -> None:
    text = page(arms())
    read = _Page()
    read.feed(text)

    assert (read.open, read.broken, read.outside) == ([], [], [])
    assert not {"script", "link", "iframe", "img"} & set(read.tags)
    assert not re.search(r"https?://|url\(|@import", text)
    assert 'name="viewport"' in text
    assert "prefers-color-scheme:dark" in text
    assert read.tags.count("svg") == 4


def test_every_colour_that_a_chart_uses_is_there_in_light_and_in_dark() -> None:
    text = page(arms())
    light, dark = text.split("@media (prefers-color-scheme:dark)")[0], text.split("@media (prefers-color-scheme:dark)")[1]

    used = set(re.findall(r"var\(--(\w+)\)", text))

    assert used <= set(re.findall(r"--(\w+):#", light))
    assert used <= set(re.findall(r"--(\w+):#", dark.split("</style>")[0]))


def test_nothing_in_a_chart_reaches_over_its_edge_or_over_another_line() -> None:
    for drawn in re.findall(r"<svg.*?</svg>", page(arms()), re.DOTALL):
        root = ElementTree.fromstring(drawn)
        _, _, wide, high = map(float, root.attrib["viewBox"].split())
        heights = set()
        for text in root.iter("text"):
            at, length = float(text.attrib["x"]), 7.8 * len(text.text or "")
            ends = text.attrib.get("text-anchor") == "end"
            left, right = (at - length, at) if ends else (at, at + length)
            assert left >= -1, text.text
            assert right <= wide + 1, text.text
            assert 0 < float(text.attrib["y"]) < high
            heights.add(float(text.attrib["y"]))
        assert all(later - y >= 16 for y, later in pairwise(sorted(heights)))
        for bar in root.iter("rect"):
            assert float(bar.attrib["x"]) + float(bar.attrib["width"]) <= wide - 50
            assert float(bar.attrib["y"]) + float(bar.attrib["height"]) <= high


@pytest.mark.parametrize("form", [page, report_text])
def test_what_an_agent_wrote_is_text_in_every_form(form: object) -> None:
    nasty = "<script>alert(1)</script> | a | b\n# heading"
    result = LaneResult(
        lane_id="x.direct.1", run=run([told("file_read", "a")], [finding(50, name="e1", statement=nasty)], note=nasty)
    )
    asked = Round(
        round_id="rnd_A",
        created_at="2026-01-01T00:00:00.000Z",
        version="1",
        policy_version="1",
        lanes=(RoundLane(lane_id="x.direct.1", fixture="x", lane="direct", arm=LANES["direct"].arm),),
        fixtures=(info("x"),),
    )

    text = form(reported(asked, {"x": key(0, GymFamily.REAL_AUDIT)}, [result]))  # type: ignore[operator]

    if form is page:
        assert "<script" not in text
    else:
        row = next(line for line in text.splitlines() if "alert(1)" in line and line.startswith("|"))
        assert len(re.findall(r"(?<!\\)\|", row)) == 6
        assert "\n# heading" not in text
