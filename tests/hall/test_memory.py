"""What a brain believes and what it rests on, in a browser: found, followed, compared, graded, shared, rejected and forgotten."""

import re

from playwright.sync_api import Page, expect

from tests.support.hall import Hall

SHOP = "harbor-shop"
MEMORY = "#/b/{harbor-shop}/memory"


def labels(hall: Hall) -> list[str]:
    """The labels of all that the shop believes."""
    return [one["claim"] for one in hall.call("claims", root=SHOP, limit=200)["claims"]]


def confirmed(page: Page, verb: str, *, reason: str = "", typed: str = "") -> None:
    """Fill in the dialogue that is open and do what it says."""
    dialog = page.get_by_role("dialog")
    if reason:
        dialog.locator("textarea").fill(reason)
    if typed:
        expect(dialog.get_by_role("button", name=verb)).to_be_disabled()
        dialog.locator("#confirm-word").fill(typed)
    dialog.get_by_role("button", name=verb).click()
    expect(dialog).to_have_count(0)


# -- finding ------------------------------------------------------------------------------------------------------------------


def test_hall_memory_is_searched_as_one_types(hall: Hall, page: Page) -> None:
    everything = len(labels(hall))
    hall.open(MEMORY)
    expect(page.locator(".memory-card")).to_have_count(everything)

    page.get_by_role("searchbox").fill("failed pay")

    expect(page.locator(".memory-told")).to_contain_text("of this kind")
    expect(page.locator(".memory-card h3").first).to_have_text("Retry policy")
    assert 0 < page.locator(".memory-card").count() < everything
    expect(page).to_have_url(re.compile(r"q=failed\+pay"))
    page.wait_for_function("performance.getEntriesByName('hall:search-painted').length >= 2")
    page.get_by_role("searchbox").fill("no brain ever said this")
    page.get_by_role("button", name="Show all").click()
    expect(page.locator(".memory-card")).to_have_count(everything)


def test_hall_memory_is_filtered_by_who_how_firmly_and_how_it_stands(hall: Hall, page: Page) -> None:
    hall.open(MEMORY)

    page.get_by_label("Which").select_option("evidence_changed")
    expect(page.locator(".memory-told")).to_contain_text("of this kind")
    expect(page.locator(".memory-card").filter(has_text="Off by one in retry")).to_be_visible()
    expect(page.locator(".memory-card").filter(has_not_text="evidence changed")).to_have_count(0)

    page.reload()
    expect(page.locator(".memory-card").filter(has_text="Off by one in retry")).to_be_visible()
    expect(page.get_by_label("Which")).to_have_value("evidence_changed")
    page.get_by_label("Which").select_option("")
    page.get_by_label("By whom").select_option("gemini:reviewer")
    expect(page.locator(".memory-card").filter(has_not_text="gemini:reviewer")).to_have_count(0)
    page.get_by_label("By whom").select_option("")
    page.get_by_label("Order").select_option("label")
    ordered = sorted(labels(hall), key=str.lower)
    expect(page.locator(".memory-card h3")).to_have_text(ordered)


def test_hall_memory_of_the_past_says_that_it_is_past(hall: Hall, page: Page) -> None:
    now = len(labels(hall))
    hall.open(MEMORY)

    page.get_by_label("As of").press("Home")
    page.get_by_label("As of").press("PageUp")
    page.get_by_label("As of").press("PageUp")

    expect(page.get_by_text("You are viewing")).to_be_visible()
    expect(page.locator(".memory-told")).to_contain_text("at that time")
    assert page.locator(".memory-card").count() < now
    expect(page).to_have_url(re.compile("as_of="))
    page.locator(".memory-card a").first.click()
    expect(page.get_by_text("Nothing here is newer than that.")).to_be_visible()
    expect(page.locator("#versions")).to_be_visible()
    expect(page.locator("#cited").get_by_text("as it was cited")).to_have_count(0)
    expect(page.get_by_role("button", name="Reject")).to_have_count(0)
    page.go_back()
    page.get_by_role("button", name="Back to now").first.click()
    expect(page.locator(".memory-card")).to_have_count(now)
    expect(page.get_by_text("You are viewing")).to_have_count(0)


