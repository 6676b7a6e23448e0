"""Cowork in the Hall: agents, messages, shared work and reserved files of one checkout."""

import re

from playwright.sync_api import Page, expect

from tests.support.hall import Hall


def tab(page: Page, name: str) -> None:
    page.get_by_role("tab", name=re.compile(f"^{name}")).click()


def test_hall_1_agents_are_shown_with_their_presence(hall: Hall, page: Page) -> None:
    told = hall.call("cowork.agents", root="harbor-shop")["agents"]
    hall.open("#/b/{harbor-shop}/cowork")

    expect(page.locator(".agent")).to_have_count(len(told))
    for one in told:
        card = page.locator(".agent").filter(has_text=one["agent_id"]).first
        expect(card).to_contain_text(one["presence"])
    expect(page.locator(".agent").filter(has_text="cursor-1")).to_contain_text("stale")


def test_hall_a_message_of_another_process_comes_by_itself(hall: Hall, page: Page) -> None:
    hall.open("#/b/{harbor-shop}/cowork?tab=deliveries")
    row = page.get_by_role("row").filter(has_text="the tide is high at noon")
    expect(row).to_have_count(0)

    sent = hall.terminal("harbor-shop").answer(
        "cowork", "send", "--from", "codex-b", "--to", "codex-a", "--message", "the tide is high at noon"
    )
    assert sent["ok"]

    expect(row).to_contain_text("pending")
    hall.call("cowork.drain", root="harbor-shop", agent_id="codex-a")
    expect(row).to_contain_text("drained")


def test_hall_a_person_sends_a_message_that_the_agent_gets(hall: Hall, page: Page) -> None:
    hall.open("#/b/{harbor-shop}/cowork")
    page.get_by_role("button", name="Send a message").click()
    page.get_by_label("To", exact=True).select_option(label="codex-b")
    page.get_by_label("Message", exact=True).fill("please stop before you touch the migration")
    page.get_by_role("button", name="Send", exact=True).click()
    expect(page.get_by_role("dialog")).to_have_count(0)

    drained = hall.call("cowork.drain", root="harbor-shop", agent_id="codex-b")

    assert "please stop before you touch the migration" in str(drained["messages"])


def test_hall_shared_work_is_handed_over_and_closed(hall: Hall, page: Page) -> None:
    hall.open("#/b/{harbor-shop}/cowork?tab=sessions")
    work = page.locator(".panel").filter(has=page.get_by_role("heading", name="Release 0.5"))
    work.get_by_role("button", name="Hand-over page").click()
    expect(page.get_by_role("dialog")).to_contain_text("Release 0.5")
    page.keyboard.press("Escape")

    work.get_by_role("button", name="Close").click()
    page.get_by_role("button", name="Close it").click()

    expect(work).to_contain_text("closed")
    told = {one["session_id"]: one["status"] for one in hall.call("cowork.session.list", root="harbor-shop")["sessions"]}
    assert told["release-05"] == "closed"


def test_hall_a_reserved_file_is_released_by_a_person(hall: Hall, page: Page) -> None:
    hall.open("#/b/{harbor-shop}/cowork?tab=files")
    page.get_by_role("button", name="Release src/harbor/worker.py").click()
    page.get_by_role("button", name="Release it").click()

    expect(page.get_by_role("row").filter(has_text="src/harbor/worker.py")).to_have_count(0)
    held = hall.call("cowork.reservations", root="harbor-shop")["reservations"]
    assert "src/harbor/worker.py" not in [one["path"] for one in held]


def test_hall_channels_and_events_are_told(hall: Hall, page: Page) -> None:
    hall.open("#/b/{harbor-shop}/cowork")
    tab(page, "Channels")
    expect(page.get_by_role("row").filter(has_text="claude-main, codex-a, codex-b")).to_be_visible()
    tab(page, "Events")
    expect(page.locator(".feed li").filter(has_text="claude-main").first).to_be_visible()
    expect(page).to_have_url(re.compile("tab=events"))
