"""What a newcomer meets in the Hall: words instead of names of the program, nothing said twice, nothing cut off."""

import re

from playwright.sync_api import Locator, Page, expect

from tests.support.hall import Hall

LINE = 30  # pixels that one line of text takes at most


def lines(found: Locator) -> list[float]:
    """How tall each of these texts stands on the page: measured at once, for the page may draw them anew."""
    heights: list[float] = found.evaluate_all("all => all.map(one => one.getBoundingClientRect().height)")
    return heights


def test_hall_the_totals_stand_on_one_line_each(hall: Hall, page: Page) -> None:
    hall.open("#/")

    expect(page.locator(".total")).to_have_count(7)
    assert max(lines(page.locator(".total span"))) < LINE


def test_hall_a_version_tells_why_it_ended(hall: Hall, page: Page) -> None:
    hall.open("#/b/{harbor-shop}/memory/{revised-claim}")

    ended = page.locator(".versions li").filter(has_text="ended")
    expect(ended).to_have_count(2)
    expect(ended.first).to_contain_text("replaced by a newer version")
    expect(page.locator(".versions")).not_to_contain_text("claim.memorize")


def test_hall_evidence_says_nothing_twice(hall: Hall, page: Page) -> None:
    hall.open("#/b/{harbor-shop}/evidence")

    card = page.locator(f'[data-id="{hall.ids["log"]}"]')
    head, body = card.locator("h3").inner_text(), card.locator(".clamp").inner_text()
    assert head.startswith("2026-")
    assert "worker started" in head
    assert "worker started" not in body
    assert body


def test_hall_a_card_has_no_number_of_the_store(hall: Hall, page: Page) -> None:
    hall.open("#/b/{harbor-shop}/knowledge/{card-open-gate}")

    expect(page.get_by_text("Importance")).to_be_visible()
    expect(page.locator("dt").get_by_text("Version", exact=True)).to_have_count(0)


def test_hall_the_buttons_of_a_long_dialog_are_always_in_sight(hall: Hall, page: Page) -> None:
    page.set_viewport_size({"width": 1280, "height": 600})
    hall.open("#/b/{harbor-shop}/knowledge/{card-shortfall}")
    page.get_by_role("button", name="Promote", exact=True).click()

    expect(page.get_by_role("dialog").get_by_role("button", name="Promote", exact=True)).to_be_in_viewport(ratio=1)
    page.keyboard.press("Escape")
    page.set_viewport_size({"width": 1280, "height": 800})


def test_hall_moments_of_the_bus_stand_on_one_line(hall: Hall, page: Page) -> None:
    hall.open("#/b/{harbor-shop}/cowork")
    page.get_by_role("tab", name="Events").click()

    expect(page.locator(".feed li").first).to_be_visible()
    assert max(lines(page.locator(".feed li time"))) < LINE


def test_hall_the_mark_of_today_stands_above_the_curves(hall: Hall, page: Page) -> None:
    hall.open("#/b/{harbor-shop}/experience")

    expect(page.locator(".chart text").filter(has_text=re.compile("^today$"))).to_be_visible()
    below, grid = page.locator(".chart").evaluate(
        """chart => [
          [...chart.querySelectorAll('text')].find(one => one.textContent === 'today').getBoundingClientRect().bottom,
          [...chart.querySelectorAll('.grid')].map(one => one.getBoundingClientRect().top)]"""
    )
    assert below <= min(grid) + 3


def test_hall_the_ledger_tells_who_spoke_to_whom(hall: Hall, page: Page) -> None:
    hall.open("#/b/{harbor-shop}/ledger?act=control.message")

    expect(page.locator(".entry-told").first).to_have_text(re.compile(r"^\w+ to \w+, in a task: [a-z ]+$"))


def test_hall_ranks_and_beats_are_told_in_words(hall: Hall, page: Page) -> None:
    hall.open("#/")

    shop = page.locator(".brain").filter(has=page.get_by_role("link", name="harbor-shop"))
    expect(shop.locator(".rank-names")).to_contain_text("laws of a field")
    expect(shop.get_by_title("what memory tells an agent that begins a task")).to_have_text("beat")


def test_hall_a_mission_leads_back_to_all_missions(hall: Hall, page: Page) -> None:
    hall.open("#/b/{harbor-shop}/missions/{mission-closed}")
    page.get_by_role("link", name="← Missions").click()

    expect(page.get_by_role("heading", level=1)).to_have_text("Missions")


def test_hall_an_act_on_a_claim_quotes_what_it_is_about(hall: Hall, page: Page) -> None:
    hall.open("#/b/{harbor-shop}/memory/{revised-claim}")
    page.get_by_role("button", name="Grade as correct").click()

    expect(page.get_by_role("dialog").locator("blockquote")).to_have_text(
        re.compile("^Retry policy: A failed payment is tried four times")
    )
    page.keyboard.press("Escape")


def test_hall_what_was_done_to_a_card_is_told_by_its_words(hall: Hall, page: Page) -> None:
    hall.open("#/b/{harbor-shop}/knowledge/{card-open-gate}")
    page.get_by_role("button", name="Promote", exact=True).click()
    asked = page.get_by_role("dialog", name="Promote this card")
    asked.get_by_label("Why").fill("The signed image named its builder.")
    asked.get_by_role("button", name="Promote", exact=True).click()

    expect(page.locator(".toast")).to_have_text("“Sign each image.”: candidate → promoted.")


def test_hall_letters_have_no_names_of_the_wire(hall: Hall, page: Page) -> None:
    hall.open("#/mail/{letter-open}")
    expect(page.locator(".letter-whole")).to_contain_text("wrong store write")

    hall.open("#/mail")
    expect(page.locator(".letter").first).to_be_visible()
    assert not [words for words in page.locator(".letter .badge").all_inner_texts() if "_" in words]


def test_hall_a_task_leads_back_to_all_tasks(hall: Hall, page: Page) -> None:
    hall.open("#/b/{harbor-shop}/missions/task/{task-steered}")
    page.get_by_role("link", name="← Tasks").click()

    expect(page.get_by_role("tab", name="Tasks")).to_have_attribute("aria-selected", "true")
