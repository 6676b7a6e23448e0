"""Rejected values stay away: CONF-09, CONF-10, CONF-11, CONF-13."""

import unicodedata
from collections.abc import Callable
from typing import Any

import pytest

from hindbrain.policy.limits import DAY_MS
from tests.conformance.house import background, found
from tests.support.world import World

REJECTED = "The default port of the harbour service is 1337."
NEIGHBOUR = "The default port of the harbour service is 1338."


def rejecting(world: World) -> str:
    a = world.brain("a")
    world.at(a).memorize("Harbour port", REJECTED, confidence=0.9, state="verified")
    assert world.human(a).call("reject", claim="harbour-port", reason="it moved")["ended"]
    return a


def test_conf_09_a_rejected_value_stays_rejected_after_another_took_its_place(any_world: World) -> None:
    a = rejecting(any_world)
    any_world.at(a).memorize("Harbour port", NEIGHBOUR, confidence=0.5)

    restated = [
        any_world.at(a, agent).call("memorize", node_label=label, text=REJECTED, confidence=1.0, state="verified", tier=tier)
        for agent in ("codex:maker", "gemini:reviewer", "claude:orchestrator")
        for label in ("Harbour port", "Port, seen again", "Corroborated: harbour port")
        for tier in (None, "project")
    ]

    assert {answer.get("refused") for answer in restated} == {"rejected_value"}
    assert found(any_world, a, "default port of the harbour") == [NEIGHBOUR]


def test_conf_10_the_rejection_outlives_every_pass(any_world: World) -> None:
    a = rejecting(any_world)
    any_world.at(a).memorize("Harbour neighbour", NEIGHBOUR)
    for _ in range(4):
        any_world.clock.forward(400 * DAY_MS)
        background(any_world)

    again = any_world.at(a).call("memorize", node_label="Harbour port", text=REJECTED, confidence=1.0, state="verified")

    assert again["refused"] == "rejected_value"
    assert found(any_world, a, "default port of the harbour") == [NEIGHBOUR]


# -- CONF-11: disguises ----------------------------------------------------------------------------------------------


def swapped(pairs: str) -> Callable[[str], str]:
    """A disguise that swaps letters for look-alikes, given as `aа eе …`."""
    table = {pair[0]: pair[1] for pair in pairs.split()}
    return lambda text: "".join(table.get(c, c) for c in text)


def shifted(first: str) -> Callable[[str], str]:
    """A disguise in another alphabet of Unicode that begins with this capital and goes on with the small letters."""

    def disguise(text: str) -> str:
        return "".join(
            chr(ord(first) + ord(c) - ord("A"))
            if "A" <= c <= "Z"
            else chr(ord(first) + 26 + ord(c) - ord("a"))
            if "a" <= c <= "z"
            else c
            for c in text
        )

    return disguise


