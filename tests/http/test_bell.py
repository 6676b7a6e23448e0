"""The bell of one process: order, replay, and listeners that come and go."""

import threading

import pytest

from hindbrain.services.events import Event, Events


@pytest.mark.req("GR-176")
def test_gr_176_every_listener_hears_every_event_in_the_order_of_its_number() -> None:
    events = Events()
    heard: list[list[int]] = [[], []]
    for ears in heard:
        events.subscribe(lambda event, ears=ears: ears.append(event.id))

    def publish() -> None:
        for _ in range(200):
            events.publish({"act": "x"})

    threads = [threading.Thread(target=publish) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert heard == [list(range(1, 801))] * 2


def test_gr_176_an_event_knows_the_session_that_caused_it() -> None:
    events = Events()
    heard: list[Event] = []
    events.subscribe(heard.append)

    events.publish({"brain": "/r/x", "act": "claim.written"}, session="s1")

    assert heard == [Event(id=1, data={"brain": "/r/x", "act": "claim.written"}, session="s1")]


def test_gr_176_a_listener_resumes_after_the_last_number_it_saw() -> None:
    events = Events()
    for number in range(5):
        events.publish({"n": number})
    heard: list[int] = []

    events.subscribe(lambda event: heard.append(event.id), after=3)
    events.publish({"n": 5})

    assert heard == [4, 5, 6]


def test_gr_176_the_bell_says_when_it_no_longer_reaches_back() -> None:
    events = Events(keep=3)
    assert events.reaches(0)
    for number in range(10):
        events.publish({"n": number})

    assert [after for after in range(12) if events.reaches(after)] == [7, 8, 9, 10]


def test_gr_176_who_stopped_listening_hears_nothing() -> None:
    events = Events()
    heard: list[int] = []
    stop = events.subscribe(lambda event: heard.append(event.id))
    events.publish({})
    stop()
    stop()
    events.publish({})

    assert heard == [1]
