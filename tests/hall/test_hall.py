"""The Hall itself: a card for each brain, and what stands around every view."""

import re
from pathlib import Path

from playwright.sync_api import Browser, Locator, Page, Route, expect

from hindbrain.surfaces.demo.world import World
from tests.support.hall import Hall, opened, settled
from tests.support.owner import Starter


def brain(page: Page, name: str) -> Locator:
    return page.locator(".brain").filter(has=page.get_by_role("link", name=name, exact=True))


def number(page: Page, name: str, what: str) -> Locator:
    """A number on the card of a brain."""
    return brain(page, name).locator(".numbers div").filter(has_text=what).locator("b")


def claims(hall: Hall, name: str = "harbor-shop") -> int:
    """How many claims a brain has. A page that is open may not have heard yet what the last test did."""
    return next(int(one["claims"]) for one in hall.call("overview")["brains"] if one["display_name"] == name)


def quay(directory: Path) -> World:
    """A world for a test that needs an owner of its own: one repository, not yet known."""
    (directory / "quay").mkdir()
    return World(directory=directory, home=directory / "home", roots={"quay": directory / "quay"}, ids={})


def test_hall_1_every_brain_has_a_card_with_what_it_holds(hall: Hall, page: Page) -> None:
    hall.open("#/")
    told = {one["display_name"]: one for one in hall.call("overview")["brains"]}

    assert {"harbor-shop", "tide-client", "medulla"} <= told.keys()
    for name, one in told.items():
        expect(number(page, name, "claim")).to_have_text(f"{one['claims']:,}")
        expect(number(page, name, "evidence")).to_have_text(f"{one['evidence']:,}")
    shop = brain(page, "harbor-shop")
    expect(shop).to_contain_text("open letter")
    expect(shop).to_contain_text("open mission")
    expect(shop).to_contain_text("last beat")
    expect(shop.get_by_role("img", name=re.compile("cards by rank: .*shu"))).to_be_visible()
    expect(page.get_by_role("heading", name="Across all brains")).to_be_visible()


def test_hall_1_a_cold_brain_is_listed_and_stays_cold(browser: Browser, tmp_path: Path, starter: Starter) -> None:
    world = quay(tmp_path)
    first = starter(world.home)
    assert first.call("init", root=world.roots["quay"], path=str(world.roots["quay"]))["ok"]
    first.kill()
    with opened(browser, world) as hall:
        expect(brain(hall.page, "quay")).to_contain_text("dormant")

        states = {one["display_name"]: one["state"] for one in hall.call("overview")["brains"]}
        assert states["quay"] == "dormant"
        assert hall.watch.told() == []


def test_hall_a_claim_of_another_process_changes_the_card_at_once(hall: Hall, page: Page) -> None:
    hall.open("#/")
    before = claims(hall)

    assert hall.terminal("harbor-shop").answer("memorize", "Tides", "The tide turns at six.")["ok"]

    expect(number(page, "harbor-shop", "claim")).to_have_text(str(before + 1))


def test_hall_the_palette_finds_views_and_claims(hall: Hall, page: Page) -> None:
    hall.open("#/b/{harbor-shop}/ledger")
    page.keyboard.press("Control+k")
    find = page.get_by_role("combobox", name="Search or go to")
    find.fill("idempotent")
    page.get_by_role("option", name=re.compile("Idempotent charges")).wait_for()
    while page.locator("[role=option][aria-selected=true]").filter(has_text="Idempotent charges").count() == 0:
        page.keyboard.press("ArrowDown")
    page.keyboard.press("Enter")
    page.wait_for_url(re.compile("/memory/idempotent-charges"))
    settled(page)

    page.keyboard.press("Control+k")
    find.fill("tide experience")
    page.keyboard.press("Enter")

    page.wait_for_url(re.compile(f"/b/{hall.ids['tide-client']}/experience"))
    expect(page.get_by_role("dialog")).to_have_count(0)


def test_hall_everything_is_reached_by_keys(hall: Hall, page: Page) -> None:
    hall.open("#/")
    for keys, place in (("gd", "#/doctor"), ("gk", "/knowledge"), ("gh", "#/")):
        page.keyboard.type(keys)
        page.wait_for_url(re.compile(f"{re.escape(place)}$"))
        settled(page)
    page.keyboard.press("j")
    page.keyboard.press("j")
    expect(page.locator(".brain:focus-within")).to_have_count(1)
    page.keyboard.press("?")
    expect(page.get_by_role("dialog", name="Keys")).to_be_visible()
    page.keyboard.press("Escape")
    expect(page.get_by_role("dialog")).to_have_count(0)


