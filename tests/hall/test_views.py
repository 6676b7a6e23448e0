"""What holds for every view: it is accessible, fits its window, can be used by keyboard, and loads little and only from here."""

import pytest
from playwright.sync_api import Page, expect

from tests.hall.views import SCRIPT_BYTES, VIEWS, View
from tests.support.accessible import findings, lost_by_tab
from tests.support.browser import PHONE, overflow
from tests.support.hall import Hall

every_view = pytest.mark.parametrize("view", VIEWS, ids=lambda view: view.name)


def shown(hall: Hall, view: View) -> Page:
    page = hall.open(view.route)
    expect(page.locator(view.shows).first).to_be_visible()
    return page


@every_view
def test_hall_2_a_view_has_no_serious_finding_and_fits_its_window(hall: Hall, page: Page, view: View) -> None:
    shown(hall, view)

    assert findings(page) == []
    assert overflow(page) <= 0
    page.emulate_media(color_scheme="dark")
    assert findings(page, "color-contrast") == []
    page.set_viewport_size({"width": PHONE[0], "height": PHONE[1]})
    assert overflow(page) <= 0


@every_view
def test_hall_2_the_tab_key_reaches_all_of_a_view_and_shows_where_it_is(hall: Hall, page: Page, view: View) -> None:
    shown(hall, view)

    assert lost_by_tab(page) == {"missed": [], "unmarked": []}


@pytest.mark.parametrize("name", ["hall", "graph"])
def test_hall_3_a_view_loads_little_script_and_all_of_it_from_the_owner(hall: Hall, page: Page, name: str) -> None:
    """The lightest and the heaviest; `test_sources.py` adds up the modules of every view."""
    view = next(one for one in VIEWS if one.name == name)
    hall.open(view.route)
    hall.watch.told()
    shown(hall, view)  # at the same address: from the beginning

    scripts = {answer.url: answer for answer in hall.watch.answers if answer.request.resource_type == "script"}
    assert scripts
    assert all(url.startswith(f"{hall.owner.url}/hall/") for url in scripts)
    assert sum(int(answer.headers["content-length"]) for answer in scripts.values()) < SCRIPT_BYTES


def test_hall_2_the_first_tab_leads_past_the_navigation(hall: Hall, page: Page) -> None:
    hall.open("#/")
    page.reload()
    expect(page.locator("main[aria-busy=false]")).to_be_visible()

    page.keyboard.press("Tab")
    expect(page.locator("a.skip")).to_be_focused()
    expect(page.locator("a.skip")).to_be_in_viewport()
    page.keyboard.press("Enter")
    expect(page.locator("main")).to_be_focused()
