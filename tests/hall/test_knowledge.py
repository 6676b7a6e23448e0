"""Knowledge in the Hall: the board, one card with what a person may do to it, and the review queue."""

import re

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.support.hall import Hall

CARD = "#/b/{harbor-shop}/knowledge/"


def cell(page: Page, rank: str, status: str) -> Locator:
    return page.locator(f"[data-cell='{rank}/{status}']")


def tile(page: Page, statement: str) -> Locator:
    return page.locator(".tile").filter(has=page.get_by_role("link", name=statement, exact=True))


def reload_free(page: Page) -> None:
    """Leave a mark that a new document would not have."""
    page.evaluate("window.stayed = true")


def stayed(page: Page) -> bool:
    return bool(page.evaluate("window.stayed === true"))


def act(page: Page, name: str) -> Locator:
    """Open the dialog of an act."""
    page.get_by_role("group", name="What you may do").get_by_role("button", name=name, exact=True).click()
    return page.get_by_role("dialog")


def confirm(dialog: Locator, verb: str) -> None:
    dialog.get_by_role("button", name=verb, exact=True).click()
    expect(dialog).to_have_count(0)


def candidate(hall: Hall, statement: str) -> str:
    """A card of a test's own, with an open gate."""
    told = {"content": "Somebody asked who packed it.", "tier": "qi", "supporting_refs": [hall.ids["seen-sign"]]}
    card: str = hall.call("knowledge.distill", root="harbor-shop", statement=statement, **told)["card_id"]
    checked = {"evidence_id": hall.ids["seen-sign-check"], "role": "verification"}
    assert hall.call("knowledge.link", root="harbor-shop", card_id=card, **checked)["ok"]
    return card


def test_hall_1_the_board_has_a_row_for_each_rank_and_a_column_for_each_status(hall: Hall, page: Page) -> None:
    hall.open("#/b/{harbor-shop}/knowledge")

    expect(page.locator(".lane h2")).to_have_text(["dao_tian", "dao_ren", "shu", "qi"])
    listed = hall.call("knowledge.list", root="harbor-shop", limit=1000)
    for rank, counts in listed["counts"].items():
        for status, size in counts.items():
            expect(cell(page, rank, status).locator(".tile")).to_have_count(size)
    law = tile(page, "A message may arrive twice or never; only its effect can be made to happen once.")
    expect(law).to_contain_text("3 supporting")
    expect(law).to_contain_text("medulla")
    expect(tile(page, "End the old version before the traffic moves to the new one.")).to_contain_text("gate lacks 2")
    expect(tile(page, "Sign each image.")).to_contain_text("gate open")


def test_hall_1_cards_are_found_by_words_and_by_field_and_the_address_keeps_both(hall: Hall, page: Page) -> None:
    hall.open("#/b/{harbor-shop}/knowledge")

    page.get_by_role("searchbox", name="Find cards by their words").fill("retry bound")
    expect(page.locator(".tile")).to_have_count(2)
    page.get_by_role("combobox", name="Field", exact=True).select_option("queue")
    expect(page).to_have_url(re.compile(r"q=retry\+bound&field=queue"))
    page.reload()
    expect(page.locator(".tile")).to_have_count(2)
    page.get_by_role("searchbox", name="Find cards by their words").fill("nothing says this")
    expect(page.get_by_text("No card is like this")).to_be_visible()


def test_hall_1_a_card_shows_its_evidence_by_role_its_gate_and_its_history(hall: Hall, page: Page) -> None:
    hall.open(CARD + "{card-dao-tian}")

    for role, size in {"supporting": 3, "verification": 2, "teaching": 1}.items():
        expect(page.locator(f"[data-role={role}] .piece")).to_have_count(size)
    expect(page.locator("[data-role=teaching]")).to_contain_text("assume that every message arrives twice")
    expect(page.get_by_role("link", name=hall.ids["taught"])).to_have_attribute(
        "href", hall.route("#/b/{harbor-shop}/evidence/{taught}")
    )
    expect(page.locator(".timeline li")).to_have_count(2)
    expect(page.locator(".timeline")).to_contain_text("it held in every field we looked at")
    expect(page.get_by_text("Where it holds:")).to_be_visible()

    hall.open(CARD + "{card-shortfall}")
    expect(page.locator(".gate .lacking")).to_have_count(2)
    expect(page.locator(".gate")).to_contain_text("supporting evidence: 1 of 2 that it needs")


