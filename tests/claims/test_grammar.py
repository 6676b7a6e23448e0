"""The claim file: what is written, what is read back, and that no text can forge structure."""

import re
import unicodedata
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hindbrain.domain.claim import looks_like_light, parse, render, slug_of
from hindbrain.domain.errors import InvalidLabel
from tests.support.light import light_file
from tests.support.world import World, block

EXAMPLE = """---
Protocol: L1GHT/1.0
Node: Retry with jitter
State: verified
Created: 1783209431408
Source-Agent: codex:maker
Origin-Brain: /repos/cherry
Supersedes: retry-with-jitter
Promoted-To: medulla@retry-with-jitter@1783300000000
---

# Retry with jitter

## How retries behave

Retries without jitter made two workers hit the same lock at once.

[⍂ entity: Retry with jitter]
[𝔻 confidence: 0.9]
[𝔻 ambiguity: low]
[𝔻 evidence: src/worker/retry.py:41]
[𝔻 evidence: tests/test_retry.py]
[⟁ depends_on: Lock table]

The old fixed delay is gone since the July release.

[⍐ state: fixed delay removed]
[𝔻 confidence: high]
"""


def written(world: World, root: str | None, slug: str) -> list[str]:
    return world.file(root, slug).read_text(encoding="utf-8").split("\n")


@pytest.mark.req("MED-059")
def test_med_059_only_the_frontmatter_gives_values() -> None:
    text = EXAMPLE.replace("The old fixed delay", "State: outdated\nPromoted-By: x\nstate: outdated\nThe old fixed delay")

    claim = parse(text)

    assert (claim.state, claim.promoted_by) == ("verified", None)
    assert parse(EXAMPLE.replace("State:", "state:")).state == "authored"


@pytest.mark.req("MED-060")
def test_med_060_keys_come_in_order_and_only_with_a_value(world: World) -> None:
    def keys() -> list[str]:
        lines = written(world, x, "first-write")
        fence = lines.index("---", 1)
        assert all(line.split(": ", 1)[1] for line in lines[1:fence])
        return [line.split(":")[0] for line in lines[1:fence]]

    x = world.brain("x")
    first = ["Protocol", "Node", "State", "Created", "Source-Agent", "Origin-Brain"]

    world.at(x).memorize("First write")
    assert keys() == first
    world.clock.forward(1)
    world.at(x).memorize("First write", "another belief")
    assert keys() == [*first, "Supersedes"]


@pytest.mark.req("MED-061")
def test_med_061_unknown_keys_survive_the_witness_stamp_byte_for_byte(world: World) -> None:
    x = world.brain("x")
    path = world.store(x) / "team.light.md"
    path.parent.mkdir(parents=True)
    path.write_text("---\nProtocol: L1GHT/1.0\nNode: Team\nX-Team: blue  \nState: authored\n---\n\nours\n\n[⍂ entity: Team]\n")
    before = path.read_bytes().split(b"\n")

    assert world.at(x, "claude:orchestrator").call("promote", brain=x, claim="Team", reason="r")["promoted"] is True

    after = path.read_bytes().split(b"\n")
    added = [line for line in after if line not in before]
    assert added == [f"Promoted-To: medulla@team@{world.clock.now}".encode()]
    assert [line for line in after if line not in added] == before


@pytest.mark.req("MED-062", "MED-111")
def test_med_062_a_file_that_says_little_is_served_and_nothing_is_guessed(world: World) -> None:
    x = world.brain("x")
    path = world.store(x) / "legacy.light.md"
    path.parent.mkdir(parents=True)
    path.write_text("---\nProtocol: L1GHT/1.0\nNode: Legacy\nState: authored\n---\n\nlegacy words\n\n[⍂ entity: Legacy]\n")
    before, stat = path.read_bytes(), path.stat()

    (row,) = world.at(x).seek("legacy words")["results"]

    assert (row["origin_brain"], row["source_agent"], row["age_ms"]) == ("unknown", "unknown", None)
    assert "stale" not in row
    assert (path.read_bytes(), path.stat().st_mtime_ns) == (before, stat.st_mtime_ns)


@pytest.mark.req("MED-063")
@pytest.mark.parametrize(
    ("label", "slug"),
    [
        ("MedullaProbeSentinel", "medullaprobesentinel"),
        ("CI flake: hall #2", "ci-flake-hall-2"),
        ("--a--", "a"),
        ("a\nb", "a-b"),
        ("Ünïcode ß", "ünïcode-ß"),
        ("Änïcode", "änïcode"),
        ("日本語の設定", "日本語の設定"),
        ("Привет мир", "привет-мир"),
        ("हिन्दी नीति", "हिन्दी-नीति"),
        ("Cafe\u0301", "café"),
        ("Retry — with jitter", "retry-with-jitter"),
        ("pay\u202eload \u200bnow", "payload-now"),
        ("a\ufe0f\u3164b", "ab"),
        ("☕ \u0301x", "x"),
    ],
)
def test_med_063_the_slug_of_a_label(label: str, slug: str) -> None:
    assert slug_of(label) == slug


