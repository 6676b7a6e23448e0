"""The claim list: what a brain believes, in pages, for somebody who reads."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from hindbrain.domain.claim import Block, Claim, headline, parse, render
from hindbrain.engines.text import typed_terms
from tests.support.world import DAY, Actor, World


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> Iterator[World]:
    made = World(tmp_path_factory.mktemp("claims"))
    root = made.brain("ferry", src__worker_py="RETRIES = 3\n", src__pier_py="OPEN = 1\n")
    old = made.at(root, "codex:old")
    old.memorize("Harbour depth", "Nine metres at low tide.", confidence=0.3)
    made.clock.forward(400 * DAY)
    agent = made.at(root, "claude:orchestrator")
    agent.memorize("Retry policy", "The worker retries three times.", evidence=["src/worker.py"], confidence=0.6)
    agent.memorize("Pier", "The second pier sees many retries.", evidence=["src/pier.py"], state="verified", confidence=0.9)
    made.clock.forward(DAY)
    agent.memorize("Retry policy", "The worker retries five times.", evidence=["src/worker.py"], confidence=0.7)
    agent.memorize("Moor with care", "Ask first.", tier="medulla")
    yield made
    made.close()


@pytest.fixture
def reader(world: World) -> Actor:
    return world.human(str(world.place / "ferry"))


def slugs(answer: dict[str, Any]) -> list[str]:
    assert answer["ok"], answer
    return [row["slug"] for row in answer["claims"]]


def test_claims_lists_the_newest_first_with_what_is_known_of_each(reader: Actor, world: World) -> None:
    seen = reader.call("claims")

    assert slugs(seen) == ["retry-policy", "pier", "harbour-depth"]
    assert (seen["total"], seen["next_cursor"], seen["display_name"]) == (3, None, "ferry")
    first = seen["claims"][0]
    assert (first["claim"], first["source_agent"], first["versions"]) == ("Retry policy", "claude:orchestrator", 2)
    assert (first["belief"], first["confidence"], first["stale"], first["born_at"]) == ("authored", 0.7, False, world.clock.now)
    assert "five times" in first["text"]
    assert seen["claims"][2]["stale"] is True


@pytest.mark.parametrize(
    ("typed", "found"),
    [
        ("retr", ["retry-policy", "pier"]),
        ("retries", ["retry-policy", "pier"]),
        ("the worker ret", ["retry-policy"]),
        ("pier", ["pier"]),
        ("harbour dep", ["harbour-depth"]),
        ("submarine", []),
        ('"; drop * AND (', []),
    ],
)
def test_claims_finds_by_words_as_they_are_typed(reader: Actor, typed: str, found: list[str]) -> None:
    assert slugs(reader.call("claims", query=typed)) == found


def test_claims_pages_without_a_gap_in_every_order(reader: Actor) -> None:
    for sort, query in (("newest", None), ("oldest", None), ("label", None), ("strength", None), ("best", "retr")):
        whole, pages, cursor = slugs(reader.call("claims", sort=sort, query=query)), [], None
        while True:
            page = reader.call("claims", sort=sort, query=query, limit=1, cursor=cursor)
            pages += slugs(page)
            if (cursor := page["next_cursor"]) is None:
                break
        assert pages == whole
        assert len(whole) == len(set(whole)) == page["total"]


def test_claims_sorts_by_label_and_by_strength(reader: Actor) -> None:
    assert slugs(reader.call("claims", sort="label")) == ["harbour-depth", "pier", "retry-policy"]
    assert slugs(reader.call("claims", sort="strength")) == ["pier", "retry-policy", "harbour-depth"]


def test_claims_filters_by_author_state_and_mark(reader: Actor, world: World) -> None:
    assert slugs(reader.call("claims", author="codex:old")) == ["harbour-depth"]
    assert slugs(reader.call("claims", state="verified")) == ["pier"]
    assert slugs(reader.call("claims", only="stale")) == ["harbour-depth"]
    assert slugs(reader.call("claims", author="claude:orchestrator", query="worker")) == ["retry-policy"]
    assert slugs(reader.call("claims", only="evidence_changed")) == []
    pier = Path(world.place, "ferry", "src", "pier.py")
    before = pier.read_text()
    pier.write_text("OPEN = 0\n")
    changed = reader.call("claims", only="evidence_changed")
    pier.write_text(before)

    assert slugs(changed) == ["pier"]
    assert changed["claims"][0]["evidence_changed"] == {"src/pier.py": "evidence_changed"}


def test_claims_shows_what_was_believed_then(reader: Actor, world: World) -> None:
    then = reader.call("claims", as_of=world.clock.now - DAY)
    words = reader.call("claims", as_of=world.clock.now - DAY, query="three tim")
    before = reader.call("claims", as_of=world.clock.now - 300 * DAY)

    assert slugs(then) == ["pier", "retry-policy", "harbour-depth"]
    assert "three times" in then["claims"][1]["text"]
    assert slugs(words) == ["retry-policy"]
    assert slugs(before) == ["harbour-depth"]


def test_the_past_shows_no_grade_strength_version_or_mark_that_is_newer(world: World) -> None:
    x = world.brain("x", src__worker_py="RETRIES = 3\n")
    actor = world.at(x)
    actor.memorize("Retries", "Three times.", evidence=["src/worker.py:1"])
    world.clock.forward(DAY)
    actor.call("learn", feedback="correct", query="retries", node_ids=["retries"])
    world.clock.forward(DAY)
    graded_correct = world.clock.now
    world.clock.forward(DAY)
    actor.call("learn", feedback="wrong", query="retries", node_ids=["retries"])
    world.clock.forward(DAY)
    graded_wrong = world.clock.now
    world.clock.forward(DAY)
    actor.memorize("Retries", "Five times.")
    Path(x, "src", "worker.py").write_text("RETRIES = 5\n")

    def then(at: int, **more: Any) -> tuple[Any, ...]:
        (row,) = actor.call("claims", as_of=at, **more)["claims"]
        return row["text"], row["grade"], row["strength"] > 0, row["versions"], row["ended_at"], row["state"]

    believed = "project_private"
    assert then(graded_correct) == ("Three times.", "correct", True, 1, None, believed)
    assert then(graded_wrong) == ("Three times.", "wrong", False, 1, None, believed)
    assert then(world.clock.now) == ("Five times.", None, True, 2, None, believed)
    assert slugs(actor.call("claims", as_of=graded_correct, only="graded_wrong")) == []
    assert slugs(actor.call("claims", as_of=graded_wrong, only="graded_wrong")) == ["retries"]
    assert actor.call("claims", as_of=graded_correct, facets=True)["facets"]["marks"] == {"graded_correct": 1}
    assert actor.call("claims", as_of=graded_wrong, only="evidence_changed")["error"]["code"] == "invalid_params"
    recalled = [actor.call("recall", query="retries", as_of=at)["memory"][0] for at in (graded_correct, graded_wrong)]
    assert [row.get("graded_wrong", False) for row in recalled] == [False, True]
    assert not any(row.get("contradicted_by_code") or "ended_at" in row for row in recalled)

    opened = actor.call("history", claim="retries", as_of=graded_correct)
    assert opened["row"]["created"] < graded_correct
    assert (opened["row"]["text"], [one["grade"] for one in opened["row"]["grades"]]) == ("Three times.", ["correct"])
    assert [(one["live"], one["archived_at"], one["ended_by"]) for one in opened["versions"]] == [(True, None, None)]


def test_claims_counts_by_author_state_and_mark(reader: Actor) -> None:
    facets = reader.call("claims", facets=True, limit=1)["facets"]

    assert facets["agents"] == [{"name": "claude:orchestrator", "count": 2}, {"name": "codex:old", "count": 1}]
    assert facets["states"] == {"authored": 2, "verified": 1}
    assert facets["marks"]["stale"] == 1


def test_claims_of_the_medulla_are_listed_apart(reader: Actor) -> None:
    assert slugs(reader.call("claims", tier="medulla")) == ["moor-with-care"]
    assert "moor-with-care" not in slugs(reader.call("claims"))


def test_claims_is_no_query_and_refuses_a_cursor_of_another_order(reader: Actor) -> None:
    before = next(one for one in reader.call("overview")["brains"] if one["display_name"] == "ferry")
    cursor = reader.call("claims", sort="label", limit=1)["next_cursor"]
    after = next(one for one in reader.call("overview")["brains"] if one["display_name"] == "ferry")

    assert (before["queries"], before["beats"]) == (after["queries"], after["beats"])
    for wrong in (cursor, "not a cursor", "ääh", "W10"):
        assert reader.call("claims", sort="newest", cursor=wrong)["error"]["code"] == "invalid_params"


def test_claims_follows_writes_of_every_kind(tmp_path: Path) -> None:
    world = World(tmp_path)
    root = world.brain("lamp")
    agent, person = world.at(root, "claude:orchestrator"), world.human(root)
    agent.memorize("First", "one")
    agent.memorize("Second", "two")
    assert slugs(person.call("claims", sort="label")) == ["first", "second"]
    agent.memorize("Third", "three")
    assert person.call("forget", claim="First", reason="wrong")["ok"]
    world.file(root, "second").write_text(world.file(root, "second").read_text().replace("two", "deux"))

    seen = person.call("claims", sort="label")

    assert slugs(seen) == ["second", "third"]
    assert "deux" in seen["claims"][0]["text"]
    world.close()


def test_claims_reads_a_brain_on_a_server(tmp_path: Path, postgres_schema_url: str) -> None:
    world = World(tmp_path, store_url=postgres_schema_url)
    agent = world.at(world.brain("lamp"))
    agent.memorize("Retry policy", "The worker retries.")
    agent.memorize("Pier", "closed")

    assert slugs(agent.call("claims", query="retr")) == ["retry-policy"]
    assert slugs(agent.call("claims", sort="label")) == ["pier", "retry-policy"]
    world.close()


@pytest.mark.parametrize(
    "text",
    [
        render(Claim(label="A: b", created=7, source_agent="x:y", blocks=(Block(label="A: b", text="t", confidence="high"),))),
        render(Claim(label="Two", state="verified", promoted_to="medulla", blocks=(Block(label="x", confidence="0.2"),))),
        "Protocol: L1GHT/1.0\nNode: unfenced\nState: verified\n\nno fence",
        "---\r\nNode: windows\r\nCreated: 12\r\n---\r\n\r\ntext\r\n",
        "---\nNode: broken\n",
        "",
    ],
)
def test_claims_headline_agrees_with_the_whole(text: str) -> None:
    whole, head = parse(text, fallback_label="f"), headline(text, fallback_label="f")

    assert (head.label, head.state, head.created, head.strength) == (whole.label, whole.state, whole.created, whole.strength)
    assert (head.source_agent, head.origin_brain, head.promoted_to) == (whole.source_agent, whole.origin_brain, whole.promoted_to)


@pytest.mark.parametrize(
    ("text", "typed"),
    [
        ("retr", ([], "retr")),
        ("the retry pol", (["retri"], "pol")),
        ("retry-pol", (["retri"], "pol")),
        ("日本語", (["日本"], "本語")),
        ("  ", ([], "")),
    ],
)
def test_claims_words_while_they_are_typed(text: str, typed: tuple[list[str], str]) -> None:
    assert typed_terms(text) == typed