def test_hall_memory_hears_what_an_agent_remembers_and_keeps_the_focus(hall: Hall, page: Page) -> None:
    hall.open(MEMORY)
    page.get_by_role("link", name="Retry policy").focus()

    hall.call("memorize", root=SHOP, node_label="Lamps of the quay", text="<b>Lamps</b> are lit at dusk.")

    expect(page.locator(".memory-card").first).to_contain_text("<b>Lamps</b> are lit at dusk.")
    expect(page.get_by_role("link", name="Retry policy")).to_be_focused()


# -- one claim ----------------------------------------------------------------------------------------------------------------


def test_hall_claim_shows_what_changed_between_any_two_versions(hall: Hall, page: Page) -> None:
    hall.open(f"{MEMORY}/{{revised-claim}}")

    difference = page.locator(".difference")
    expect(difference.locator("del").first).to_contain_text("three")
    expect(difference.locator("ins").first).to_contain_text("four")
    expect(page.locator(".besides")).to_contain_text("src/harbor/retry.py:9")
    page.get_by_label("Earlier version").select_option(label=page.locator("option").last.inner_text())
    expect(difference.locator("ins").last).to_contain_text("jitter")
    expect(page.locator("#record")).to_contain_text("remembered a claim")


def test_hall_claim_difference_is_told_in_whole_words(hall: Hall, page: Page) -> None:
    hall.open("#/")

    told = page.evaluate(
        """async () => {
          const { difference } = await import('/hall/js/memory/diff.js');
          const said = (node) => `${node.tagName.toLowerCase()}:${node.lastElementChild?.textContent ?? node.textContent}`;
          const flat = (before, after) => [...difference(before, after).children].map(said);
          return [flat('a b c', 'a x c'), flat('', 'new'), flat('one two three', 'three'), flat('same', 'same')];
        }"""
    )

    changed = [["span:a ", "del:b", "ins:x", "span: c"], ["ins:new"], ["del:one two ", "span:three"], []]
    assert told == changed


def test_hall_claim_chain_leads_from_the_medulla_to_where_it_was_learned(hall: Hall, page: Page) -> None:
    hall.open("#/b/medulla/memory/{promoted-claim}")
    expect(page.locator("#chain")).to_contain_text("Promoted by claude-code:orchestrator")

    page.locator("#chain").get_by_role("link", name=SHOP).first.click()

    expect(page.get_by_role("heading", level=1)).to_have_text("Idempotent charges")
    expect(page).to_have_url(re.compile(hall.ids[SHOP]))
    expect(page.locator("#cited")).to_contain_text("src/harbor/payments.py:17")
    expect(page.locator("#cited").get_by_role("link", name="in the graph")).to_have_attribute("href", re.compile("node=file"))
    page.locator("#chain").get_by_role("link", name="medulla").click()
    expect(page).to_have_url(re.compile("/b/medulla/memory/"))


def test_hall_claim_is_graded_by_a_person(hall: Hall, page: Page) -> None:
    hall.call("memorize", root=SHOP, node_label="Lamps of the mole", text="They burn by day.")
    hall.open(f"{MEMORY}/lamps-of-the-mole")

    page.get_by_role("button", name="Grade as wrong").click()
    confirmed(page, "Grade as wrong")

    expect(page.locator(".memory-said").get_by_text("graded wrong")).to_be_visible()
    (entry,) = hall.call("ledger.show", root=SHOP, subject="lamps-of-the-mole", act="claim.grade")["entries"]
    assert (entry["actor"], entry["channel"], entry["payload"]) == ("hall:person", "human", {"feedback": "wrong"})


def test_hall_claim_is_shared_with_all_projects(hall: Hall, page: Page) -> None:
    hall.call("memorize", root=SHOP, node_label="Rule of the buoys", text="Red is left of whoever comes home.")
    hall.open(f"{MEMORY}/rule-of-the-buoys")

    page.get_by_role("button", name="Share with all projects").click()
    confirmed(page, "Share it", reason="the client steers by the same rule")

    page.locator("#chain").get_by_role("link", name="medulla").click()
    expect(page.locator("#chain")).to_contain_text("the client steers by the same rule")
    shared = hall.call("seek", root="tide-client", query="red buoys")["results"]
    assert any(row.get("slug") == "rule-of-the-buoys" and row["tier"] == "medulla" for row in shared)


