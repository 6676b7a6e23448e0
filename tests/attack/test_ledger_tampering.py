"""Somebody with the database in hand: whatever they change in the record, or in what it tells of, `ledger verify` names it."""

import apsw
import pytest

from hindbrain.domain.brain import fingerprint
from tests.support.world import World

LAST = "(select max(seq) from ledger)"
COPY = (
    "insert into ledger select brain_id, {seq}, at, actor, channel, act, subject, payload, {prev}, hash "
    "from ledger where seq = {of}"
)

TAMPERING: dict[str, list[str]] = {
    "an actor": ["update ledger set actor = 'somebody' where seq = 3"],
    "a payload that is no JSON": ["update ledger set payload = '{' where seq = 3"],
    "one taken out": ["delete from ledger where seq = 3"],
    "two exchanged": [
        "update ledger set seq = -1 where seq = 3",
        "update ledger set seq = 3 where seq = 4",
        "update ledger set seq = 4 where seq = -1",
    ],
    "the end cut off": ["delete from ledger where seq > 5"],
    "the end cut off and the head put right": [
        "delete from ledger where seq > 5",
        "update brain_head set seq = 5, hash = (select hash from ledger where seq = 5)",
    ],
    "all of it, and the head put right": ["delete from ledger", f"update brain_head set seq = 0, hash = '{'0' * 64}'"],
    "the head": ["update brain_head set hash = '00'"],
    "one put in after the head": [COPY.format(seq=f"{LAST} + 1", prev="hash", of=LAST)],
    "one put in before the first": [COPY.format(seq=0, prev="prev", of=1)],
    "one put in far below": [COPY.format(seq=-5, prev="prev", of=1)],
    "a text that an entry wrote": ["update claim_version set text = replace(text, 'zebra', 'quokka') where slug = 'c3'"],
    "a text that an entry wrote, long ago": [
        "update claim_version set text = replace(text, 'zebra', 'quokka') where slug = 'c0'"
    ],
}


def tampered(world: World, *statements: str) -> dict[str, object]:
    """What verify says of a brain with some claims after these statements ran on its database."""
    root = world.brain("y")
    for number in range(6):
        world.at(root).memorize(f"c{number}", f"zebra {number}")
    world.at(root).memorize("c0", "now a zebra crossing")
    world.at(root).call("memorize", node_label="gone", text="is forgotten, as one may")
    assert world.human(root).call("forget", claim="gone")["ok"]
    world.close()
    with apsw.Connection(str(world.home.brains_dir / fingerprint(root) / "brain.db")) as database:
        for statement in statements:
            database.execute(statement)
    database.close()
    return world.at(root).call("ledger.verify")


def test_an_honest_record_holds(world: World) -> None:
    assert tampered(world)["intact"] is True


@pytest.mark.parametrize("what", TAMPERING)
def test_what_was_tampered_with_is_named(world: World, what: str) -> None:
    answer = tampered(world, *TAMPERING[what])

    assert answer["intact"] is False
    assert answer["breaks"]
