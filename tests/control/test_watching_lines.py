"""One line for each message: arrows at their boundaries, how an end is read, and nothing that a terminal would act on."""

from typing import Any

import msgspec
import pytest

from hindbrain.domain.message import TYPES, BusMessage, MessageType, Role
from hindbrain.domain.task import Record
from hindbrain.engines.watching_lines import Teller, rendered
from hindbrain.policy.control import PATHS
from tests.support.examples import VALID
from tests.support.stream import directive, final, manifest, spec, subtask


def _message(kind: MessageType, payload: dict[str, Any], sender: Role | None = None) -> BusMessage:
    path = PATHS[kind]
    when = "2027-01-15T08:00:00.000Z"
    return BusMessage(id="m", seq=1, timestamp=when, sender=sender or path[0], recipient=path[1], type=kind, payload=payload)


def _told(*records: Record) -> str:
    """The text of the last of these messages."""
    teller = Teller()
    return [teller.tell(_message(TYPES[type(one)], msgspec.to_builtins(one))).text for one in records][-1]


@pytest.mark.parametrize(
    ("grad", "shown"),
    [
        (-0.1, "grad=-0.10 Omega=24% ↑"),
        (-0.0999, "grad=-0.10 Omega=24% →"),
        (-0.001, "grad=+0.00 Omega=24% →"),
        (0.0999, "grad=+0.10 Omega=24% →"),
        (0.1 - 1e-12, "grad=+0.10 Omega=24% ↓"),
        (0.216, "grad=+0.22 Omega=24% ↓"),
    ],
)
def test_ctl_261_an_arrow_points_up_when_better_down_when_worse_and_right_without_signal(grad: float, shown: str) -> None:
    assert _told(directive("t1", "change_path", grad=grad)) == f"init→change_path D=0.50 P=0.00 {shown}"
    assert shown in _told(final("t1", "abandon", grad=grad)).replace("Omega=2%", "Omega=24%")


def test_ctl_261_the_arrow_follows_the_numbers_that_were_in_force() -> None:
    said = directive("t1", "change_path", grad=0.2)
    wide = msgspec.structs.replace(said, x=msgspec.structs.replace(said.x, params={"epsilon": 0.3}))

    assert _told(said).endswith("↓")
    assert _told(wide).endswith("→")


def test_ctl_262_an_end_is_a_failure_when_its_directive_says_so_and_only_then() -> None:
    given_up = msgspec.structs.replace(final("t1", "abandon", d=0.0), summary="done, all is well")
    good_enough = msgspec.structs.replace(final("t1", "success", d=0.25), summary="failed: 1 of 4")

    assert "→abandon D=0.00" in _told(given_up)
    assert _told(given_up).endswith("failed: done, all is well")
    assert _told(good_enough).endswith("done: failed: 1 of 4")


@pytest.mark.parametrize("kind", list(MessageType))
def test_ctl_260_every_kind_of_message_has_its_line(kind: MessageType) -> None:
    whole, elsewhere = _message(kind, VALID[kind]), _message(kind, VALID[kind], sender=Role.AGENT_VALIDATOR)
    line = rendered(Teller().tell(whole))

    assert line.startswith("08:00:00  ")
    assert kind.value in line
    assert "refused" not in line
    assert Teller().tell(_message(kind, {"refused": "why"})).text == "refused: it is not of its kind"
    if PATHS[kind][0] is not Role.AGENT_VALIDATOR:
        assert Teller().tell(elsewhere).text == "refused: it may not go there"


def test_ctl_260_a_text_stays_on_its_line_and_moves_no_terminal() -> None:
    wild = msgspec.structs.replace(spec("t1"), intent="count\n\x1b[31mfiles\x07 " + "x" * 300)
    named = msgspec.structs.replace(subtask("t1", "s2"), intent="look\rhere")

    assert _told(wild).startswith("count [31mfiles xxx")
    assert len(_told(wild)) == 100
    assert _told(manifest("t1", "s1", "s2"), named) == "2/2 look here; first: out.txt exists"