def test_hall_colours_are_chosen_and_kept(hall: Hall, page: Page) -> None:
    hall.open("#/")
    ground = "getComputedStyle(document.documentElement).backgroundColor"
    light = page.evaluate(ground)
    chosen = page.get_by_role("button", name="Colours: auto")

    chosen.click()
    page.get_by_role("button", name="Colours: light").click()

    dark = page.evaluate(ground)
    page.reload()
    settled(page)
    assert (page.evaluate(ground), dark != light) == (dark, True)
    page.get_by_role("button", name="Colours: dark").click()
    assert page.evaluate(ground) == light


def test_hall_an_address_that_leads_nowhere_says_so(hall: Hall, page: Page) -> None:
    for route in ("#/nowhere", "#/b/0000/memory", "#/b/{harbor-shop}/nothing", "#/%zz/%"):
        hall.open(route)
        expect(page.get_by_role("heading", name="Nothing is here")).to_be_visible()


def test_hall_a_browser_without_a_key_is_told_the_way(hall: Hall, page: Page) -> None:
    stranger = hall.context.new_page()
    try:
        stranger.goto(f"{hall.owner.url}/#/doctor")
        expect(stranger.get_by_role("heading", name="The Hall is closed")).to_be_visible()
        expect(stranger.get_by_text("hindbrain hall")).to_be_visible()
    finally:
        stranger.close()


def test_hall_the_totals_are_those_of_the_overview(hall: Hall, page: Page) -> None:
    hall.call("cowork.register", root="harbor-shop", agent_id="pilot", tool="codex")  # nobody stays present for long
    totals = hall.call("overview")["totals"]
    hall.open("#/")

    assert totals["agents_online"]
    shown = page.locator(".total").filter(has_text="agents present").locator("b")
    expect(shown).to_have_text(str(totals["agents_online"]))


def test_hall_what_the_medulla_has_not_is_told_in_words(hall: Hall, page: Page) -> None:
    for view in ("missions", "experience", "graph", "cowork"):
        hall.open(f"#/b/medulla/{view}")
        expect(page.locator("main .empty")).to_contain_text("medulla")


def test_hall_a_brain_of_nobody_is_not_shown_as_another(hall: Hall, page: Page) -> None:
    stranger = hall.world.home / "brains" / "feedfacefeedface"
    stranger.mkdir()
    stranger.joinpath("manifest.json").write_text("{")
    try:
        hall.open("#/")
        page.reload()
        settled(page)
        broken = next(one for one in hall.call("overview")["brains"] if one["kind"] == "project" and one["root"] is None)
        hall.open(f"#/b/{broken['id']}/memory")
        expect(page.get_by_text("This brain cannot be read")).to_be_visible()
        expect(page.locator(".memory-card")).to_have_count(0)
    finally:
        stranger.joinpath("manifest.json").unlink()
        stranger.rmdir()


def test_hall_seven_pages_are_open_at_once_and_all_hear(hall: Hall, page: Page) -> None:
    pages = [hall.context.new_page() for _ in range(6)]
    try:
        for one in pages:
            hall.open("#/", page=one)
        before = claims(hall)
        assert hall.terminal("harbor-shop").answer("memorize", "Seven pages", "Seven pages hear of it.")["ok"]
        expect(number(pages[-1], "harbor-shop", "claim")).to_have_text(str(before + 1))
    finally:
        for one in pages:
            one.close()


def test_hall_the_menu_and_the_focus_stay_while_others_write(hall: Hall, page: Page) -> None:
    hall.open("#/")
    page.set_viewport_size({"width": 390, "height": 844})
    page.get_by_role("button", name="Views").click()
    page.get_by_role("link", name="Doctor").focus()
    before = claims(hall)

    assert hall.call("report", root="harbor-shop", **{"class": "friction", "what": "the menu closed under my hand"})["ok"]
    assert hall.terminal("harbor-shop").answer("memorize", "Menu", "The menu stays open.")["ok"]

    expect(number(page, "harbor-shop", "claim")).to_have_text(str(before + 1))
    expect(page.get_by_role("link", name="Doctor")).to_be_focused()


def test_hall_a_card_keeps_the_focus_while_it_changes(hall: Hall, page: Page) -> None:
    hall.open("#/")
    link = page.get_by_role("link", name="harbor-shop", exact=True)
    link.focus()
    before = claims(hall)

    assert hall.terminal("harbor-shop").answer("memorize", "Focus", "The focus stays on the card.")["ok"]

    expect(number(page, "harbor-shop", "claim")).to_have_text(str(before + 1))
    expect(link).to_be_focused()


