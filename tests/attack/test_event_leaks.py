"""Attack F29: an agent of one project listens to what happens in another."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest

from tests.http.test_brains import a_project, bootstrap, memorize
from tests.support.owner import RunningOwner, start_owner

Two = tuple[RunningOwner, Path, Path]


@pytest.fixture(scope="module")
def two(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Two]:
    place = tmp_path_factory.mktemp("leaks").resolve()
    a, b = a_project(place, "repo-a"), a_project(place, "sentinel-b")
    running = start_owner(place / "home")
    for root in (a, b):
        bootstrap(running, root)
    yield running, a, b
    running.kill()


def work(running: RunningOwner, root: Path, agent: str) -> None:
    """One act of each kind that rings: a claim, evidence, a mission, a letter, a message on the bus."""
    headers = {"hindbrain_caller_root": str(root), "hindbrain_agent": agent}
    acts: list[tuple[str, dict[str, Any]]] = [
        ("memorize", {"node_label": f"{agent} label", "text": "a fact"}),
        ("record", {"text": f"{agent} saw it"}),
        ("mission.start", {"task": f"{agent} mends the retry"}),
        ("report", {"class": "friction", "what": f"{agent} report"}),
        ("cowork.register", {"agent_id": agent, "tool": "codex"}),
    ]
    for name, arguments in acts:
        answer = running.post(name, arguments, **headers).json
        assert answer["ok"] is True, (name, answer)


@pytest.mark.req("GR-176")
@pytest.mark.parametrize("resumed", [False, True])
def test_f29_an_agent_hears_of_no_other_project(two: Two, resumed: bool) -> None:
    running, a, b = two
    replay = {"last_event_id": f"{running.facts['instance']}-0"} if resumed else {}
    with running.stream("/api/events", hindbrain_caller_root=str(a), **replay) as stream:
        stream.next()
        work(running, b, "sentinel-b-agent")
        memorize(running, b, "shared doctrine", tier="medulla")
        work(running, a, "agent-a")
        memorize(running, a, f"the end {resumed}")

        heard = []
        while (event := stream.next() or {})["data"].get("slug") != f"the-end-{str(resumed).lower()}":
            heard.append(event)

    assert "sentinel-b" not in str(heard)
    assert {event["data"]["brain"] for event in heard} == {str(a), "medulla"}
    told = {event["data"]["act"].split(".")[0] for event in heard if event["data"]["brain"] == str(a)}
    assert {"claim", "evidence", "mission", "letter", "cowork"} <= told, "of its own project it hears everything"


@pytest.mark.parametrize("root", [None, "/"])
def test_f29_an_agent_from_nowhere_hears_of_the_medulla_only(two: Two, root: str | None) -> None:
    running, a, b = two
    with running.stream("/api/events", **({"hindbrain_caller_root": root} if root else {})) as stream:
        stream.next()
        work(running, a, "agent-a")
        work(running, b, "agent-b")
        memorize(running, a, f"doctrine heard from {root}", tier="medulla")

        heard = stream.next() or {}

    assert heard["data"]["brain"] == "medulla"


def test_f29_naming_the_other_project_opens_no_stream_of_it(two: Two) -> None:
    running, a, b = two

    with running.stream(f"/api/events?brain={quote(str(b))}", hindbrain_caller_root=str(a)) as refused:
        assert refused.status == 403


def test_f29_a_person_hears_of_every_project(two: Two) -> None:
    running, a, b = two
    with running.stream("/api/events", human=True, hindbrain_caller_root=str(a)) as stream:
        stream.next()
        memorize(running, b, "a label of b")

        assert (stream.next() or {})["data"]["slug"] == "a-label-of-b"


def test_f29_a_project_that_gets_its_brain_meanwhile_is_heard_from_then_on(two: Two, tmp_path: Path) -> None:
    running, _, _ = two
    young = a_project(tmp_path.resolve(), "young")
    with running.stream("/api/events", hindbrain_caller_root=str(young)) as stream:
        stream.next()
        bootstrap(running, young)
        memorize(running, young, "first fact")
        while (event := stream.next() or {})["data"].get("slug") != "first-fact":
            assert event["data"]["brain"] == str(young)


def test_f29_with_all_brains_off_no_agent_reads_another_brain_by_name(tmp_path: Path) -> None:
    a, b = a_project(tmp_path.resolve(), "a"), a_project(tmp_path.resolve(), "b")
    (tmp_path / "home").mkdir(mode=0o700)
    (tmp_path / "home" / "config.toml").write_text("all_brains = false\n")
    running = start_owner(tmp_path / "home")
    try:
        for root in (a, b):
            bootstrap(running, root)
            memorize(running, root, f"fact of {root.name}")
        query = f"?brain={quote(str(b))}"

        for path in ("/api/status", "/api/mailbox", "/api/graph/stats", "/api/graph/snapshot"):
            refused = running.get(path + query, hindbrain_caller_root=str(a))
            assert refused.code == "switched_off", path
        seek = running.request(
            "POST",
            f"/api/op/seek{query}",
            body=b'{"query": "fact of b"}',
            headers={"Content-Type": "application/json", "Hindbrain-Caller-Root": str(a)},
        )
        assert seek.code == "switched_off"
        assert running.get(f"/api/graph/stats?brain={quote(str(a))}", hindbrain_caller_root=str(a)).status == 200
        person = running.request("GET", f"/api/graph/stats{query}", token=running.human_token)
        assert person.status == 200
    finally:
        running.kill()
