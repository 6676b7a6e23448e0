"""Mail in the Hall: letters with their fates and threads, answered by a person."""

import re

from playwright.sync_api import Page, expect

from tests.support.hall import Hall, settled


def fates(hall: Hall) -> dict[str, str]:
    """What `inbox-sweep` says at a terminal, by letter."""
    return {one["id"]: one["state"] for one in hall.terminal("harbor-shop").answer("inbox-sweep")["letters"]}


def test_hall_1_letters_are_shown_by_box_and_fate(hall: Hall, page: Page) -> None:
    swept = hall.call("inbox_sweep", limit=1000)
    hall.open("#/mail")

    expect(page.locator(".letter")).to_have_count(swept["total"])
    page.get_by_role("button", name=f"Answered {swept['counts']['in_flight']}", exact=True).click()
    expect(page.locator(".letter")).to_have_count(swept["counts"]["in_flight"])
    page.get_by_role("button", name=re.compile("^All")).click()
    page.get_by_role("button", name="tide-client", exact=True).click()
    here = [one for one in swept["letters"] if (one["box"] or "").endswith("/tide-client")]
    expect(page.locator(".letter")).to_have_count(len(here))
    expect(page).to_have_url(re.compile("box="))
    page.reload()
    settled(page)
    expect(page.locator(".letter")).to_have_count(len(here))


def test_hall_1_letters_are_found_by_their_words(hall: Hall, page: Page) -> None:
    hall.open("#/mail")
    page.keyboard.press("/")
    page.keyboard.type("renamed impact")

    expect(page.locator(".letter")).to_have_count(1)
    page.keyboard.press("Tab")
    page.locator(".letter a").click()
    page.wait_for_url(re.compile(hall.ids["letter-bug"]))
    expect(page.locator(".thread li")).to_have_count(2)
    expect(page.locator(".fate li.done")).to_have_count(2)


def test_hall_1_a_letter_is_answered_and_another_terminal_sees_its_fate(hall: Hall, page: Page) -> None:
    letter = hall.ids["letter-open"]
    assert fates(hall)[letter] == "wet_ink"
    hall.open("#/mail/{letter-open}")

    page.get_by_role("button", name="Answer", exact=True).click()
    page.get_by_label("Your answer").fill("I look at it.")
    page.get_by_role("button", name="Send it").click()
    expect(page.locator(".fate li.done")).to_have_count(2)
    assert fates(hall)[letter] == "in_flight"

    page.get_by_role("button", name="Answer and close").click()
    page.get_by_role("button", name="Close it").click()
    assert fates(hall)[letter] == "in_flight"  # nothing was said, so nothing is closed
    page.get_by_label("What was done about it").fill("The claim was moved to its own brain.")
    page.get_by_role("button", name="Close it").click()
    expect(page.locator(".fate li.done")).to_have_count(3)
    expect(page.locator(".letter-whole")).to_contain_text("Closed")
    assert fates(hall)[letter] == "fired_clay"


def test_hall_a_letter_is_written_by_a_person(hall: Hall, page: Page) -> None:
    before = hall.call("inbox_sweep", limit=1000)["total"]
    hall.open("#/mail")
    page.get_by_role("button", name="Write a letter").click()
    page.get_by_label("About").select_option(label="tide-client")
    page.get_by_label("What happened").fill("The list of sessions is empty on Mondays.")
    page.get_by_role("button", name="Write it").click()

    expect(page.locator(".letter")).to_have_count(before + 1)
    found = next(one for one in hall.call("inbox_sweep", limit=1000)["letters"] if "Mondays" in one["what"])
    assert found["agent"] == "hall:person"
    assert found["box"].endswith("/tide-client")


def test_hall_a_letter_of_another_process_comes_by_itself(hall: Hall, page: Page) -> None:
    hall.open("#/mail")

    assert hall.terminal("harbor-shop").answer("report", "friction", "The terminal writes this one.")["ok"]

    expect(page.get_by_role("link", name="The terminal writes this one.")).to_be_visible()


def test_hall_a_letter_that_is_not_there_is_said_to_be_missing(hall: Hall, page: Page) -> None:
    hall.open("#/mail/000000000000")

    expect(page.get_by_text("This letter is not here")).to_be_visible()
