"""The floor against realistic secrets, disguised ones, innocent texts and hostile input. The table: benchmarks/secret_scan.py."""

from pathlib import Path

import pytest

from hindbrain.engines.hygiene import redacted, scan
from hindbrain.policy.vendor_tokens import VENDOR_TOKENS
from tests.support.secret_lists import DISGUISES, INNOCENT, SECRETS

ROOT = Path(__file__).parents[2]


def test_at_least_95_of_100_realistic_secrets_are_refused() -> None:
    stored = [label for label, text in SECRETS.items() if not scan(text)]

    assert len(SECRETS) >= 80
    assert len(stored) <= len(SECRETS) * 4 / 80, stored


def test_disguised_secrets_are_refused() -> None:
    stored = [label for label, text in DISGUISES.items() if not scan(text)]

    assert len(DISGUISES) >= 20
    assert len(stored) <= 2, stored


def test_innocent_texts_pass() -> None:
    refused = {label: scan(text)[0].pattern_class for label, text in INNOCENT.items() if scan(text)}

    assert len(INNOCENT) >= 63
    assert len(refused) <= 3, refused


def test_the_sources_of_this_repository_pass() -> None:
    paths = [*sorted((ROOT / "src").rglob("*.py")), *sorted((ROOT / "docs").rglob("*.md"))]
    refused = [
        f"{path.name}:{hit.line} {hit.pattern_class}"
        for path in paths
        for hit in scan(path.read_text(encoding="utf-8"))
        if hit.pattern_class != "conflict_marker"
    ]

    assert len(refused) <= 3, refused


@pytest.mark.parametrize("label", [*SECRETS, *DISGUISES])
def test_a_finding_shows_four_characters_and_a_redacted_text_is_clean(label: str) -> None:
    text = "before\n" + {**SECRETS, **DISGUISES}[label] + "\nafter"

    for hit in scan(text):
        assert len(hit.preview) <= 4
        assert 1 < hit.line <= hit.last_line < text.count("\n") + 1
    assert scan(redacted(text)) == ()
    assert redacted(text).startswith(("before\n", "[redacted"))


def test_every_vendor_row_compiles_and_has_hints() -> None:
    for row in VENDOR_TOKENS:
        assert row.expression.pattern
        assert row.hints


# Each would take minutes if an expression could go back over what it has read.
HOSTILE = (
    *(
        "a",
        "A1b2",
        "-",
        "=",
        "token=",
        "password ",
        "password: ",
        "token: abc1234567 ",
        "curl ",
        "user=a password",
        "://",
        "a://b:",
    ),
    *(
        "a://b:c@",
        "-----BEGIN ",
        "eyJ",
        "eyJaaaaaaaaaa.",
        "AKIA",
        "%41 ",
        "\\x41\\x41\\x41\\x41 ",
        "&#65;",
        "a b ",
        "41 ",
        "41:",
        "ab",
    ),
    *(
        "abcd1 ",
        "'a' + 'b' ",
        "'a'\n'b'\n",
        '"""',
        "<password>",
        "<password a",
        "name: TOKEN\nvalue: ",
        "machine a login ",
        "mysql -",
    ),
    *(
        "echo a ",
        "\n",
        "=======\n",
        "secret is ",
        "secret a-b-c ",
        "\u0430",
        "\uff21",
        "\u200b",
        "arn:",
        "cookie: a ",
        "seed phrase abandon ",
    ),
    *("authorization: bearer ", '((((token("', "YWJj" * 10 + " ", "Password=a;", "x.y.z.", "%2525", "[[[", "/hooks/"),
)


@pytest.mark.parametrize("part", HOSTILE)
def test_hostile_input_is_read_in_linear_time(part: str) -> None:
    scan(part * (100_000 // len(part)))
    scan(part * (20_000 // len(part)) + "!")
