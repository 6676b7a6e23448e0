"""Missions and tasks in the Hall: listed, followed while they happen, judged by their proof, answered and ended by a person."""

import re

from playwright.sync_api import Locator, Page, expect

from tests.support.hall import Hall

LIST = "#/b/{harbor-shop}/missions"
MISSION = "#/b/{harbor-shop}/missions/{mission-running}"
SHOP = "harbor-shop"


def card(page: Page, name: str) -> Locator:
    return page.locator("article.card").filter(has=page.get_by_role("link", name=name))


def run(hall: Hall, goal: str) -> str:
    """A task that an agent began: its commands wait for a person."""
    begun = hall.call("run", root=SHOP, goal=goal, wait_s=0)
    assert begun["ok"], begun
    return str(begun["task_id"])


def test_hall_1_missions_are_listed_with_how_they_stand_and_found_by_state(hall: Hall, page: Page) -> None:
    hall.open(LIST)
    running = card(page, "review whether a webhook can be played again")
    expect(running).to_contain_text("active")
    expect(running).to_contain_text("claude-code:agent")
    expect(running).to_contain_text("1 of 3 claims proven")
    expect(running).to_contain_text("2 open")
    expect(running).to_contain_text("4 warnings")

    closed = [one for one in hall.call("mission.list", root=SHOP, limit=200)["missions"] if one["status"] == "closed"]
    page.get_by_role("combobox", name="State of the missions").select_option("closed")
    expect(page.locator(".mission-card")).to_have_count(len(closed))
    expect(card(page, "find why a payment is tried once too often")).to_contain_text("1 of 1 claim proven")
    page.reload()
    expect(page.locator(".mission-card")).to_have_count(len(closed))  # the address keeps the choice
    page.get_by_role("searchbox", name="Find among the missions").fill("nothing like this")
    expect(page.locator("main")).to_contain_text("No such mission")

    page.get_by_role("tab", name="Tasks").click()
    expect(card(page, "Read missing_report.txt. Count the python files.")).to_contain_text("given up")
    expect(card(page, "Read missing_report.txt. Count the python files.")).to_contain_text("4 rounds")


def test_hall_1_a_mission_shows_what_is_proven_where_it_stands_and_why(hall: Hall, page: Page) -> None:
    hall.open(MISSION)
    proven = page.locator(f"[data-claim={hall.ids['mission-claim-verified']}]")
    weak = page.locator(f"[data-claim={hall.ids['mission-claim-weak']}]")
    expect(proven).to_contain_text("proven")
    expect(proven).to_contain_text("direct evidence")
    expect(weak).to_contain_text("not proven")
    expect(weak).to_contain_text("no direct evidence: graph only")
    expect(weak).to_contain_text("direct evidence is needed")
    expect(page.get_by_text("P7, loop: a loop rule other than the graph streak holds")).to_be_visible()
    expect(page.get_by_text("literal_search was called 3 times in a row").first).to_be_visible()

    proven.get_by_role("button", name=re.compile("evt_")).click()
    focused = page.locator(".event summary:focus")
    expect(focused).to_contain_text("file read")
    page.get_by_role("tab", name="Chain").click()
    expect(page.get_by_role("tabpanel")).to_contain_text("17 events, each bound to the one before")


def test_hall_a_mission_is_watched_while_another_process_feeds_it(hall: Hall, page: Page) -> None:
    terminal = hall.terminal(SHOP)
    mission = terminal.answer("mission", "start", "look at every file", "--budget", "deep")["mission_id"]
    for name in ("app", "basket", "orders", "payments", "products", "queue", "retry", "webhooks", "worker"):
        terminal.answer("mission", "event", "file_read", f"src/harbor/{name}.py")
    hall.open(f"#/b/{{harbor-shop}}/missions/{mission}")
    events = page.locator("li.event")
    before = hall.call("mission.status", root=SHOP, mission_id=mission)["event_count"]
    expect(events).to_have_count(before)
    held = page.locator("li.event").filter(has_text="src/harbor/app.py")
    held.locator("summary").click()
    held.scroll_into_view_if_needed()
    where = held.evaluate("one => one.getBoundingClientRect().top")

    terminal.answer("mission", "event", "file_read", "README.md")

    expect(events).to_have_count(before + 1)
    expect(events.first).to_contain_text("README.md")
    expect(held.locator("details")).to_have_attribute("open", "")
    expect(held.locator("summary")).to_be_focused()
    assert abs(held.evaluate("one => one.getBoundingClientRect().top") - where) < 2
    expect(page.get_by_text(re.compile("10 of 32"))).to_be_visible()