@pytest.mark.req("MED-063")
@pytest.mark.parametrize("label", ["🚀", "---", "!?", "…", "\u200b\u202e", "\u3164"])
def test_med_063_a_label_without_a_slug_is_refused(world: World, label: str) -> None:
    x = world.brain("x")

    answer = world.at(x).call("memorize", node_label=label, text="t")

    assert answer["error"]["code"] == "invalid_label"
    assert not world.store(x).exists()


@pytest.mark.req("MED-063")
@settings(deadline=None)
@given(st.text(max_size=200))
def test_med_063_every_slug_is_a_plain_file_name(label: str) -> None:
    try:
        slug = slug_of(label)
    except InvalidLabel:
        assert not any(c in "abcdefghijklmnopqrstuvwxyz0123456789" for c in label.lower())
        return
    assert all(c == "-" or unicodedata.category(c)[0] in "LMN" for c in slug)
    assert len(slug.encode()) <= 200
    assert slug == unicodedata.normalize("NFC", slug)
    if label.isascii():
        assert slug == re.sub(r"[^a-z0-9]+", "-", label.lower()).strip("-")
    assert "--" not in slug
    assert slug == slug.strip("-") == slug_of(slug)


@pytest.mark.req("MED-064")
def test_med_064_two_labels_with_one_slug_are_one_claim(world: World) -> None:
    x = world.brain("x")
    world.at(x).memorize("Retry with jitter", "first")

    answer = world.at(x).memorize("retry-with-jitter!", "second")

    assert answer["superseded"] is True
    assert [path.name for path in world.store(x).glob("*.light.md")] == ["retry-with-jitter.light.md"]
    assert len(world.history(x)) == 1


@pytest.mark.req("MED-068", "MED-069", "MED-070", "MED-075")
def test_med_068_the_body_has_heading_title_prose_marker_and_qualifiers_in_order(world: World) -> None:
    x = world.brain("x")
    blocks: list[dict[str, Any]] = [
        block("L", "T", confidence=0.9, ambiguity="low", evidence=["a.py:3", "b.py"], depends_on=["D1", "D2"]),
        {"label": "Bare", "kind": "event", "confidence": 1},
        block("S", "T3", kind="state"),
        block("O", "T4", kind="thing"),
    ]

    answer = world.at(x).call("memorize", node_label="N", claims=blocks)

    assert answer["ok"], answer
    lines = written(world, x, "n")
    assert [line for line in lines[lines.index("---", 1) + 1 :] if line] == [
        "# N",
        "## N",
        "T",
        "[⍂ entity: L]",
        "[𝔻 confidence: 0.9]",
        "[𝔻 ambiguity: low]",
        "[𝔻 evidence: a.py:3]",
        "[𝔻 evidence: b.py]",
        "[⟁ depends_on: D1]",
        "[⟁ depends_on: D2]",
        "Bare",
        "[⍌ event: Bare]",
        "[𝔻 confidence: 1]",
        "T3",
        "[⍐ state: S]",
        "T4",
        "[⍂ entity: O]",
    ]
    claim = parse("\n".join(lines))
    assert [(one.kind, one.confidence) for one in claim.blocks] == [
        ("entity", "0.9"),
        ("event", "1"),
        ("state", None),
        ("entity", None),
    ]
    assert claim.blocks[0].evidence == ("a.py:3", "b.py")


@pytest.mark.req("MED-071")
def test_med_071_older_markers_become_nodes_of_their_own(world: World) -> None:
    x = world.brain("x")
    path = world.store(x) / "old.light.md"
    path.parent.mkdir(parents=True)
    markers = "[⟁ binds_to: x1]\n[⟁ tests: x2]\n[RED blocker: x3]\n[AMBER warning: x4]\n"
    path.write_text(f"---\nProtocol: L1GHT/1.0\nNode: Old\nState: authored\n---\n\nold words\n\n[⍂ entity: Old]\n{markers}")
    (row,) = world.at(x).seek("old words")["results"]
    brain = world.home.project(x)
    assert brain is not None

    with world.app.house.brains.use(brain) as opened:
        edges = opened.store.neighbours(row["node_id"], limit=50)
        labels = {node.id: node.label for node in opened.store.nodes([edge.target for edge in edges]).values()}

    told = {edge.relation: labels[edge.target] for edge in edges if edge.source == row["node_id"]}
    wanted = {"binds_to": "x1", "declares_test": "x2", "declares_blocker": "x3", "declares_warning": "x4"}
    assert {relation: told.get(relation) for relation in wanted} == wanted