def test_hall_claim_that_changes_while_a_person_decides_is_left_alone(hall: Hall, page: Page) -> None:
    said = {"node_label": "Keys of the harbour"}
    assert hall.call("memorize", root=SHOP, text="The keys hang in the office.", **said)["ok"]
    hall.open(f"{MEMORY}/keys-of-the-harbour")
    page.get_by_role("button", name="Share with all projects").click()
    dialog = page.get_by_role("dialog")
    dialog.get_by_label("Why it holds beyond this project").fill("every harbour has an office")
    assert hall.call("memorize", root=SHOP, text="The keys lie under the mat.", **said)["ok"]

    dialog.get_by_role("button", name="Share it").click()

    expect(dialog.get_by_role("alert")).to_contain_text("This claim was changed while you decided.")
    dialog.get_by_role("button", name="Cancel").click()
    shared = hall.call("claims", tier="medulla", query="keys of the harbour")["claims"]
    assert [one for one in shared if one["slug"] == "keys-of-the-harbour"] == []


def test_hall_claim_that_is_rejected_does_not_come_back(hall: Hall, page: Page) -> None:
    said = {"node_label": "Lamps of the pier", "text": "Lamps burn at noon."}
    hall.call("memorize", root=SHOP, **said)
    hall.open(f"{MEMORY}/lamps-of-the-pier")

    page.get_by_role("button", name="Reject", exact=True).click()
    confirmed(page, "Reject it", reason="they do not", typed="lamps-of-the-pier")

    expect(page.get_by_text("not believed any more")).to_be_visible()
    assert "was rejected" in hall.call("memorize", root=SHOP, **said)["reason"]
    page.get_by_role("button", name="Lift the rejection").click()
    confirmed(page, "Lift it")
    assert hall.call("memorize", root=SHOP, **said)["ok"]
    expect(page.locator(".memory-said .memory-text")).to_have_text("Lamps burn at noon.")


def test_hall_claim_is_forgotten_for_good(hall: Hall, page: Page) -> None:
    hall.call("memorize", root=SHOP, node_label="Lamps of the dock", text="Nobody needs them.")
    hall.open(f"{MEMORY}/lamps-of-the-dock")
    hall.watch.expect(r"status of 404 .*/op/history")  # the page may hear that it is gone before its act is answered

    page.get_by_role("button", name="Forget").click()
    confirmed(page, "Forget it", typed="lamps-of-the-dock")

    expect(page.get_by_role("heading", level=1)).to_have_text("Memory")
    expect(page.get_by_role("link", name="Lamps of the dock")).to_have_count(0)
    assert hall.call("history", root=SHOP, claim="lamps-of-the-dock")["error"]["code"] == "unknown_claim"


# -- evidence -----------------------------------------------------------------------------------------------------------------


def test_hall_evidence_is_found_by_words_and_by_place(hall: Hall, page: Page) -> None:
    hall.open("#/b/{harbor-shop}/evidence?tag=release")
    expect(page.locator(".evidence-card")).to_have_count(2)

    page.get_by_label("Tag").fill("")
    page.get_by_role("searchbox").fill("jitter")

    expect(page.locator(".evidence-card").first).to_contain_text(re.compile("jitter", re.IGNORECASE))
    page.get_by_role("searchbox").fill("zebra crossing")
    expect(page.get_by_text("Nothing here is about this")).to_be_visible()


