"""Pages hold together: links lead somewhere, the reference is fresh, shown files are what the program writes."""

import json
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from hindbrain.domain.brain import Brain, BrainId
from hindbrain.domain.claim import Block, Claim, render, slug_of
from tests.architecture.source import ROOT

PAGES = [ROOT / "README.md", ROOT / "CHANGELOG.md", *sorted((ROOT / "docs").rglob("*.md"))]
_LINK = re.compile(r"!?\[[^\]]*\]\(([^)\s]+)\)")
_BLOCK = re.compile(r"^(?:`{3,})(\w+)\n(.*?)^`{3,}$", re.MULTILINE | re.DOTALL)


def anchors(page: Path) -> set[str]:
    """The places within a page that a link may name, as code hosts make them of its headings."""
    heads = re.findall(r"^#+ (.+)$", page.read_text(encoding="utf-8"), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", head.strip().lower()).replace(" ", "-") for head in heads}


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_docs_2_every_link_leads_somewhere(page: Path) -> None:
    broken = []
    for target in _LINK.findall(page.read_text(encoding="utf-8")):
        if re.match(r"[a-z]+:", target):
            continue
        name, _, place = target.partition("#")
        file = (page.parent / name).resolve() if name else page
        if not file.exists() or (place and file.suffix == ".md" and place not in anchors(file)):
            broken.append(target)

    assert broken == []


def test_docs_3_the_reference_is_what_the_code_says() -> None:
    looked = subprocess.run(
        [sys.executable, str(ROOT / "tools" / "reference.py"), "--check"],
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )

    assert (looked.returncode, looked.stderr) == (0, "")


def test_docs_4_the_claim_file_on_the_page_is_what_the_program_writes() -> None:
    claim = Claim(
        label="Retry policy",
        created=1783339200000,
        source_agent="claude-code:maker",
        origin_brain=Brain(id=BrainId("6f1c2c1e-9a53-4f0e-8f2e-3a1d5b7c9e10"), root="/srv/shop", created_ms=0).origin,
        title="Retry policy",
        blocks=(
            Block(
                label="Retry policy",
                text="The worker retries three times, then parks the job.",
                confidence="0.8",
                evidence=("src/worker.py:12",),
            ),
        ),
    )
    page = (ROOT / "docs" / "domain.md").read_text(encoding="utf-8")

    assert render(claim).strip() in page
    assert f"agent-memory/{slug_of(claim.label)}.light.md" in page


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_docs_5_shown_json_and_toml_can_be_read(page: Path) -> None:
    for kind, text in _BLOCK.findall(page.read_text(encoding="utf-8")):
        if kind == "json":
            json.loads(text)
        elif kind == "toml":
            tomllib.loads(text)


@pytest.mark.parametrize("page", sorted((ROOT / "docs" / "decisions").glob("*.md")), ids=lambda page: page.stem)
def test_docs_6_every_decision_says_why_and_what_would_change_it(page: Path) -> None:
    text = page.read_text(encoding="utf-8")

    assert re.match(r"# \d+\. ", text) or re.match(r"# ", text)
    for part in ("Context", "Decision", "Consequences", "What would change our mind"):
        assert part in text


def test_docs_7_the_picture_is_well_formed_and_has_words_for_those_who_cannot_see_it() -> None:
    picture = (ROOT / "docs" / "architecture.svg").read_text(encoding="utf-8")

    assert "<title" in picture
    assert "<desc" in picture
    assert "script" not in picture


def test_docs_8_the_files_that_the_walk_names_exist() -> None:
    """The walk through the house in architecture.md names real files."""
    page = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
    named = set(re.findall(r"`((?:surfaces|operations|services|stores|domain|policy|engines)/\w+\.py)`", page))

    assert len(named) > 10
    assert [name for name in sorted(named) if not (ROOT / "src" / "hindbrain" / name).exists()] == []