DISGUISES: dict[str, Callable[[str], str]] = {
    "upper case": str.upper,
    "lower case": str.lower,
    "swapped case": str.swapcase,
    "wide spacing": lambda text: text.replace(" ", "   \t "),
    "no spacing": lambda text: text.replace(" ", ""),
    "line breaks": lambda text: text.replace(" ", "\n"),
    "spaced letters": " ".join,
    "no-break spaces": lambda text: text.replace(" ", "\u00a0"),
    "ideographic spaces": lambda text: text.replace(" ", "\u3000"),
    "punctuation": lambda text: f"«{text.replace(' ', ', ').rstrip('.')}!»",
    "markdown": lambda text: f"**{text}**",
    "zero-width": lambda text: "\u200b".join(text),
    "soft hyphens": lambda text: "\u00ad".join(text),
    "joiners": lambda text: "\u2060".join(text),
    "variation selectors": lambda text: "\ufe0f".join(text),
    "tag characters": lambda text: "".join(c + chr(0xE0061) for c in text),
    "direction marks": lambda text: "\u202e" + text + "\u202c",
    "combining accents": lambda text: "".join(c + "\u0301" if c.isalpha() else c for c in text),
    "decomposed": lambda text: unicodedata.normalize("NFD", text.replace("a", "á")),
    "full width": lambda text: "".join(chr(ord(c) + 0xFEE0) if "!" <= c <= "~" else c for c in text),
    "Cyrillic": swapped("aа eе oо pр cс xх yу iі sѕ hһ TТ"),
    "Cyrillic capitals": lambda text: swapped("AА BВ EЕ HН KК MМ OО PР CС TТ XХ")(text.upper()),
    "Greek": swapped("oο vν tτ pρ uυ iι"),
    "Greek capitals": lambda text: swapped("AΑ BΒ EΕ HΗ IΙ KΚ MΜ NΝ OΟ PΡ TΤ XΧ")(text.upper()),
    "mathematical bold": shifted("𝐀"),
    "mathematical script": shifted("𝓐"),
    "monospace": shifted("𝙰"),
    "double-struck digits": lambda text: "".join(chr(0x1D7D8 + int(c)) if c.isdigit() else c for c in text),
    "circled": lambda text: "".join(chr(0x24D0 + ord(c) - 97) if "a" <= c <= "z" else c for c in text.lower()),
    "small capitals": swapped("aᴀ bʙ cᴄ dᴅ eᴇ fꜰ gɢ hʜ iɪ jᴊ kᴋ lʟ mᴍ nɴ oᴏ pᴘ rʀ sꜱ tᴛ uᴜ vᴠ wᴡ yʏ zᴢ"),
    "squared": lambda text: "".join(chr(0x1F170 + ord(c) - 65) if "A" <= c <= "Z" else c for c in text.upper()),
    "strokes": swapped("oø tŧ lł dđ hħ iɨ"),
}


# A disguise is seen through before any database is asked; a server sees some of them.
WORN = [("sqlite", name) for name in DISGUISES] + [("postgres", name) for name in list(DISGUISES)[::8]]


@pytest.mark.parametrize(("any_world", "name"), WORN, indirect=["any_world"])
def test_conf_11_no_disguise_brings_a_rejected_value_back(any_world: World, name: str) -> None:
    a = rejecting(any_world)
    disguise = DISGUISES[name]

    answer = any_world.at(a).call("memorize", node_label="Seen again", text=disguise(REJECTED))
    neighbour = any_world.at(a).call("memorize", node_label="Neighbour", text=disguise(NEIGHBOUR))

    assert answer.get("refused") == "rejected_value", answer
    assert neighbour["ok"], neighbour
    assert any_world.file(a, "neighbour").is_file()


@pytest.mark.parametrize(
    ("value", "case"),
    [
        ("Порт гавани по умолчанию тысяча триста", str.upper),
        ("ПОРТ ГАВАНИ ПО УМОЛЧАНИЮ ТЫСЯЧА ТРИСТА", str.lower),
        ("Η προεπιλεγμένη θύρα του λιμανιού", str.upper),
        ("Die Straße zum Hafen heißt Große Elbstraße", str.upper),
        ("港湾服务的默认端口号是一三三七端口号是一三三七", lambda text: "　".join(text)),
        ("المنفذ الافتراضي لخدمة الميناء هو ألف", lambda text: text.replace(" ", "  ")),
    ],
)
def test_conf_11_case_and_spacing_are_disguises_in_every_script(any_world: World, value: str, case: Any) -> None:
    a = any_world.brain("a")
    any_world.at(a).memorize("Harbour port", value)
    any_world.human(a).call("reject", claim="harbour-port")

    answer = any_world.at(a).call("memorize", node_label="Another label", text=case(value))

    assert answer.get("refused") == "rejected_value", answer
    assert any_world.at(a).call("memorize", node_label="Another label", text=case(value + " 2"))["ok"]


