"""The view of experience: what pairs advise, how it fades, rules and what would bankrupt them, the Dreamer, a person's word."""

import re

from playwright.sync_api import Page, expect

from tests.support.hall import Hall

VIEW = "#/b/{harbor-shop}/experience"


def test_hall_1_pairs_tell_what_they_advise_and_how_it_fades(hall: Hall, page: Page) -> None:
    hall.open(VIEW)
    summary = hall.call("experience.summary", root="harbor-shop")
    for level, words in (("M", "episodes"), ("K", "task knowledge"), ("C", "rules"), ("T", "laws and thinking")):
        total = page.locator(".levels .total", has_text=f"{level}: {words}")
        expect(total.locator("b")).to_have_text(str(summary["level_counts"][level]))

    listed = hall.call("experience.pairs", root="harbor-shop")["pairs"]
    expect(page.locator(".pair")).to_have_count(len(listed))
    expect(page.locator(".pair").first).to_contain_text(listed[0]["space"])
    expect(page.locator(".detail")).to_contain_text(listed[0]["entity"])

    page.get_by_role("searchbox", name="Find a pair").fill("missing_report")
    expect(page.locator(".pair")).to_have_count(1)
    expect(page.locator(".pair .badge")).to_have_text("avoid")
    page.locator(".pair h3 a").click()
    expect(page.locator(".detail h2")).to_contain_text("missing_report.txt")
    expect(page.get_by_role("img", name=re.compile("How it fades: attention"))).to_be_visible()
    expect(page.locator(".detail .tick", has_text="today")).to_be_visible()
    expect(page.locator(".detail .episodes")).to_contain_text("Wrong tool for this")
    expect(page).to_have_url(re.compile("entity=path"))

    page.reload()  # the address is enough to come back here
    expect(page.locator(".detail h2")).to_contain_text("missing_report.txt")
    expect(page.locator(".pair.chosen")).to_have_count(1)
    page.get_by_role("combobox", name="What it advises").select_option("Exploit")
    expect(page.locator(".pair")).to_have_count(0)
    expect(page.get_by_text("No such pair")).to_be_visible()


def test_hall_1_a_rule_names_what_would_bankrupt_it_and_what_it_is_made_of(hall: Hall, page: Page) -> None:
    hall.open(VIEW)
    rule = page.locator(".rule", has_text="Prefer: Succeeded")
    expect(rule.locator(".blows")).to_contain_text("2 × ended in vain")
    expect(rule).to_contain_text("by the Dreamer")

    rule.locator("h3 a").click()
    detail = page.locator(".detail")
    expect(detail).to_contain_text("What would bankrupt it")
    expect(detail).to_contain_text("Made of 7 experiences")
    expect(detail.get_by_role("img", name=re.compile("How it fades"))).to_be_visible()
    detail.locator(".episodes a").first.click()
    expect(detail).to_contain_text("What befell it")
    expect(detail).to_contain_text("consolidated")

    hall.open(VIEW + "?rule={rule}")
    expect(detail).to_contain_text("it does not fade")


def test_hall_1_the_nights_of_the_dreamer_name_the_rules_they_made(hall: Hall, page: Page) -> None:
    hall.open(VIEW)
    nights = hall.call("experience.nights", root="harbor-shop")["nights"]
    expect(page.locator(".night")).to_have_count(len(nights))
    made = page.locator(".night", has_text="made 1 rule")
    made.get_by_role("link", name=re.compile("Prefer: Succeeded")).click()
    expect(page.locator(".detail")).to_contain_text("Behind this experience")


def test_hall_1_a_person_states_and_speaks_against_and_forgets(hall: Hall, page: Page) -> None:
    hall.open(VIEW)
    page.get_by_role("button", name="State something…").click()
    page.get_by_label("What holds").fill("Ask the harbour master before a release.")
    page.get_by_label("Kind of act").fill("intent:release_the_shop")
    page.get_by_label("What it is about").fill("env:local")
    page.get_by_role("button", name="Remember").click()
    rule = page.locator(".rule", has_text="harbour master")
    expect(rule).to_contain_text("by a person")
    expect(page.locator(".pair", has_text="intent:release_the_shop").locator(".badge")).to_have_text("do it again")

    for words, told in (
        ("He is on holiday.", "The rule still stands."),
        ("Nobody asks him any more.", "The rule has lost its trust"),
    ):
        rule.get_by_role("button", name="Speak against it").click()
        page.get_by_label("What speaks against it").fill(words)
        page.get_by_role("dialog").get_by_role("button", name="Speak against it").click()
        expect(page.locator(".toast", has_text=told)).to_be_visible()
    expect(rule).to_have_count(0)
    expect(page.locator(".night").first).to_contain_text("took the trust of 1 rule")
    expect(page.locator(".night").first).to_contain_text("harbour master")

    page.locator(".pair", has_text="intent:release_the_shop").locator("h3 a").click()
    page.get_by_role("button", name="Forget: He is on holiday.").click()
    page.get_by_label("Why").fill("he came back")
    page.get_by_role("button", name="Forget it").click()
    expect(page.locator(".toast", has_text="Forgot 1 experience.")).to_be_visible()
    expect(page.locator(".detail")).not_to_contain_text("He is on holiday.")
    kept = hall.call("experience.query", root="harbor-shop", space="intent:release_the_shop", entity="env:local")
    assert "He is on holiday." not in [one["content"] for one in kept["recent"]]


def test_hall_1_a_dream_is_shown_before_it_is_dreamt(hall: Hall, page: Page) -> None:
    hall.open(VIEW)
    page.get_by_role("button", name="Dream now…").click()
    expect(page.get_by_role("dialog")).to_contain_text("a look now would change nothing")
    page.get_by_role("dialog").get_by_role("button", name="Dream", exact=True).click()
    expect(page.locator(".toast", has_text="0 forgotten, 0 rules made, 0 distrusted.")).to_be_visible()


def test_hall_1_what_happens_elsewhere_shows_itself_and_leaves_what_one_types(hall: Hall, page: Page) -> None:
    hall.open(VIEW)
    find = page.get_by_role("searchbox", name="Find a pair")
    find.fill("quay")
    expect(page.locator(".pair")).to_have_count(0)
    told = hall.terminal("harbor-shop").at_terminal(
        "experience", "remember", "The quay is slippery.", "--space", "tool:quay", say=[("to go on: ", "The quay is slippery.\n")]
    )
    assert told.code == 0, told.out

    expect(page.locator(".pair")).to_have_count(1)
    expect(page.locator(".rule", has_text="The quay is slippery.")).to_be_visible()
    expect(find).to_be_focused()
    expect(find).to_have_value("quay")


def test_hall_1_an_address_of_what_was_forgotten_says_so(hall: Hall, page: Page) -> None:
    hall.watch.expect(r"status of 404")
    hall.open("#/b/{harbor-shop}/experience?rule=00000000")
    expect(page.locator(".detail .failure")).to_contain_text("no experience begins with")