def test_hall_times_stay_true_while_they_are_shown(hall: Hall, page: Page) -> None:
    hall.call("memorize", root="harbor-shop", node_label="Hours", text="The shop opens at eight.")
    other = hall.context.new_page()
    try:
        other.clock.install()
        hall.open("#/", page=other)
        told = brain(other, "harbor-shop").locator("time").last
        expect(told).to_have_text(re.compile("now|second|minute"))
        other.clock.fast_forward("03:00:00")
        expect(told).to_have_text(re.compile("3 hours ago"))
    finally:
        other.close()


def test_hall_a_key_is_renewed_before_it_ends_however_late_the_page_was_loaded(hall: Hall, page: Page) -> None:
    other = hall.context.new_page()
    try:
        other.clock.install()
        other.clock.fast_forward("07:00:00")
        with other.expect_response("**/api/hall/key"):
            hall.open("#/", page=other)
    finally:
        other.close()


def test_hall_what_somebody_writes_outlives_the_visit(browser: Browser, tmp_path: Path) -> None:
    """The visit ends while a letter is written. It is sent once a person has opened the Hall again in this browser."""
    words = "Written while the visit ended."
    with opened(browser, quay(tmp_path)) as hall:
        page, other = hall.page, hall.context.new_page()
        assert hall.call("init", root="quay", path=str(hall.world.roots["quay"]))["ok"]
        hall.open("#/mail")
        page.get_by_role("button", name="Write a letter").click()
        page.get_by_label("What happened").fill(words)
        hall.watch.expect("status of 401")
        hall.call("test.later", hours=13)
        page.get_by_role("button", name="Write it").click()
        expect(page.get_by_role("dialog").get_by_role("alert")).to_be_visible()
        expect(page.get_by_label("What happened")).to_have_value(words)
        hall.enter(other)
        page.get_by_role("button", name="Write it").click()
        expect(page.get_by_role("dialog")).to_have_count(0)
        expect(page.get_by_role("link", name=words)).to_be_visible()


def test_hall_what_keeps_coming_is_answered_one_call_at_a_time(hall: Hall, page: Page) -> None:
    """Changes that never pause must not keep the page from reading, nor make it read twice at once."""
    hall.open("#/")
    told = page.evaluate(
        """async () => {
          const { steady } = await import('/hall/js/ui.js');
          const seen = { runs: 0, now: 0, most: 0, kinds: [] };
          const heard = steady(20, async (event) => {
            seen.runs += 1;
            seen.kinds.push(event.event);
            seen.most = Math.max(seen.most, (seen.now += 1));
            await new Promise((go) => setTimeout(go, 30));
            seen.now -= 1;
          });
          const end = performance.now() + 600;
          heard({ event: 'reset' });
          while (performance.now() < end) {
            heard({ event: 'graph_changed' });
            await new Promise((go) => setTimeout(go, 5));
          }
          return seen;
        }"""
    )

    assert told["most"] == 1
    assert 2 <= told["runs"] <= 20
    assert told["kinds"][0] == "reset"


def test_hall_what_changes_before_the_page_hears_is_shown(hall: Hall, page: Page) -> None:
    held: list[Route] = []
    hall.open("#/")
    page.route("**/api/events", lambda route: held.append(route))
    try:
        page.reload()
        settled(page)
        before = claims(hall)
        hall.call("memorize", root="harbor-shop", node_label="Fog", text="Nobody hears in it.")
        expect(number(page, "harbor-shop", "claim")).to_have_text(str(before))
        held.pop().continue_()
        expect(number(page, "harbor-shop", "claim")).to_have_text(str(before + 1))
    finally:
        page.unroute("**/api/events")


def test_hall_an_old_answer_never_comes_over_a_newer_one(hall: Hall, page: Page) -> None:
    hall.open("#/")
    told = page.evaluate(
        """async () => {
          const { inTurn } = await import('/hall/js/ui.js');
          const seen = [];
          let asked = 0;
          const read = inTurn(async () => {
            const turn = (asked += 1);
            await new Promise((go) => setTimeout(go, turn === 1 ? 60 : 1));
            seen.push(turn);
          });
          const first = read();
          await Promise.all([first, read(), read()]);
          await read();
          return seen;
        }"""
    )

    assert told == [1, 2, 3]