def test_conf_11_splitting_a_value_over_blocks_is_a_disguise(any_world: World) -> None:
    a = rejecting(any_world)
    halves = [{"label": "one", "text": REJECTED[:24]}, {"label": "two", "text": REJECTED[24:]}]
    hidden = [{"label": "one", "text": "the pier has two lamps"}, {"label": "two", "text": REJECTED}]

    for blocks in (halves, hidden):
        answer = any_world.at(a).call("memorize", node_label="In pieces", claims=blocks)
        assert answer.get("refused") == "rejected_value"

    kept = [{"label": "one", "text": NEIGHBOUR[:24]}, {"label": "two", "text": NEIGHBOUR[24:]}]
    assert any_world.at(a).call("memorize", node_label="In pieces", claims=kept)["ok"]


PARAPHRASES = (
    "The harbour service listens on port 1337 by default.",
    "By default the harbour service's port is 1337.",
    "1337 is the harbour service's default port.",
    "Port 1337 is what the harbour service uses unless told otherwise.",
    "The default port of the harbour service is thirteen thirty-seven.",
    "The standard port of the harbour service is 1337.",
    "The default port of the harbor service is 1337.",
    "the default p0rt of the harbour service is 1337",
    "I heard that the default port of the harbour service is 1337.",
    "The default port of the harbour service is 1337. The lamps are blue.",
    "The default ports of the harbour service are 1337.",
    "Default harbour service port: 1337",
)


def test_conf_11_a_paraphrase_is_on_the_other_side_of_the_line(any_world: World, record_property: Any) -> None:
    """The line is the text itself, folded: every disguise of it is refused, another wording of its meaning is not.

    The count is asserted, so that it changes in a commit and not in silence; the how-to page tells it.
    """
    a = rejecting(any_world)

    refused = [
        text
        for number, text in enumerate(PARAPHRASES)
        if any_world.at(a).call("memorize", node_label=f"Paraphrase {number}", text=text).get("refused")
    ]

    record_property("paraphrases_refused", f"{len(refused)} of {len(PARAPHRASES)}")
    assert (len(refused), len(PARAPHRASES), len(DISGUISES)) == (0, 12, 32)


# -- CONF-13: not a second unit --------------------------------------------------------------------------------------


def test_conf_13_a_second_ingest_makes_no_second_unit(any_world: World) -> None:
    """The export, and the files of the repository, still have the rejected value: it is refused, not hidden when read."""
    a = any_world.brain("a")
    any_world.at(a).memorize("Harbour port", REJECTED)
    for number in range(5):
        any_world.at(a).memorize(f"Lamp {number}", f"lamp {number} hangs in the harbour")
    export = str(any_world.place / "before.tar.gz")
    any_world.at(a).call("export", target=export)
    text = any_world.file(a, "harbour-port").read_text()
    any_world.human(a).call("reject", claim="harbour-port")
    versions = any_world.at(a).call("history", claim="harbour-port")["versions"]

    report = any_world.human(a).call("import", source=export)
    any_world.file(a, "harbour-port").write_text(text)
    any_world.file(a, "harbour-port-2").write_text(text.replace("Node: Harbour port", "Node: Harbour port 2"))
    told = found(any_world, a, "default port lamp harbour")

    assert [one["name"] for one in report["refused"]] == ["harbour-port"]
    assert len(report["unchanged"]) == 5
    assert any_world.at(a).call("history", claim="harbour-port")["versions"] == versions
    assert any_world.at(a).call("history", claim="harbour-port-2").get("error", {}).get("code") == "unknown_claim"
    assert any_world.at(a).north("harbour")["memory_exists"] == 5
    brain = any_world.home.project(a)
    assert brain is not None
    with any_world.app.house.brains.use(brain) as opened:
        assert not any("1337" in version.text for version in opened.store.each_live())
    assert told == [f"lamp {number} hangs in the harbour" for number in range(5)]
    report = any_world.at(a).call("doctor")
    named = " ".join(one["text"] for one in (*report["warnings"], *report["notes"]))
    assert "harbour-port-2.light.md" in named
    assert "harbour-port.light.md" in named or "(harbour-port) ended" in named
