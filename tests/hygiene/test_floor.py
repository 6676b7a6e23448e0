"""The floor: one scan for every site. Each class catches its own and lets its near misses pass."""

import pytest

from hindbrain.engines.hygiene import has_conflict_markers, scan
from hindbrain.policy.hygiene import CLASSES as TABLE
from tests.hygiene.texts import CLASSES, lines, secret
from tests.support.world import World


@pytest.mark.req("MED-287")
def test_med_287_the_corpus_covers_every_class_with_three_of_each() -> None:
    assert set(CLASSES) == set(TABLE)
    for name in CLASSES:
        assert len(lines(name, "refused")) >= 3, name
        assert len(lines(name, "passes")) >= 3, name


@pytest.mark.req("MED-287")
@pytest.mark.parametrize("name", CLASSES)
def test_med_287_each_class_catches_its_own_and_not_its_near_miss(name: str) -> None:
    for line in lines(name, "refused"):
        found = scan(f"before\n{line}\nafter")
        assert found, line
        assert found[0].pattern_class == name, line
        assert found[0].line == 2, line
        assert len(found[0].preview) <= 4
    for line in lines(name, "passes"):
        assert scan(f"before\n{line}\nafter") == (), line


@pytest.mark.req("MED-287", "MED-284")
@pytest.mark.parametrize("name", CLASSES)
def test_med_287_memorize_refuses_and_takes_the_same_lines(world: World, name: str) -> None:
    x = world.brain("x")

    for number, line in enumerate(lines(name, "refused")):
        answer = world.at(x).call("memorize", node_label=f"Refused {number}", text=line)
        assert (answer["refused"], answer["pattern_class"]) == ("hygiene", name), line
    for number, line in enumerate(lines(name, "passes")):
        world.at(x).memorize(f"Passes {number}", line)

    assert world.at(x).north()["memory_exists"] == len(lines(name, "passes"))


@pytest.mark.req("MED-288")
@pytest.mark.parametrize(
    "text",
    [
        "never put a password or an API key into a claim; the token lives in the vault",
        "The secret of good tea is patience.",
        "Rotate the access key every 90 days; see the runbook for the private key of the signer.",
        "password: never write it down",
        "The JWT of a session and the bearer token are both in the keychain.",
    ],
)
def test_med_288_prose_about_secrets_passes(world: World, text: str) -> None:
    world.at(world.brain("x")).memorize("Prose", text)
    assert scan(text) == ()


@pytest.mark.req("MED-289")
@pytest.mark.parametrize(
    "text",
    [
        "commit 3f786850e387550fdab836ed7e6dc881de23001b fixed it",
        "sha256 9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08",
        "SHA256 9F86D081884C7D659A2FEAA0C55AD015A3BF4F1B2B0B822CD15D6C15B0F00A08",
        "run 123e4567-e89b-42d3-a456-426614174000 and 3f78685",
        "delegated as dlg_1783300000000_k3x9qa, letter ltr_1783300000000_a1b2c3, brain 68c5ce186f6efcd2",
        "version 2.14.0-rc.1+build.20260704 of the tool",
        "docs/how-to/promote-a-card.md and src/hindbrain/services/promotion.py:120",
    ],
)
def test_med_289_ids_digests_and_paths_pass(text: str) -> None:
    assert scan(text) == ()


@pytest.mark.req("MED-291")
@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("private_key", "the key: -----BEGIN RSA" + " PRIVATE\nKEY-----\nbody"),
        ("private_key", "-----BEGIN" + " PRIVATE KEY-----\nMIIEvQIBADAN"),
        ("credentialed_url", "postgres://app" + ":\nswordfish9@db.internal/app"),
        ("credentialed_url", "postgres://app:swordfish9" + "\n@db.internal/app"),
    ],
)
def test_med_291_these_two_are_found_across_a_line_break(name: str, text: str) -> None:
    assert [hit.pattern_class for hit in scan(text)][:1] == [name]


@pytest.mark.req("MED-291")
def test_med_291_other_classes_are_per_line_and_fields_are_not_joined(world: World) -> None:
    token = secret("github_token")
    assert scan(token[:20] + "\n" + token[20:]) == ()

    x = world.brain("x")
    answer = world.at(x).call(
        "memorize", node_label="Db", claims=[{"label": "postgres://app:", "text": "swordfish9@db.internal/app"}]
    )

    assert answer["ok"], "two fields are two texts"


@pytest.mark.req("MED-293")
@pytest.mark.parametrize("line", lines("conflict_marker", "passes"))
def test_med_293_only_exactly_seven_at_the_start_are_a_marker(line: str) -> None:
    assert scan(line) == ()
    assert not has_conflict_markers(f"a\n{line}\nb")


@pytest.mark.req("MED-293")
@pytest.mark.parametrize("line", lines("conflict_marker", "refused"))
def test_med_293_windows_line_ends_do_not_hide_a_marker(line: str) -> None:
    assert has_conflict_markers(f"a\r\n{line}\r\nb")
