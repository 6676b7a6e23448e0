"""Fixes: what can be run as it stands is given as a command, for the brain it is about."""

from typing import Any

import pytest

from hindbrain.engines.fixes import command_of
from tests.recovery.test_environment import promoted
from tests.support.world import World


@pytest.mark.parametrize(
    ("fix", "brain", "command"),
    [
        ("hindbrain doctor --fix", "/w/shop", "hindbrain doctor --fix"),
        ("run hindbrain model install", None, "hindbrain model install"),
        ("hindbrain ledger verify", "/w/my shop", "hindbrain ledger verify --root '/w/my shop'"),
        ("hindbrain ledger verify", "medulla", "hindbrain ledger verify --tier medulla"),
        ("hindbrain model install", "medulla", "hindbrain model install"),
        ("hindbrain model embed", "medulla", "hindbrain model embed --tier medulla"),
        ("hindbrain knowledge gate card_1", "medulla", "hindbrain knowledge gate card_1"),
        ("chmod 600 /home/TOKEN", None, "chmod 600 /home/TOKEN"),
        ("if it was moved: hindbrain rebind OLD NEW", "/w/shop", None),
        ("hindbrain migrate plan --target TABLE, edit it, then apply it", "medulla", None),
        ("hindbrain knowledge gate CARD_ID", "/w/shop", None),
        ("check the clock", "/w/shop", None),
        (None, None, None),
    ],
)
def test_rec_a_fix_is_a_command_only_when_it_can_be_run(fix: Any, brain: str | None, command: str | None) -> None:
    assert command_of(fix, brain) == command


def test_rec_a_finding_names_its_brain_and_the_command_that_says_more(world: World) -> None:
    root = world.brain("shop")
    card, refs = promoted(world.at(root))
    world.at(root).call("memory.delete", evidence_id=refs[0])

    (one,) = world.at(root).call("doctor")["warnings"]
    assert (one["brain"], one["command"]) == (root, f"hindbrain knowledge gate {card} --root {root}")
