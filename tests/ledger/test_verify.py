"""The record of a brain proves itself: what was changed behind its back is found, named and told in the one shape of an error."""

import apsw
import pytest

from hindbrain.domain.brain import fingerprint
from hindbrain.services.gateway import recorded
from hindbrain.stores.port import StoredMessage
from tests.stores.values import act
from tests.support.world import World


@pytest.mark.parametrize(
    ("tampering", "reason"),
    [
        ("update ledger set actor = 'human:founder' where seq = 3", "was changed after it was written"),
        ("delete from ledger where seq = 3", "entry 3 is missing"),
    ],
    ids=["changed", "removed"],
)
def test_ledger_1_a_changed_or_missing_entry_is_named(world: World, tampering: str, reason: str) -> None:
    root = world.brain("shop")
    world.at(root).memorize("Retry policy", "three times")
    world.at(root).memorize("Release day", "Tuesdays")
    before = world.at(root).call("ledger.verify")
    world.close()

    database = apsw.Connection(str(world.home.brains_dir / fingerprint(root) / "brain.db"))
    database.execute(tampering)
    database.close()
    after = world.at(root).call("ledger.verify")

    assert (before["ok"], before["intact"], before["breaks"]) == (True, True, [])
    assert (after["ok"], after["intact"], after["error"]["code"]) == (False, False, "ledger_broken")
    assert {"seq": 3, "reason": reason} in after["breaks"]
    assert "entry 3" in after["error"]["message"]
    assert after["error"]["fix"]


# --- messages of the control loop --------------------------------------------------------------------------------------------


def spoken(world: World, root: str) -> int:
    """A brain in which two messages were said; the entry of the first. Nobody is in it any more."""
    world.at(root).memorize("Retry policy", "three times")
    (brain,) = world.app.house.brains.all()
    with world.app.house.brains.use(brain) as opened:
        salt, first = opened.store.meta("salt") or "", opened.store.head()[0] + 1
        for name, task in (("msg_a", "t1"), ("msg_b", None)):
            body = f'{{"id":"{name}","goal":"find the wombat"}}'
            path: dict[str, str | int] = {"id": name, "type": "TaskSpec", "from": "R1", "to": "R2"}
            told = act("control.message", subject=f"task:{task or '-'}", at=7, **path, digest=recorded(salt, body))
            with opened.store.writing() as writer:
                seq = writer.append(told).seq
                kept = {"sender": "R1", "recipient": "R2", "type": "TaskSpec", "task_id": task, "body": body}
                writer.put_message(StoredMessage(seq=seq, id=name, at=7, **kept))  # type: ignore[arg-type]  # texts all
    world.close()
    return first


def tamper(world: World, root: str, *statements: str) -> None:
    database = apsw.Connection(str(world.home.brains_dir / fingerprint(root) / "brain.db"))
    for statement in statements:
        database.execute(statement)
    database.close()


LET = ("drop trigger control_message_update", "drop trigger control_message_delete")


def test_ctl_313_a_message_whose_text_was_erased_breaks_nothing(world: World) -> None:
    root = world.brain("shop")
    spoken(world, root)
    before = world.at(root).call("ledger.verify")
    (brain,) = world.app.house.brains.all()
    with world.app.house.brains.use(brain) as opened, opened.store.writing() as writer:
        assert writer.erase_messages(["t1"]) == 1
    after = world.at(root).call("ledger.verify")

    assert (before["intact"], after["intact"], after["breaks"], after["entries"]) == (True, True, [], before["entries"])


@pytest.mark.parametrize(
    "change",
    [
        *("body = replace(body, 'wombat', 'quokka')", "sender = 'R7'", "recipient = 'R6'", "type = 'FinalResult'"),
        *("task_id = 't2'", "task_id = null", "at = 8", "id = 'msg_z'"),
    ],
)
def test_ctl_313_a_message_that_was_changed_is_named(world: World, change: str) -> None:
    root = world.brain("shop")
    first = spoken(world, root)
    tamper(world, root, *LET, f"update control_message set {change} where id = 'msg_a'")

    after = world.at(root).call("ledger.verify")

    name = "msg_z" if change.startswith("id") else "msg_a"
    assert after["breaks"] == [{"seq": first, "reason": f"message {name} is not the one it recorded"}]


@pytest.mark.parametrize(("place", "reason"), [("-4", "is missing"), ("99", "is missing"), ("1", "is not the one it recorded")])
def test_ctl_313_a_message_that_no_entry_records_is_named(world: World, place: str, reason: str) -> None:
    root = world.brain("shop")
    spoken(world, root)
    tamper(world, root, *LET, f"update control_message set seq = {place} where id = 'msg_a'")

    after = world.at(root).call("ledger.verify")

    assert [(one["seq"], one["reason"].endswith(reason)) for one in after["breaks"]] == [(int(place), True)]