def test_hall_a_close_without_direct_evidence_is_refused_in_words(hall: Hall, page: Page) -> None:
    hall.open(MISSION)
    hall.watch.expect(r"status of 409")
    page.get_by_role("button", name="Close…").click()
    asked = page.get_by_role("dialog", name="Close the mission")
    asked.get_by_role("button", name="Close", exact=True).last.click()

    refused = asked.get_by_role("alert")
    expect(refused).to_contain_text("cannot be closed")
    expect(refused).to_contain_text("no direct evidence shows it")
    expect(refused).to_contain_text("mission next says what to do")
    page.keyboard.press("Escape")
    assert hall.call("mission.status", root=SHOP, mission_id=hall.ids["mission-running"])["status"] == "active"


def test_hall_a_person_closes_with_open_ends_and_the_packet_can_be_checked(hall: Hall, page: Page) -> None:
    mission = hall.call("mission.start", root=SHOP, task="look at the age of a webhook")["mission_id"]
    assert hall.call("mission.claim", root=SHOP, mission_id=mission, claim="the age is checked first")["ok"]
    hall.open(f"{LIST}/{mission}")
    page.get_by_role("button", name="Close…").click()
    asked = page.get_by_role("dialog", name="Close the mission")
    asked.get_by_label("What came of it").fill("The age is checked; the rest is open.")
    asked.get_by_label("Close though something is open, because").fill("the release waits")
    asked.get_by_role("button", name="Close", exact=True).last.click()
    expect(page.get_by_role("button", name="Close…")).to_have_count(0)
    expect(page.locator("li.event").first).to_contain_text("The age is checked; the rest is open.")

    page.get_by_role("tab", name="Proof packet").click()
    expect(page.get_by_role("tabpanel")).to_contain_text("closed by force")
    with page.expect_download() as download:
        page.get_by_role("button", name="Download the packet").click()
    kept = hall.world.roots[SHOP] / "proof.json"
    download.value.save_as(kept)
    checked = hall.terminal(SHOP).answer("mission", "verify-packet", "proof.json")
    kept.unlink()
    assert checked["valid"], checked
    assert checked["ledger_checked"]


def test_hall_1_a_hand_over_is_one_page(hall: Hall, page: Page) -> None:
    hall.open("#/b/{harbor-shop}/missions/{mission-handed-over}")
    page.get_by_role("tab", name="Hand-over").click()
    told = page.get_by_role("tabpanel")
    expect(told).to_contain_text("whether a parked order can be paid is open")
    expect(told).to_contain_text("place executes")
    expect(told).to_contain_text(f"hindbrain mission resume {hall.ids['handover']}")


def test_hall_1_a_task_shows_its_curves_its_plan_and_how_it_ended(hall: Hall, page: Page) -> None:
    hall.open("#/b/{harbor-shop}/missions/task/{task-abandoned}")
    expect(page.get_by_role("img", name=re.compile("Loss by round: D, how far off from 0.50 to 0.50; P"))).to_be_visible()
    expect(page.get_by_role("list", name="Directives by round").locator("li")).to_have_count(4)
    expect(page.get_by_role("list", name="Directives by round")).to_contain_text("change approach")
    expect(page.locator("main")).to_contain_text("Given up: its budget allows no further round.")
    expect(page.locator(".part").first).to_contain_text("look for a name like *missing*")
    expect(page.locator(".part").first).to_contain_text("failed")
    expect(page.locator(".part").last).to_contain_text("reached")
    page.get_by_text("Every round, with its numbers and reasons").click()
    expect(page.get_by_role("table", name="Rounds").locator("tbody tr")).to_have_count(4)
    expect(page.get_by_role("button", name="Cancel…")).to_be_hidden()


def test_hall_a_question_of_a_task_is_answered_in_the_page(hall: Hall, page: Page) -> None:
    task = run(hall, "Run 'echo hello > said.txt'")
    hall.open(f"#/b/{{harbor-shop}}/missions/task/{task}")
    expect(page.get_by_label("What it wants to do")).to_have_text("echo hello > said.txt")
    page.get_by_role("button", name="Allow it once").click()

    expect(page.get_by_role("heading", name="It was reached")).to_be_visible()
    expect(page.locator("main")).to_contain_text("said.txt")
    expect(page.get_by_role("button", name="Allow it once")).to_have_count(0)
    expect(page.get_by_role("list", name="What is said")).to_contain_text("final result")
    assert hall.call("task.show", root=SHOP, task_id=task)["directive"] == "accept"


def test_hall_a_person_cancels_a_task(hall: Hall, page: Page) -> None:
    task = run(hall, "Run 'sleep 600'")
    hall.open(f"#/b/{{harbor-shop}}/missions/task/{task}")
    expect(page.get_by_role("button", name="Refuse")).to_be_visible()
    page.get_by_role("button", name="Cancel…").click()
    asked = page.get_by_role("dialog", name="Cancel the task")
    asked.get_by_label("Why").fill("nobody needs it")
    asked.get_by_role("button", name="Cancel the task").click()

    expect(page.get_by_role("heading", name="It was given up")).to_be_visible()
    expect(page.locator("main")).to_contain_text("nobody needs it")
    expect(page.get_by_role("button", name="Refuse")).to_have_count(0)
