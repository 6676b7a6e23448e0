"""Every command on README.md and the how-to pages runs, ends as the page says, and prints what the page shows."""

from pathlib import Path

import pytest

from tests.architecture.source import ROOT
from tests.docs.console import Command, Terminal, commands, missing

PAGES = [ROOT / "README.md", *sorted((ROOT / "docs" / "how-to").glob("*.md"))]

# The address that pages use for a team's database; the tests put their own server there.
TEAM = "postgresql://hindbrain@db.example.com/hindbrain"


# Pages about processes. The others are read with an owner up, as `make run` leaves it, which is also quicker.
WITHOUT_OWNER = ("migrate-a-mixed-medulla", "when-something-is-wrong")


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_docs_1_every_command_of_a_page_does_what_the_page_says(
    page: Path, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    text = page.read_text(encoding="utf-8")
    if TEAM in text:
        text = text.replace(TEAM, request.getfixturevalue("postgres_schema_url"))
    script = commands(text)
    terminal = Terminal(tmp_path, mode="auto" if page.stem in WITHOUT_OWNER else "owner")
    problems: list[str] = []
    try:
        for command in script:
            code, output = terminal.run(command)
            where = f"{page.name}:{command.line}: $ {command.text}"
            if code != command.exit_code:
                problems.append(f"{where}\n  ended with {code}, not {command.exit_code}; it printed:\n{output}")
                break
            if absent := missing(command, output, terminal.home):
                problems.append(f"{where}\n  did not print: {absent}\n  but:\n{output}")
    finally:
        terminal.close()

    assert script, f"{page.name} shows no command"
    assert not problems, "\n\n".join(problems)


def test_docs_1_the_comparison_notices_what_is_wrong(tmp_path: Path) -> None:
    """Control: a page that lies is found out."""
    page = "```console\n$ printf 'one\\ntwo\\n'\none\n…\n$ false # exit 1\n$ printf 'three words here\\n'\nthree … here\n```\n"
    terminal = Terminal(tmp_path)
    first, second, third = commands(page)

    code, output = terminal.run(first)

    assert (code, missing(first, output, terminal.home)) == (0, [])
    assert missing(Command(text="", line=0, output=["two", "one"]), output, terminal.home) == ["one"]
    assert missing(Command(text="", line=0, output=["three"]), output, terminal.home) == ["three"]
    assert terminal.run(second)[0] == second.exit_code == 1
    assert missing(third, terminal.run(third)[1], terminal.home) == []