def test_hall_1_a_closed_gate_says_what_is_missing_and_changes_nothing(hall: Hall, page: Page) -> None:
    hall.open(CARD + "{card-shortfall}")
    dialog = act(page, "Promote")
    expect(dialog.locator(".gate-state")).to_contain_text("closed")
    dialog.get_by_label("Another row, or what you saw").fill(hall.ids["seen-jitter"])
    dialog.get_by_label("Why", exact=True).fill("it sounds right")

    hall.watch.expect(r"status of 409")
    dialog.get_by_role("button", name="Promote", exact=True).click()

    expect(dialog.get_by_role("alert")).to_contain_text("It lacks 1 more supporting evidence (it has 1 of 2).")
    dialog.get_by_role("button", name="Cancel").click()
    assert hall.call("knowledge.get", root="harbor-shop", card_id=hall.ids["card-shortfall"])["status"] == "candidate"


def test_hall_4_words_that_change_while_a_person_decides_are_not_promoted(hall: Hall, page: Page) -> None:
    card = {"root": "harbor-shop", "card_id": candidate(hall, "Trust no crate.")}
    hall.open(CARD + card["card_id"])
    dialog = act(page, "Promote")
    dialog.get_by_label("Why", exact=True).fill("it is what I read")
    assert hall.call("knowledge.edit", **card, statement="Trust each crate.")["ok"]

    dialog.get_by_role("button", name="Promote", exact=True).click()

    expect(dialog.get_by_role("alert")).to_contain_text("What it says was changed while you decided.")
    dialog.get_by_role("button", name="Cancel").click()
    assert hall.call("knowledge.get", **card)["status"] == "candidate"


def test_hall_1_a_card_that_a_person_promotes_is_in_the_context_of_another_terminal(hall: Hall, page: Page) -> None:
    agent = hall.terminal("harbor-shop", HINDBRAIN_AGENT_ID="codex:agent")
    card = candidate(hall, "Seal each crate.")
    assert "Seal each crate." not in agent.run("context", "seal the crate", "--no-json").out
    hall.open(CARD + card)
    reload_free(page)

    dialog = act(page, "Promote")
    expect(dialog.locator(".gate-state")).to_contain_text("open")
    expect(dialog.get_by_role("checkbox", checked=True)).to_have_count(1)
    dialog.get_by_label("Why", exact=True).fill("nobody could tell who built it")
    confirm(dialog, "Promote")

    expect(page.locator(".card-view")).to_have_attribute("data-status", "promoted")
    expect(page.locator(".timeline li").first).to_contain_text("nobody could tell who built it")
    expect(page.locator(".timeline li").first).to_contain_text("a person")
    assert "Seal each crate." in agent.run("context", "seal the crate", "--no-json").out
    page.get_by_role("link", name="← Board").click()
    expect(cell(page, "qi", "promoted")).to_contain_text("Seal each crate.")
    assert stayed(page)


def test_hall_1_the_board_follows_what_another_process_does(hall: Hall, page: Page) -> None:
    hall.open("#/b/{harbor-shop}/knowledge")
    reload_free(page)
    statement = "Copy a live SQLite file with .backup."
    expect(cell(page, "qi", "promoted")).to_contain_text(statement)
    tile(page, statement).get_by_role("link").focus()

    demoted = hall.terminal("harbor-shop").answer(
        *("knowledge", "demote", hall.ids["card-backup"], "--status", "demoted", "--evidence-refs", hall.ids["seen-wal-copy"]),
        *("--reason", "a copy lacked orders", "--reason-type", "contradicted"),
    )

    assert demoted["ok"], demoted
    expect(cell(page, "qi", "demoted")).to_contain_text(statement)
    expect(tile(page, statement).get_by_role("link")).to_be_focused()
    assert stayed(page)


def test_hall_1_a_person_demotes_on_what_was_seen_and_links_and_unlinks_evidence(hall: Hall, page: Page) -> None:
    hall.open(CARD + "{card-qi}")
    dialog = act(page, "Link evidence")
    dialog.get_by_label("Which row, or what you saw").fill("The provider dropped the header on a Sunday.")
    dialog.get_by_label("As", exact=True).select_option("verification")
    confirm(dialog, "Link")
    expect(page.locator("[data-role=verification] .piece")).to_have_count(2)

    added = page.locator("[data-role=verification] .piece").filter(has_text="on a Sunday")
    added.get_by_role("button", name=re.compile("Cite .* no longer")).click()
    dialog = page.get_by_role("dialog")
    dialog.get_by_label("Why", exact=True).fill("it speaks against it")
    confirm(dialog, "Unlink")
    expect(page.locator("[data-role=verification] .piece")).to_have_count(1)

    dialog = act(page, "Demote")
    dialog.get_by_label("Another row, or what you saw").fill("A charge with the header happened twice.")
    dialog.get_by_label("Why", exact=True).fill("it happened twice")
    confirm(dialog, "Demote")

    expect(page.locator(".card-view")).to_have_attribute("data-status", "demoted")
    expect(page.locator("[data-role=counterexample]")).to_contain_text("A charge with the header happened twice.")
    expect(page.get_by_role("button", name="Promote", exact=True)).to_be_visible()


