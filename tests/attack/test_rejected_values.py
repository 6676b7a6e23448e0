"""A rejected or forgotten value tries every other way in: no field, line, neighbour or moment brings it back (design 7)."""

import io
import tarfile
from typing import Any

import pytest

from tests.support.world import World

VALUE = "the payment gateway retries seven times before quokka"
FIRST, SECOND = VALUE[:25], VALUE[25:]

# How a version could carry the value beside its text.
DISGUISES: dict[str, dict[str, Any]] = {
    "label": {"node_label": VALUE, "text": "innocent"},
    "title": {"node_label": "n", "title": VALUE, "text": "innocent"},
    "label of a block": {"node_label": "n", "claims": [{"label": VALUE, "text": "innocent"}]},
    "dependency": {"node_label": "n", "claims": [{"label": "b", "text": "innocent", "depends_on": [VALUE]}]},
    "citation": {"node_label": "n", "claims": [{"label": "b", "text": "innocent", "evidence": [VALUE]}]},
    "confidence": {"node_label": "n", "claims": [{"label": "b", "text": "innocent", "confidence": VALUE}]},
    "ambiguity": {"node_label": "n", "claims": [{"label": "b", "text": "innocent", "ambiguity": VALUE}]},
    "author": {"node_label": "n", "text": "innocent", "agent_id": VALUE},
    "a line among others": {"node_label": "n", "text": f"first\n{VALUE}\nlast"},
    "lines among others": {"node_label": "n", "text": f"first\n{FIRST}\n{SECOND}\nlast"},
    "blocks among others": {"node_label": "n", "claims": [{"label": c, "text": c} for c in ("a", FIRST, SECOND, "z")]},
    "label and text": {"node_label": FIRST, "text": SECOND},
    "lisu letters": {"node_label": "n", "text": VALUE.upper().translate(str.maketrans("TAEP", "ꓔꓮꓰꓑ"))},
}


@pytest.fixture(params=["reject", "forget"])
def refusing(world: World, request: pytest.FixtureRequest) -> str:
    """A brain that rejected the value, or forgot it."""
    root = world.brain("y")
    world.at(root).memorize("gateway retries", VALUE)
    assert world.human(root).call(request.param, claim="gateway retries", reason="wrong")["ok"]
    return root


@pytest.mark.parametrize("disguise", DISGUISES)
@pytest.mark.req("CONF-11")
def test_the_value_comes_back_in_no_part_of_a_claim(world: World, refusing: str, disguise: str) -> None:
    answer = world.at(refusing).call("memorize", **DISGUISES[disguise])

    assert answer.get("refused") == "rejected_value", answer
    assert "quokka" not in str(world.at(refusing).seek("payment gateway retries innocent"))


@pytest.mark.parametrize(
    "entry",
    [
        {"key": VALUE, "value": 1},
        {"key": "k", "value": {VALUE: 1}},
        {"key": "k", "value": 1, "tags": [VALUE]},
        {"key": "k", "value": 1, "source_refs": [VALUE]},
    ],
    ids=["key", "key inside", "tag", "source"],
)
@pytest.mark.req("CONF-11")
def test_the_value_comes_back_in_no_part_of_a_keyed_entry(world: World, refusing: str, entry: dict[str, Any]) -> None:
    answer = world.at(refusing).call("boot_memory", action="set", **entry)

    assert answer.get("refused") == "rejected_value"


@pytest.mark.req("CONF-12", "CONF-13")
def test_the_value_comes_back_in_no_part_of_a_file_or_an_archive(world: World, refusing: str) -> None:
    text = f"---\nProtocol: L1GHT/1.0\nNode: filed\nNote: {VALUE}\n---\n\n# filed\n\n## filed\n\ninnocent\n\n[⍂ entity: filed]\n"
    world.at(refusing).memorize("first", "there is a directory now")
    world.file(refusing, "filed").write_text(text, encoding="utf-8")
    archive = world.place / "a.tar.gz"
    with tarfile.open(archive, "w:gz") as tar:
        member = tarfile.TarInfo("agent-memory/sent.light.md")
        member.size = len(data := text.replace("filed", "sent").encode())
        tar.addfile(member, io.BytesIO(data))

    taken = world.human(refusing).call("import", source=str(archive))

    assert [one["code"] for one in taken["refused"]] == ["rejected_value"]
    assert world.at(refusing).seek("filed sent innocent")["results"] == []


@pytest.mark.req("CONF-09")
def test_a_label_stays_free_when_the_value_was_no_more_than_the_label(world: World) -> None:
    root = world.brain("y")
    world.at(root).memorize("the payment gateway retries", "the payment gateway retries")
    assert world.human(root).call("reject", claim="the payment gateway retries", reason="says nothing")["ok"]

    again = world.at(root).call("memorize", node_label="the payment gateway retries", text="The payment  gateway retries.")
    world.at(root).memorize("the payment gateway retries", "three times, then it asks a person")

    assert again["refused"] == "rejected_value"


@pytest.mark.req("CONF-11")
def test_a_rejection_between_check_and_write_still_holds(world: World) -> None:
    root = world.brain("y")
    house, person = world.app.house, world.human(root)
    settle = house.gateway.settle

    def meanwhile(opened: Any, slug: str) -> bool:
        house.gateway.settle = settle
        assert person.call("reject", claim="another label", value=VALUE, reason="wrong")["ok"]
        return settle(opened, slug)

    house.gateway.settle = meanwhile

    answer = world.at(root).call("memorize", node_label="gateway retries", text=VALUE)

    assert answer["refused"] == "rejected_value"
    assert not world.file(root, "gateway-retries").exists()
    assert world.at(root).seek("payment gateway retries")["results"] == []
