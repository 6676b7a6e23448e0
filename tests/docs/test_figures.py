"""Figures on pages: each stands on the page of measurements, beside the command that measures it."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
MEASURED = ROOT / "docs" / "benchmarks.md"
FIGURE = re.compile(
    r"\b\d[\d,.]*\s?(?:ms|milliseconds?|s|seconds?|minutes?|[kKMG]B|bytes|points?|%|(?:lines|rows|texts) (?:a|per) second)(?!\w)"
)
# Pages for users. Reference pages state settings, and decisions quote what was tried then.
PAGES = [
    ROOT / "README.md",
    ROOT / "CHANGELOG.md",
    ROOT / "docs" / "architecture.md",
    *sorted((ROOT / "docs" / "how-to").glob("*.md")),
]


def figures(text: str) -> set[str]:
    """The figures of a text, code left out: an example's output is checked by running it."""
    plain = re.sub(r"`{3,}.*?`{3,}", "", text, flags=re.DOTALL)
    return {re.sub(r"\s+", " ", one).rstrip(".,") for one in FIGURE.findall(plain)}


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_gr_183_every_figure_of_a_page_is_on_the_page_of_measurements(page: Path) -> None:
    assert figures(page.read_text(encoding="utf-8")) <= figures(MEASURED.read_text(encoding="utf-8"))


def test_gr_183_the_check_sees_figures_and_only_outside_of_code() -> None:
    assert figures("It takes 31 ms and 24 MB, or 62,000 lines a second.\n```\n99 ms\n```\n") == {
        *("31 ms", "24 MB", "62,000 lines a second"),
    }


def test_gr_183_every_measurement_stands_beside_the_command_that_makes_it() -> None:
    text = MEASURED.read_text(encoding="utf-8")
    sections = re.split(r"^## ", text, flags=re.MULTILINE)[1:]

    assert sections
    assert [section.splitlines()[0] for section in sections if "make bench NAME=" not in section] == []
    named = set(re.findall(r"make bench NAME=(\w+)", text))
    assert named == {path.stem for path in (ROOT / "benchmarks").glob("[a-z]*.py")}