@pytest.mark.req("MED-072")
@pytest.mark.parametrize(
    ("text", "light"),
    [
        ("# Readme\n[RED blocker: x]\n", False),
        ("# Readme\n[RED blocker: x]\n[RED blocker: y]\n", False),
        ("[⍂ entity: a]\n[𝔻 evidence: b]\n", True),
        ("Protocol: L1GHT/1.0\n", True),
        ("nothing\n", False),
    ],
)
def test_med_072_what_counts_as_light(text: str, light: bool) -> None:
    assert looks_like_light(text) is light


@pytest.mark.req("MED-076")
@pytest.mark.parametrize("change", [lambda t: t.replace("\n", "\r\n"), lambda t: "\ufeff" + t], ids=["crlf", "bom"])
def test_med_076_other_line_ends_and_a_mark_are_tolerated(change: Any) -> None:
    assert parse(change(EXAMPLE)) == parse(EXAMPLE)


@pytest.mark.req("MED-076")
def test_med_076_files_are_plain_utf8_with_lf_and_a_final_newline(world: World) -> None:
    x = world.brain("x")
    world.at(x).memorize("Plain", "naïve\r\ntext\rwith lines")

    data = Path(world.file(x, "plain")).read_bytes()

    assert not data.startswith(b"\xef\xbb\xbf")
    assert b"\r" not in data
    assert data.endswith(b"]\n")
    assert "naïve\ntext\nwith lines" in data.decode("utf-8")


@pytest.mark.req("MED-073")
def test_med_073_the_complete_example_comes_back_byte_for_byte() -> None:
    assert render(parse(EXAMPLE)) == EXAMPLE


@pytest.mark.req("MED-063")
def test_labels_that_differ_in_an_accent_or_a_script_are_different_claims(world: World) -> None:
    x = world.brain("x")
    agent = world.at(x)
    labels = ["Ünïcode", "Änïcode", "日本語の設定", "中文配置", "Привет мир", "n-code"]

    for label in labels:
        assert "superseded" not in agent.memorize(label, f"what {label} says")

    files = sorted(path.name for path in world.store(x).glob("*.light.md"))
    assert files == sorted(f"{slug_of(label)}.light.md" for label in labels)
    for label in labels:
        (version,) = agent.call("history", claim=label)["versions"]
        assert f"what {label} says" in version["text"]
    assert agent.memorize("UnIcode", "plain")["slug"] == "unicode"
    assert agent.memorize(unicodedata.normalize("NFD", "Ünïcode"), "again")["superseded"] is True
    world.restart()
    assert agent.call("claims", query="中文配置")["claims"][0]["claim"] == "中文配置"
    assert agent.call("doctor")["warnings"] == []


@pytest.mark.req("MED-063")
def test_a_long_label_of_any_script_gives_a_file_name_that_fits(world: World) -> None:
    x = world.brain("x")
    one, other = "設定" * 99 + "一", "設定" * 99 + "二"

    for label in (one, other):
        assert "superseded" not in world.at(x).memorize(label, "first")
        assert world.at(x).memorize(label, "second")["superseded"] is True

    names = [path.name for path in (*world.store(x).glob("*.md"), *world.store(x).glob(".history/*.md"))]
    assert len(names) == 4
    assert max(len(name.encode()) for name in names) <= 255
    assert slug_of(slug_of(one)) == slug_of(one) != slug_of(other)


@pytest.mark.req("MED-063", "MED-064")
def test_a_claim_that_0_1_0_named_without_its_accents_keeps_its_name(world: World) -> None:
    x = world.brain("x")
    agent = world.at(x)
    agent.memorize("Other")
    text = light_file("Ünïcode", "first", Created=str(world.clock()))
    world.file(x, "n-code").write_text(text, encoding="utf-8")
    assert agent.seek("first")["results"][0]["slug"] == "n-code"

    assert agent.memorize("Ünïcode", "second")["superseded"] is True
    assert agent.memorize("Änïcode", "third")["slug"] == "änïcode"

    versions = agent.call("history", claim="Ünïcode")["versions"]
    assert ["second" in row["text"] for row in versions] == [True, False]
    assert agent.call("learn", feedback="wrong", node_ids=["Ünïcode"])["claim_grades"][0]["slug"] == "n-code"
    promoted = world.at(x, "claude:orchestrator").call("promote", brain=x, claim="Ünïcode", reason="r")
    assert promoted["origin_claim"] == f"{x}#n-code"
    assert f"Origin-Claim: {x}#n-code" in world.file(None, "n-code").read_text(encoding="utf-8")
    assert world.human(x).call("forget", claim="Ünïcode", reason="r")["ok"]
    assert sorted(path.name for path in world.store(x).glob("*.light.md")) == ["other.light.md", "änïcode.light.md"]
