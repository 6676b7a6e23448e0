"""What changes, as a stream: to everybody but the one who changed it."""

import asyncio
import contextlib
import gc
from collections.abc import Iterator
from pathlib import Path

import pytest

from hindbrain.services.events import Event, Events
from hindbrain.surfaces.sse import change_stream
from tests.http.test_brains import a_project, bootstrap, memorize
from tests.support.owner import RunningOwner, start_owner

Two = tuple[RunningOwner, Path, Path]


@pytest.fixture(scope="module")
def two(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Two]:
    place = tmp_path_factory.mktemp("events").resolve()
    x, y = a_project(place, "repo-x"), a_project(place, "repo-y")
    running = start_owner(place / "home")
    for root in (x, y):
        bootstrap(running, root)
    yield running, x, y
    running.kill()


@pytest.mark.req("GR-176")
def test_gr_176_only_the_other_session_hears_of_a_change(two: Two) -> None:
    running, x, _ = two
    with (
        running.stream("/api/events", human=True, hindbrain_session="writer") as own,
        running.stream("/api/events", human=True, hindbrain_session="reader") as other,
    ):
        assert (own.next() or {})["event"] == (other.next() or {})["event"] == "hello"

        memorize(running, x, "heard by one", session="writer")
        memorize(running, x, "heard by the writer", session="somebody-else")

        heard = other.next() or {}
        assert heard["event"] == "graph_changed"
        assert heard["data"]["brain_root"] == str(x)
        assert heard["data"]["slug"] == "heard-by-one"
        assert (own.next() or {})["data"]["slug"] == "heard-by-the-writer"


@pytest.mark.req("GR-176")
def test_gr_176_an_event_names_the_change_and_holds_no_text(two: Two) -> None:
    running, x, _ = two
    with running.stream("/api/events", human=True) as stream:
        stream.next()
        memorize(running, x, "a label")
        heard = stream.next() or {}

    assert {"brain", "brain_root", "act"} <= heard["data"].keys()
    assert "holds" not in str(heard["data"])


@pytest.mark.req("GR-176")
def test_gr_176_the_medulla_has_no_root(two: Two) -> None:
    running, x, _ = two
    with running.stream("/api/events?brain=medulla", human=True) as stream:
        stream.next()
        memorize(running, x, "of the project")
        memorize(running, x, "of all", tier="medulla")
        heard = stream.next() or {}

    assert heard["data"]["brain"] == "medulla"
    assert heard["data"]["brain_root"] is None
    assert heard["data"]["slug"] == "of-all"


@pytest.mark.req("GR-176", "MED-031")
def test_gr_176_a_stream_of_one_brain_carries_no_other(two: Two) -> None:
    running, x, y = two
    with running.stream(f"/api/events?brain={y}", human=True) as stream:
        stream.next()
        memorize(running, x, "not for y")
        memorize(running, y, "for y")

        assert (stream.next() or {})["data"]["brain_root"] == str(y)


@pytest.mark.req("GR-176")
def test_gr_176_a_listener_resumes_where_it_broke_off(two: Two) -> None:
    running, x, _ = two
    with running.stream("/api/events", human=True) as stream:
        stream.next()
        memorize(running, x, "before the break")
        last = (stream.next() or {})["id"]
    memorize(running, x, "during the break")

    with running.stream("/api/events", human=True, last_event_id=last) as stream:
        assert (stream.next() or {})["event"] == "hello"
        assert (stream.next() or {})["data"]["slug"] == "during-the-break"


@pytest.mark.req("GR-176")
@pytest.mark.parametrize(
    "last", ["another-owner-3", "nonsense", "", "{instance}-999999", "{instance}-99999999999999999999999", "{instance}--1"]
)
def test_gr_176_a_listener_that_cannot_resume_is_told_to_start_afresh(two: Two, last: str) -> None:
    running, _, _ = two
    with running.stream("/api/events", human=True, last_event_id=last.format(instance=running.facts["instance"])) as stream:
        assert (stream.next() or {})["event"] == "reset"


@pytest.mark.req("GR-176")
def test_gr_176_a_refused_call_rings_no_bell(two: Two) -> None:
    running, x, _ = two
    with running.stream("/api/events", human=True) as stream:
        stream.next()
        refused = memorize(running, None, "from nowhere")
        memorize(running, x, "from x")

        assert refused["ok"] is False
        assert (stream.next() or {})["data"]["slug"] == "from-x"


def test_gr_176_asking_for_the_head_of_the_stream_opens_none(two: Two) -> None:
    running, _, _ = two

    answer = running.request("HEAD", "/api/events")

    assert answer.status == 200
    assert answer.body == b""


@pytest.mark.req("GR-176")
def test_gr_176_a_listener_that_does_not_read_takes_little_memory_and_starts_afresh() -> None:
    """Of a flood only what it may be behind is kept for it."""
    bell = _Quiet()

    async def flooded() -> tuple[int, bytes]:
        ended = asyncio.Event()
        stream = change_stream(bell, instance="one", wanted=lambda _: True, last_event_id=None, stopping=ended)
        async with contextlib.aclosing(stream):
            await anext(stream)
            for _ in range(20_000):
                bell.events.publish({"act": "test"})
            await asyncio.sleep(0)  # the loop hands over what was published
            gc.collect()
            return sum(isinstance(one, Event) for one in gc.get_objects()), await anext(stream)

    kept, told = asyncio.run(flooded())

    assert kept < 2_000
    assert told.startswith(b"event: reset")


class _Quiet:
    """A bell of this process alone."""

    def __init__(self) -> None:
        self.events = Events()

    def listening(self) -> contextlib.AbstractContextManager[None]:
        return contextlib.nullcontext()
