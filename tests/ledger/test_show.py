"""The record of a brain is shown from either end, page by page, and about one thing alone."""

from tests.support.world import World


def test_ledger_the_last_entries_come_first_and_page_by_page(world: World) -> None:
    root = world.brain("shop")
    for number in range(5):
        world.at(root).memorize("Retry policy", f"text {number}")
    world.at(root).memorize("Release day", "Tuesdays")
    told = world.at(root).call("ledger.show", act="claim.")
    seqs = [entry["seq"] for entry in told["entries"]]

    first = world.at(root).call("ledger.show", act="claim.", newest=True, limit=4)
    rest = world.at(root).call("ledger.show", act="claim.", newest=True, limit=4, before=first["entries"][-1]["seq"])

    assert [entry["seq"] for entry in first["entries"] + rest["entries"]] == seqs[::-1]
    assert first["last"] == seqs[-1]


def test_ledger_a_claim_is_named_by_its_slug_or_as_entries_name_it(world: World) -> None:
    root = world.brain("shop")
    world.at(root).memorize("Retry policy", "three times")
    world.at(root).memorize("Release day", "Tuesdays")
    world.at(root).call("learn", feedback="wrong", node_ids=["retry-policy"])

    about = world.at(root).call("ledger.show", subject="retry-policy")["entries"]

    assert [entry["act"] for entry in about] == ["claim.memorize", "claim.grade"]
    assert about[0]["told"] == "remembered a claim"
    assert world.at(root).call("ledger.show", subject=about[0]["subject"])["entries"] == about
    assert world.at(root).call("ledger.show", subject="no-such-claim")["entries"] == []
