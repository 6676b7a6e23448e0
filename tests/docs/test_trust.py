"""The table of trust words: each row names a test that exists, and each word is one that our pages use."""

import re
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PAGE = ROOT / "docs" / "trust.md"


def rows() -> list[list[str]]:
    lines = [line for line in PAGE.read_text(encoding="utf-8").splitlines() if line.startswith("| ")]
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in lines[1:]]


def test_every_trust_word_names_tests_that_exist() -> None:
    missing = []
    for word, _, _, tests in rows():
        named = re.findall(r"`(tests/[^`]+)`", tests)
        assert named, word
        for one in named:
            path, _, name = one.partition("::")
            file = ROOT / path
            if not file.is_file() or (name and f"def {name}(" not in file.read_text(encoding="utf-8")):
                missing.append(one)
    assert missing == []


def test_every_trust_word_says_what_it_does_not_promise() -> None:
    assert [word for word, promises, limits, _ in rows() if not promises or not limits] == []


def test_every_trust_word_is_used_by_the_pages() -> None:
    pages = [ROOT / "README.md", *(ROOT / "docs" / "how-to").glob("*.md"), ROOT / "docs" / "protection.md"]
    text = "\n".join(page.read_text(encoding="utf-8") for page in pages).lower().replace("-", " ")
    assert [word for word, *_ in rows() if word.lower() not in text] == []