def test_hall_1_a_card_is_published_outward(hall: Hall, page: Page) -> None:
    hall.open(CARD + "{card-dao-ren}")
    dialog = act(page, "Publish to global")
    dialog.get_by_label("Why", exact=True).fill("it holds for every project")
    dialog.get_by_label("Make it everybody’s").check()
    confirm(dialog, "Publish")

    expect(page.locator(".facts")).to_contain_text("the medulla")
    hall.open("#/b/medulla/knowledge")
    expect(cell(page, "dao_ren", "promoted").locator(".tile")).to_have_count(1)
    page.get_by_role("link", name="What may run twice is written so that the second run changes nothing.").click()
    dialog = act(page, "Add a remark")
    dialog.get_by_label("Remark").fill("seen in the medulla")
    confirm(dialog, "Add")
    expect(page.locator(".timeline li").first).to_contain_text("seen in the medulla")


def test_hall_1_what_a_person_rejects_stays_away_and_what_is_forgotten_is_gone(hall: Hall, page: Page) -> None:
    statement = "Give every act that costs money a key of its own before the first try."
    hall.open(CARD + "{card-shu}")
    dialog = act(page, "Reject")
    dialog.get_by_label("Why it must not come back").fill("keys are given by the provider")
    expect(dialog.get_by_role("button", name="Reject", exact=True)).to_be_disabled()
    dialog.get_by_label("To confirm, type reject").fill("reject")
    confirm(dialog, "Reject")

    expect(page.locator(".card-view")).to_have_attribute("data-status", "retired")
    again = {"content": "Another reason.", "tier": "shu", "supporting_refs": [hall.ids["seen-key-once"]]}
    refused = hall.call("knowledge.distill", root="harbor-shop", statement=statement, **again)
    assert refused["error"]["code"] == "rejected_value"

    hall.open(CARD + "{card-retired}")
    hall.watch.expect(r"status of 404 .*/op/knowledge")  # the page may hear that it is gone before its act is answered
    dialog = act(page, "Forget")
    dialog.get_by_label("To confirm, type forget").fill("forget")
    confirm(dialog, "Forget")
    expect(page.get_by_role("heading", name="Knowledge", level=1)).to_be_visible()
    expect(tile(page, "Stop the shop before copying its database.")).to_have_count(0)
    gone = hall.call("knowledge.get", root="harbor-shop", card_id=hall.ids["card-retired"])
    assert gone["error"]["code"] == "unknown_card"


def test_hall_1_the_review_queue_is_decided_by_keyboard(hall: Hall, page: Page) -> None:
    hall.open("#/b/{harbor-shop}/knowledge")
    expect(tile(page, "Bound every retry of the worker.")).to_contain_text("contradicted")
    hall.open("#/b/{harbor-shop}/review")
    item = page.locator("[data-kind=contradiction] .item")
    expect(item).to_have_count(1)
    expect(item.locator(".side-of")).to_have_count(2)
    second = item.locator(".side-of").nth(1)
    second.get_by_role("button", name="Reject").click()
    expect(page.get_by_role("dialog").locator(".says")).to_have_text([second.locator(".statement").inner_text()])
    page.keyboard.press("Escape")
    hall.open("#/b/{harbor-shop}/review")

    for _ in range(hall.call("review", root="harbor-shop")["counts"]["returned"] + 1):
        page.keyboard.press("j")
    expect(item.get_by_role("link").first).to_be_focused()
    page.keyboard.press("e")
    dialog = page.get_by_role("dialog", name="Keep as it is")
    dialog.get_by_label("Why").fill("they speak of different workers")
    confirm(dialog, "Keep as it is")

    expect(item).to_have_count(0)
    kinds = [one["kind"] for one in hall.call("review", root="harbor-shop")["items"]]
    assert "contradiction" not in kinds


@pytest.mark.req("CONF-01")
def test_hall_1_an_act_goes_to_the_brain_that_is_looked_at(hall: Hall, page: Page) -> None:
    hall.open("#/b/{tide-client}/review")  # after acts in another repository, in the same page
    item = page.locator("[data-kind=stale] .item")
    expect(item).to_contain_text("Intl writes the sign of a currency where the locale wants it.")
    item.get_by_role("button", name="Retire").click()
    dialog = page.get_by_role("dialog", name="Retire")
    for label in dialog.get_by_role("textbox").all():
        label.fill("A Belgian browser shows it before the price.")
    confirm(dialog, "Retire")

    expect(item).to_have_count(0)
    told = hall.call("knowledge.get", root="tide-client", card_id=hall.ids["tide-card-stale"])
    assert (told["status"], told["brain"]) == ("retired", str(hall.world.roots["tide-client"]))
