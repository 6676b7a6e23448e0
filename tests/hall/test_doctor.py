"""The view of the doctor: parts with their fixes, repairs after a look at the plan, confusion by week, adoption and cost."""

import re

import pytest
from playwright.sync_api import Page, expect

from tests.support.hall import Built, BuiltWorld, Hall

VIEW = "#/doctor"


@pytest.fixture(scope="module")
def hall_world(built_world: Built) -> BuiltWorld:
    """The tour with a model that costs: a program that says what it is told, so that rules stand in and the calls are counted."""
    world = built_world.again()
    config = world.home / "config.toml"
    kept = config.read_text() if config.exists() else ""
    config.write_text(kept + 'model_provider = "command"\nmodel_command = "/bin/cat"\n')
    return world


def test_hall_1_parts_of_the_house_with_what_is_wrong_and_what_puts_it_right(hall: Hall, page: Page) -> None:
    hall.open(VIEW)
    knowledge = page.locator(".section", has_text="Knowledge")
    expect(knowledge).to_contain_text("look here")
    expect(knowledge).to_contain_text("in tide-client")
    fix = f"hindbrain knowledge gate {hall.ids['tide-card-stale']} --root {hall.world.roots['tide-client']}"
    expect(knowledge.locator("code")).to_have_text(fix)
    expect(page.locator(".section")).to_have_count(7)
    expect(page.locator(".section.ok").first).to_contain_text("nothing found")

    table = page.get_by_role("region", name="Brains as the doctor saw them")
    for brain in ("harbor-shop", "tide-client", "medulla"):
        expect(table.get_by_role("link", name=brain)).to_be_visible()
    page.get_by_role("button", name="Look at every file and entry").click()
    expect(page.locator(".section")).to_have_count(7)
    expect(page.get_by_role("button", name="Look again")).to_be_enabled()


def test_hall_1_confusion_by_week_is_a_plot_with_its_numbers(hall: Hall, page: Page) -> None:
    hall.open(VIEW)
    weeks = hall.call("doctor")["memory"]["weeks"]
    expect(page.get_by_role("img", name=re.compile("Confusion per week"))).to_be_visible()
    page.get_by_text("The numbers").click()
    rows = page.get_by_role("region", name="Confusion per week").locator("tbody tr")
    expect(rows).to_have_count(len(weeks))
    expect(rows.first.locator("td").first).to_have_text(weeks[-1]["week"])
    told = [
        row.split("\t")[1]
        for row in rows.evaluate_all("rows => rows.map(row => [...row.cells].map(one => one.textContent).join('\\t'))")
    ]
    assert told == [str(one["confusion_rate"]) for one in reversed(weeks)]


def test_hall_1_the_owner_the_program_the_model_and_the_hosts(hall: Hall, page: Page) -> None:
    hall.open(VIEW)
    owner = page.locator(".panel", has=page.get_by_role("heading", name="This owner"))
    expect(owner).to_contain_text(str(hall.owner.process.pid))
    expect(owner).to_contain_text(str(hall.world.home))
    expect(page.locator(".panel", has=page.get_by_role("heading", name="Model for meaning"))).to_contain_text(
        "hindbrain model install"
    )
    expect(page.get_by_role("region", name="Hosts")).to_contain_text("Claude Code")
    expect(page.locator(".panel", has=page.get_by_role("heading", name="Program"))).to_contain_text("0.1.0")


def test_hall_1_adoption_and_cost_of_the_brain_that_is_chosen(hall: Hall, page: Page) -> None:
    hall.open(VIEW)
    page.get_by_role("combobox", name="Brain whose usage is shown").select_option(label="harbor-shop")
    expect(page.get_by_role("img", name=re.compile("What came of guidance: used 1, accepted 3"))).to_be_visible()
    expect(page.get_by_text("No model was asked")).to_be_visible()

    hall.call("run", root="harbor-shop", goal="Count the Python files")
    expect(page.get_by_role("img", name=re.compile("Tokens per day"))).to_be_visible()  # the page hears of it by itself
    cost = hall.call("control.cost", root="harbor-shop", days=30)
    assert cost["total"]["calls"] > 0
    models = page.get_by_role("region", name="What each model cost")
    expect(models).to_contain_text("command/cat")
    expect(models.locator("tbody tr td").nth(1)).to_have_text(str(cost["by_model"][0]["calls"]))

    page.get_by_role("combobox", name="Brain whose usage is shown").select_option(label="tide-client")
    expect(page.get_by_text("No model was asked")).to_be_visible()
    expect(page).to_have_url(re.compile(hall.route("brain={tide-client}")))


def test_hall_1_a_safe_repair_is_planned_then_made(hall: Hall, page: Page) -> None:
    token = next(path for path in hall.world.home.iterdir() if path.name.endswith("token"))
    token.chmod(0o644)
    hall.open(VIEW)
    runtime = page.locator(".section", has_text="Runtime")
    expect(runtime.locator("code")).to_have_text(f"chmod 600 {token}")

    page.get_by_role("button", name="Safe repairs…").click()
    expect(page.get_by_role("dialog")).to_contain_text("make it readable by its user only")
    assert token.stat().st_mode & 0o777 == 0o644
    page.get_by_role("button", name="Make 1 repair").click()
    expect(page.locator(".toast", has_text="1 repair made.")).to_be_visible()
    expect(runtime).to_contain_text("nothing found")
    assert token.stat().st_mode & 0o777 == 0o600

    page.get_by_role("button", name="Safe repairs…").click()
    expect(page.get_by_role("dialog")).to_contain_text("Nothing needs a repair")
    page.keyboard.press("Escape")