def test_hall_going_back_leads_to_where_one_was(hall: Hall, page: Page) -> None:
    page.set_viewport_size({"width": 800, "height": 300})
    hall.open("#/b/{harbor-shop}/memory")
    link = page.locator(".memory-card h3 a").nth(8)
    link.scroll_into_view_if_needed()
    link.focus()
    top = page.evaluate("scrollY")
    page.keyboard.press("Enter")
    page.wait_for_url(re.compile("/memory/."))
    settled(page)
    expect(page.locator("main h1")).to_be_focused()

    page.go_back()
    page.wait_for_url(re.compile("/memory(\\?|$)"))
    settled(page)

    expect(page.locator(".memory-card h3 a").nth(8)).to_be_focused()
    expect(page.locator(".memory-card h3 a").nth(8)).to_be_in_viewport()
    assert top > 0


def test_hall_the_focus_stays_when_letters_are_chosen_and_answered(hall: Hall, page: Page) -> None:
    hall.open("#/mail")
    fate = page.get_by_role("group", name="Fate").get_by_role("button").nth(1)
    fate.press("Enter")
    expect(fate).to_have_attribute("aria-pressed", "true")
    expect(fate).to_be_focused()

    page.locator(".letter a").first.press("Enter")
    page.get_by_role("button", name="Answer", exact=True).press("Enter")
    page.get_by_label("Your answer").fill("Read by keys alone.")
    page.get_by_role("button", name="Send it").press("Enter")
    expect(page.locator(".thread")).to_contain_text("Read by keys alone.")
    expect(page.get_by_role("button", name="Answer", exact=True)).to_be_focused()

    page.get_by_role("button", name="Answer and close").press("Enter")
    page.get_by_label("What was done about it").fill("Closed by keys alone.")
    page.get_by_role("button", name="Close it").press("Enter")
    expect(page.get_by_role("button", name="Answer and close")).to_have_count(0)


def test_hall_the_focus_comes_back_to_what_was_drawn_anew_behind_a_dialog(hall: Hall, page: Page) -> None:
    hall.open("#/mail/{letter-open}")
    page.get_by_role("button", name="Answer", exact=True).press("Enter")
    page.get_by_label("Your answer").fill("Half a sentence")
    said = {"class": "note", "what": "Somebody was faster.", "answers": [hall.ids["letter-open"]]}
    assert hall.call("report", root="harbor-shop", **said)["ok"]
    expect(page.locator(".thread")).to_contain_text("Somebody was faster.")
    expect(page.get_by_label("Your answer")).to_be_focused()

    page.keyboard.press("Escape")

    expect(page.get_by_role("button", name="Answer", exact=True)).to_be_focused()


def test_hall_a_home_without_brains_says_how_to_begin_and_blames_no_search(browser: Browser, tmp_path: Path) -> None:
    nowhere = World(directory=tmp_path, home=tmp_path / "home", roots={}, ids={})
    with opened(browser, nowhere) as hall:
        expect(hall.page.get_by_text("No repository has a brain yet")).to_be_visible()
        expect(hall.page.get_by_text("No brain has this name")).to_have_count(0)
        expect(hall.page.locator(".brain")).to_have_count(0)
        assert hall.watch.told() == []


def test_hall_4_an_open_page_comes_back_with_the_next_owner_and_says_so(
    browser: Browser, tmp_path: Path, starter: Starter
) -> None:
    world = quay(tmp_path)
    with opened(browser, world) as hall:
        page, beside = hall.page, hall.context.new_page()
        assert hall.call("init", root="quay", path=str(world.roots["quay"]))["ok"]
        assert hall.call("report", root="quay", **{"class": "friction", "what": "the owner went away"})["ok"]
        hall.open("#/", page=beside)
        hall.open("#/")
        hall.watch.expect(r"Failed to load resource|ERR_|Failed to fetch")
        hall.owner.kill()
        expect(page.get_by_text("The owner is away.")).to_be_visible()
        beside.evaluate("location.hash = '#/mail'")  # a view of which nothing was loaded yet
        expect(beside.get_by_role("alert")).to_be_visible()

        starter(hall.world.home, port=hall.owner.port)

        expect(page.get_by_text("The owner is back.")).to_be_visible()
        expect(page.get_by_text("live", exact=True)).to_be_visible()
        expect(beside.locator(".letter").first).to_be_visible()
        before = claims(hall, "quay")
        assert hall.terminal("quay").answer("memorize", "Back again", "The next owner tells of changes, too.")["ok"]
        expect(number(page, "quay", "claim")).to_have_text(str(before + 1))
        assert hall.watch.told() == []
