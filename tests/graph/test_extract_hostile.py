"""Files that were made to hurt: they cost what others cost, and never more than their own node."""

import pytest

from hindbrain.engines.code.extract import parse_file
from tests.graph.trees import parsed, symbols


@pytest.mark.req("GR-013")
@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR", "binary"),
        (b"x = 1\n" * 200_000, "larger than 1000000 bytes"),
        (b"var a=1;" * 10_000, "minified"),
    ],
)
def test_gr_013_what_is_not_read_is_still_known(data: bytes, reason: str) -> None:
    one = parse_file("dir/a.js", data, mtime_ns=5_000_000_000)

    assert one.facts.parse == "skipped"
    assert one.warnings == (reason,)
    assert [node.id for node in one.nodes] == ["file::dir/a.js"]
    assert one.nodes[0].last_modified == 5.0
    assert (one.chunks, one.references) == ((), ())


@pytest.mark.parametrize(
    ("path", "text"),
    [
        ("deep.py", "x = " + "(" * 5_000 + ")" * 5_000),
        ("deep.json", "[" * 5_000),
        ("deep.js", "{" * 5_000),
        ("fences.md", "```\n" * 20_001),
        ("hashes.md", "# " + " " * 100_000 + "\n" + "#" * 100_000),
        ("paths.md", "@" * 1_000 + "/a" * 10_000),
        ("open.html", "<script" * 40_000),
        ("heads.html", "<h1" * 40_000 + "<h1>" * 10_000),
        ("ticks.rst", "`" * 50_000),
        ("import.js", "import {" + "a, " * 20_000 + "} from './x'"),
        ("quotes.js", "import " + "'" * 5_000),
        ("empty.py", ""),
        ("blank.md", "\n" * 1_000),
        ("keys.yml", "a: &x\n" + "b: *x\n" * 2_000),
    ],
)
def test_gr_016_strange_input_gives_a_file_node_and_every_line_once(path: str, text: str) -> None:
    one = parsed(path, text + "\n" * (len(text) // 300))  # not so dense that it is taken for minified

    assert one.nodes[0].id == f"file::{path}"
    assert one.facts.parse != "skipped"
    covered = [line for chunk in one.chunks for line in range(chunk.line_start, chunk.line_end + 1)]
    assert covered == list(range(1, one.facts.lines + 1))


def test_gr_016_bytes_that_are_no_text_are_replaced_and_named() -> None:
    one = parsed("a.py", b"# caf\xe9\ndef run():\n    pass\n")

    assert one.warnings == ("not UTF-8: unreadable characters were replaced",)
    assert symbols(one) == ["fn::run function 2-3"]


def test_gr_001_lines_are_right_after_wide_characters_and_carriage_returns() -> None:
    one = parsed("a.py", "x = '日本語 🎈'\r\n\r\ndef run():\r\n    return 1\r\n")

    assert symbols(one) == ["fn::run function 3-4"]


def test_gr_005_a_thousand_equal_names_stay_apart() -> None:
    one = parsed("a.py", "def f(): pass\n" * 1_000)

    assert len({node.id for node in one.nodes}) == 1_001
    assert one.nodes[-1].id == "file::a.py::fn::f#1000"