def test_hall_evidence_row_has_its_conversation_and_what_rests_on_it(hall: Hall, page: Page) -> None:
    talk = hall.call("memory.list", root=SHOP, thread=hall.ids["thread"])["rows"]
    hall.open(f"#/b/{{harbor-shop}}/evidence/{min(talk, key=lambda row: row['position'])['evidence_id']}")
    expect(page.locator(".turn.here")).to_contain_text("charged twice")

    page.locator(".turn").nth(1).get_by_role("link").click()

    expect(page.locator(".turn.here")).to_contain_text("Both with the same key?")
    expect(page.locator(".turn").first).to_contain_text("charged twice")
    hall.open("#/b/{harbor-shop}/evidence/{seen-key-once}")
    cited = page.locator("#cited-by").get_by_role("link").first
    expect(cited).to_have_attribute("href", re.compile("/knowledge/card_"))


def test_hall_evidence_is_deleted_and_brought_back(hall: Hall, page: Page) -> None:
    hall.open("#/b/{harbor-shop}/evidence/{log}")

    page.get_by_role("button", name="Delete").click()
    confirmed(page, "Delete it", reason="a test")

    expect(page.get_by_text("It is in no answer any more")).to_be_visible()
    assert hall.call("memory.get", root=SHOP, evidence_id=hall.ids["log"])["error"]["code"] == "unknown_evidence"
    page.get_by_role("button", name="Restore").click()
    confirmed(page, "Restore it")
    expect(page.get_by_role("button", name="Delete")).to_be_visible()
    assert hall.call("memory.get", root=SHOP, evidence_id=hall.ids["log"])["ok"]


# -- recall and record --------------------------------------------------------------------------------------------------------


def test_hall_recall_shows_what_north_gives_and_why(hall: Hall, page: Page) -> None:
    hall.open("#/b/{harbor-shop}/recall")

    page.get_by_role("searchbox").fill("retry a payment that failed")
    page.get_by_role("searchbox").press("Enter")

    first = page.locator("#recall-rows .ranked-row").filter(has_text="claim").first
    expect(first).to_contain_text("Retry policy")
    expect(first).to_contain_text("found by words")
    expect(first).to_contain_text("matches the task")
    expect(page.locator("#recall-out")).to_contain_text("others match better")
    expect(page.locator(".recall-cost")).to_contain_text("tokens")
    said = hall.call("north", root=SHOP, task="retry a payment that failed", explain=True)["rendered"]
    assert page.locator("#recall-text pre").inner_text().split() == said.split()
    first.get_by_role("link").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("Retry policy")


def test_hall_ledger_is_filtered_opened_and_verified(hall: Hall, page: Page) -> None:
    hall.call("memorize", root=SHOP, node_label="Lamps of the ferry", text="They are green.")
    hall.call("learn", root=SHOP, feedback="wrong", node_ids=["lamps-of-the-ferry"])
    hall.open("#/b/{harbor-shop}/ledger?act=claim.grade")
    expect(page.locator(".entry").filter(has_not_text="claim.grade")).to_have_count(0)

    page.locator(".entry summary").first.click()
    expect(page.locator(".entry[open] pre")).to_contain_text('"feedback": "wrong"')
    hall.call("learn", root=SHOP, feedback="correct", node_ids=["lamps-of-the-ferry"])
    expect(page.locator(".entry").nth(1)).to_have_attribute("open", "")
    page.get_by_role("button", name="Verify").click()
    expect(page.get_by_text("the chain holds")).to_be_visible()

    page.locator(".entry[open]").get_by_role("link").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("Lamps of the ferry")


def test_hall_ledger_goes_back_page_by_page(hall: Hall, page: Page) -> None:
    hall.open("#/b/{harbor-shop}/ledger")
    expect(page.locator(".entry")).to_have_count(50)

    page.get_by_role("button", name="Earlier entries").click()

    expect(page.locator(".entry")).to_have_count(100)
    seqs = [int(one.lstrip("#")) for one in page.locator(".entry-seq").all_inner_texts()]
    assert seqs == sorted(seqs, reverse=True)


def test_hall_a_claim_that_is_not_there_leads_back_to_memory(hall: Hall, page: Page) -> None:
    hall.watch.expect(r"status of 404")
    hall.open("#/b/{harbor-shop}/memory/no-such-claim")

    expect(page.get_by_text("This brain has no such claim")).to_be_visible()
    page.get_by_role("link", name="To its memory").click()
    expect(page.locator(".memory-card").first).to_be_visible()
