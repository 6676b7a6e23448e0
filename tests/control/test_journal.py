"""The journal: writing behind, in order, with nothing lost that was acknowledged."""

import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from hindbrain.domain.errors import InvalidParams, StoreUnavailable
from hindbrain.services.control.journal import Journal
from hindbrain.stores.port import Writer
from hindbrain.stores.sqlite import SqliteStore
from tests.stores.conftest import BRAIN
from tests.stores.values import act


@pytest.fixture
def kept(tmp_path: Path) -> Iterator[SqliteStore]:
    made = SqliteStore(tmp_path / "brain", BRAIN)
    yield made
    made.close()


def says(name: str):  # type: ignore[no-untyped-def]
    return lambda writer: writer.append(act(name)).seq


def names(store: SqliteStore) -> list[str]:
    return [entry.act for entry in store.entries(limit=10_000)]


def test_exp_036_what_is_put_is_written_in_order_and_the_ticket_tells_when(kept: SqliteStore) -> None:
    journal = Journal(kept)

    tickets = [journal.put(says(f"a.{number}")) for number in range(50)]

    assert all(ticket.wait(20) for ticket in tickets)
    assert names(kept) == [f"a.{number}" for number in range(50)]
    assert [ticket.value for ticket in tickets] == list(range(1, 51))
    journal.close()


def test_exp_036_ctl_257_putting_returns_while_the_store_is_held_and_nothing_is_lost_after(kept: SqliteStore) -> None:
    """Another writer holds the store: every put returns before it lets go, and all are there afterwards."""
    journal, held, free = Journal(kept, retry_s=0.01), threading.Event(), threading.Event()

    def hold() -> None:
        with kept.writing() as writer:
            writer.append(act("holder"))
            held.set()
            assert free.wait(20)

    holder = threading.Thread(target=hold)
    holder.start()
    assert held.wait(20)
    tickets = [journal.put(says(f"b.{number}"), droppable=True) for number in range(1_000)]
    settled_while_held = [ticket.durable for ticket in tickets]
    free.set()
    holder.join()

    assert not any(settled_while_held)
    assert all(ticket.wait(20) for ticket in tickets)
    assert names(kept) == ["holder", *(f"b.{number}" for number in range(1_000))]
    journal.close()


def test_exp_038_beyond_queue_and_overflow_experience_is_dropped_and_counted_but_messages_are_not(kept: SqliteStore) -> None:
    journal, held, free = Journal(kept, queue=3, overflow=4, retry_s=0.01), threading.Event(), threading.Event()

    def stall(writer: Writer) -> None:
        held.set()
        assert free.wait(20)

    journal.put(stall)
    assert held.wait(20)
    tickets = [journal.put(says(f"m.{number}"), droppable=True) for number in range(10)]
    message = journal.put(says("message"))
    overflowed, dropped = journal.overflowed, journal.dropped
    free.set()

    assert message.wait(20)
    assert (overflowed, dropped) == (4, 3)
    assert [ticket.dropped for ticket in tickets] == [False] * 7 + [True] * 3
    assert names(kept) == [*(f"m.{number}" for number in range(7)), "message"]
    journal.close()


def test_exp_089_a_write_that_is_refused_takes_no_other_with_it(kept: SqliteStore) -> None:
    journal, held, free = Journal(kept, retry_s=0.01), threading.Event(), threading.Event()

    def stall(writer: Writer) -> None:
        held.set()
        assert free.wait(20)

    def refused(writer: Writer) -> None:
        writer.append(act("half"))
        raise InvalidParams("no", fix=None)

    journal.put(stall)
    assert held.wait(20)
    before = [journal.put(says(f"x.{number}")) for number in range(20)]
    bad = journal.put(refused)
    after = [journal.put(says(f"y.{number}")) for number in range(20)]
    free.set()

    assert all(ticket.wait(20) for ticket in (*before, *after))
    assert not bad.wait(20)
    assert isinstance(bad.error, InvalidParams)
    assert names(kept) == [*(f"x.{number}" for number in range(20)), *(f"y.{number}" for number in range(20))]
    journal.close()


def test_exp_044_closing_writes_all_that_waits_and_takes_nothing_more(kept: SqliteStore) -> None:
    journal = Journal(kept)
    for number in range(5_000):
        journal.put(says(f"c.{number}"), droppable=True)

    assert journal.close()
    late = journal.put(says("late"))

    assert len(names(kept)) == 5_000
    assert not late.durable
    assert late.error is not None


def test_exp_038_a_write_that_the_store_itself_refuses_is_settled_and_holds_up_nobody(kept: SqliteStore) -> None:
    """What breaks a rule of the tables looks like a store that is away; but the store takes others."""
    journal = Journal(kept, retry_s=0.01)

    def broken(writer: Writer) -> None:
        writer.append(act("half"))
        raise StoreUnavailable("a rule of the tables", fix=None)

    first, bad, last = journal.put(says("a")), journal.put(broken), journal.put(says("b"))

    assert first.wait(20)
    assert last.wait(20)
    assert not bad.wait(20)
    assert isinstance(bad.error, StoreUnavailable)
    assert names(kept) == ["a", "b"]
    journal.close()
