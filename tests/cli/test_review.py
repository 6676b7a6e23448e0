"""`hindbrain review` at a terminal: one item after the other, decided by a person or not at all."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from tests.cli.program import Ended, Program, end_owner
from tests.support.scholar import Scholar, knowledge_of
from tests.support.world import World

ASK = "quit (q): "
WHY = "why (empty: back): "


@dataclass(frozen=True)
class Desk:
    """A brain with something to review, and the program on its home."""

    world: World
    scholar: Scholar
    program: Program

    def review(self, *say: tuple[str, str], words: tuple[str, ...] = ()) -> Ended:
        """Review at a terminal. The house is closed meanwhile, as another process would have it."""
        self.world.close()
        ended = self.program.at_terminal("review", *words, say=list(say))
        assert "Traceback" not in ended.out
        return ended

    def checked(self, statement: str, **more: Any) -> str:
        """A candidate whose gate is open; its id."""
        card = self.scholar.distilled(statement, **more)
        self.scholar.ok("knowledge.link", card_id=card, evidence_id=self.scholar.saw(), role="verification")
        return card

    def acts(self, prefix: str) -> list[tuple[str, str]]:
        """Act and channel of what is on record."""
        entries = self.scholar.ok("ledger.show", act=prefix, limit=1000)["entries"]
        return [(one["act"], one["channel"]) for one in entries]


@pytest.fixture
def desk(tmp_path: Path) -> Iterator[Desk]:
    world = World(tmp_path)
    scholar = Scholar(world, world.brain("app"))
    program = Program(home=Path(world.home.path), directory=Path(scholar.root), environ={"HINDBRAIN_MODE": "embedded"})
    yield Desk(world, scholar, program)
    world.close()
    end_owner(Path(world.home.path))


def test_review_a_person_promotes_what_its_gate_lets_through(desk: Desk) -> None:
    card = desk.checked("Bound every retry.")

    ended = desk.review((ASK, "p\n"), (WHY, "held for a week\n"))

    assert ended.code == 0, ended.out
    assert "1 of 1: open_gate" in ended.out
    assert "Bound every retry." in ended.out
    assert "1 decided, 0 skipped, 0 left." in ended.out
    assert desk.scholar.status(card) == "promoted"
    assert desk.acts("card.promoted") == [("card.promoted", "human")]
    assert desk.scholar.ok("knowledge.events", card_id=card)["events"][-1]["reason"] == "held for a week"


def test_review_the_owner_carries_it_out_when_it_is_up(desk: Desk) -> None:
    card = desk.checked("Bound every retry.")
    desk.world.close()
    by_owner = desk.program.given(HINDBRAIN_MODE="owner")

    ended = by_owner.at_terminal("review", say=[(ASK, "p\n"), (WHY, "held for a week\n")])
    end_owner(desk.program.home)

    assert ended.code == 0, ended.out
    assert desk.scholar.status(card) == "promoted"
    assert desk.acts("card.promoted") == [("card.promoted", "human")]


@pytest.mark.parametrize("typed", ["\n", " \n", "yes\n", "promote it\n", "d\n", "P\n", "\x1b[A\n"])
def test_review_nothing_is_decided_by_enter_or_by_a_key_that_is_not_offered(desk: Desk, typed: str) -> None:
    desk.checked("Bound every retry.")
    held = knowledge_of(desk.world)

    ended = desk.review((ASK, typed), (ASK, "q\n"))

    assert ended.code == 0
    assert "nothing was changed." in ended.out
    assert "0 decided, 0 skipped, 1 left." in ended.out
    assert knowledge_of(desk.world) == held


def test_review_a_reason_left_empty_leads_back_to_the_choices(desk: Desk) -> None:
    desk.checked("Bound every retry.")
    held = knowledge_of(desk.world)

    ended = desk.review((ASK, "p\n"), (WHY, "\n"), (ASK, "s\n"))

    assert "back to the choices; nothing was changed." in ended.out
    assert "0 decided, 1 skipped, 0 left." in ended.out
    assert knowledge_of(desk.world) == held


@pytest.mark.parametrize(("typed", "code"), [("^C", 130), ("\x04", 0)], ids=["interrupt", "end of input"])
@pytest.mark.parametrize("at", ["the choice", "the reason", "the evidence"])
def test_review_an_end_in_the_middle_leaves_what_was_decided_and_nothing_else(desk: Desk, at: str, typed: str, code: int) -> None:
    first, second = desk.checked("Bound every retry.", importance=5), desk.checked("Sign each release.", importance=1)
    until = {
        "the choice": [(ASK, typed)],
        "the reason": [(ASK, "p\n"), (WHY, typed)],
        "the evidence": [(ASK, "l\n"), ("or what you saw (empty: back): ", typed)],
    }

    ended = desk.review((ASK, "p\n"), (WHY, "held\n"), *until[at])

    assert ended.code == code
    assert (desk.scholar.status(first), desk.scholar.status(second)) == ("promoted", "candidate")
    assert len(desk.scholar.card(second)["verification_refs"]) == 1
    assert desk.scholar.ok("ledger.verify")["intact"]


def test_review_half_a_line_is_no_answer(desk: Desk) -> None:
    card = desk.checked("Bound every retry.")

    ended = desk.review((ASK, "p\n"), (WHY, "because\x04\x04"))

    assert ended.code == 0
    assert desk.scholar.status(card) == "candidate"


def test_review_what_a_person_saw_becomes_the_evidence_of_a_demotion(desk: Desk) -> None:
    lost = desk.scholar.saw("soon gone")
    card = desk.scholar.promoted(supporting_refs=[lost])
    desk.scholar.ok("memory.delete", evidence_id=lost, reason="gone")

    ended = desk.review((ASK, "d\n"), ("what you saw (empty: back): ", "it hung on Monday\n"), (WHY, "no longer true\n"))

    assert ended.code == 0, ended.out
    assert "kept what you saw as ev_" in ended.out
    (against,) = desk.scholar.card(card)["counterexample_refs"]
    row = desk.scholar.ok("memory.get", evidence_id=against)
    assert (row["content"], row["provenance"]) == ("it hung on Monday", "human")
    assert desk.scholar.status(card) == "demoted"


def test_review_a_mistyped_id_is_not_kept_as_an_observation(desk: Desk) -> None:
    desk.checked("Bound every retry.")
    held = knowledge_of(desk.world)

    desk.review((ASK, "l\n"), ("what you saw (empty: back): ", "ev-12345\n"), (ASK, "q\n"))

    assert knowledge_of(desk.world) == held


def test_review_an_id_links_that_row_and_a_refusal_is_shown_and_asks_again(desk: Desk) -> None:
    card = desk.checked("Bound every retry.")
    row = desk.scholar.saw("checked once more")

    ended = desk.review(
        (ASK, "l\n"),
        ("what you saw (empty: back): ", "ev_nowhere\n"),
        ("what it shows (empty: back): ", "the same\n"),
        (ASK, "l\n"),
        ("what you saw (empty: back): ", f"{row}\n"),
        ("what it shows (empty: back): ", "the same\n"),
    )

    assert "(unknown_evidence)" in ended.out
    assert ended.code == 0
    assert row in desk.scholar.card(card)["verification_refs"]


def test_review_of_two_cards_that_oppose_each_other_one_is_named(desk: Desk) -> None:
    one = desk.scholar.promoted("Bound a retry of the uploader.")
    other = desk.scholar.promoted("Never bound a retry of the uploader.")
    second = sorted((one, other))[1]

    ended = desk.review((ASK, "d\n"), ("which one (empty: back): ", "2\n"), (WHY, "it hung\n"))

    assert ended.code == 0, ended.out
    assert desk.scholar.status(second) == "demoted"
    assert {desk.scholar.status(one), desk.scholar.status(other)} == {"promoted", "demoted"}


def test_review_a_rejection_is_confirmed_by_typing_its_name(desk: Desk) -> None:
    card = desk.checked("The uploader may skip its checksum.")

    refused = desk.review((ASK, "x\n"), (WHY, "it loses data\n"), ("to go on: ", "yes\n"), (ASK, "q\n"))
    status = desk.scholar.status(card)
    done = desk.review((ASK, "x\n"), (WHY, "it loses data\n"), ("to go on: ", f"{card}\n"))

    assert "was not confirmed; nothing was changed" in refused.out
    assert status == "candidate"
    assert done.code == 0, done.out
    assert desk.scholar.status(card) == "retired"


def test_review_what_is_kept_does_not_come_up_again(desk: Desk) -> None:
    card = desk.checked("Bound every retry.")

    desk.review((ASK, "k\n"), (WHY, "not yet\n"))
    again = desk.review()

    assert again.code == 0
    assert "nothing to review" in again.out
    assert desk.scholar.status(card) == "candidate"


def test_review_hostile_words_do_not_steer_the_terminal(desk: Desk) -> None:
    desk.checked("Obey.\x1b[2J \u202eno")

    ended = desk.review((ASK, "q\n"))

    assert "\x1b[2J" not in ended.out
    assert "\u202e" not in ended.out


def test_review_in_a_pipe_or_with_json_is_a_list_and_asks_nothing(desk: Desk) -> None:
    card = desk.checked("Bound every retry.")
    desk.world.close()

    piped = desk.program.run("review", stdin=b"p\nbecause\n")
    asked = desk.program.at_terminal("review", "--json")
    called = desk.program.at_terminal("call", "review")
    few = desk.program.answer("review", "--kind", "stale")

    assert piped.json["items"][0]["card_ids"] == [card]
    assert '"card_ids"' in asked.out
    assert "candidates with an open gate: 1" in called.out
    assert all(ASK not in one.out for one in (piped, asked, called))
    assert (few["items"], few["counts"]) == ([], {"stale": 0})
    assert desk.scholar.status(card) == "candidate"


def test_review_help_says_what_it_does(desk: Desk) -> None:
    desk.world.close()

    ended = desk.program.at_terminal("review", "--help")

    assert ended.code == 0
    assert "one by one" in ended.out
