"""Python files: symbols, places, references, imports and chunks."""

import hashlib

import pytest

from hindbrain.engines.code.extract import file_id
from tests.graph.trees import parsed, references, symbols

SOURCE = '''"""Sends letters."""
import os, a.b as c
from ..x import (y as z,  # why
    w)
LIMIT = 3
lower = 4


@app.route("/x")
@cached
def send(letter: Letter, to: list[Person] | None) -> "Later":
    """Send one letter."""
    text = "def fake(): pass"
    return post(letter.box.open(1), self.stamp())


class Office(Base, mod.Mixin[T]):
    """A place."""

    def run(self) -> None:
        send(self)

    @property
    def run(self) -> Kind:
        app.include_router(thing)

    class Inner:
        def run(self): ...
'''


@pytest.mark.req("GR-001", "GR-005", "GR-017")
def test_gr_005_symbols_carry_their_parents_and_duplicates_a_number() -> None:
    assert symbols(parsed("src/post.py", SOURCE)) == [
        "const::LIMIT concept 5-5",
        "fn::send function 11-14",
        "class::Office class 17-28",
        "class::Office::fn::run function 20-21",
        "class::Office::fn::run#2 function 24-25",
        "class::Office::class::Inner class 27-28",
        "class::Office::class::Inner::fn::run function 28-28",
    ]


def test_gr_001_a_node_has_its_fields() -> None:
    one = parsed("src/post.py", SOURCE)

    root, send = one.nodes[0], one.nodes[2]
    assert (root.id, root.label, root.kind, root.path) == ("file::src/post.py", "post.py", "file", "src/post.py")
    assert (root.line_start, root.line_end, root.excerpt, root.tags) == (1, 28, "Sends letters.", ("python",))
    assert send.excerpt == 'def send(letter: Letter, to: list[Person] | None) -> "Later":'
    assert send.path == "src/post.py"
    assert one.nodes[4].tags == ("method",)


def test_gr_017_what_a_symbol_uses_is_told_with_the_symbol() -> None:
    assert references(parsed("src/post.py", SOURCE)) == [
        "send decorator app.route",
        "send decorator cached",
        "send type Letter",
        "send type Person",
        "send calls post",
        "send calls letter.box.open",
        "send calls self.stamp",
        "Office inherits Base",
        "Office inherits mod.Mixin",
        "run calls send",
        "run#2 type Kind",
        "run#2 calls app.include_router",
        "run#2 registers thing",
    ]


def test_gr_017_imports_are_kept_as_written() -> None:
    assert parsed("src/post.py", SOURCE).imports == (("os", "os"), ("c", "a.b"), ("z", "..x#y"), ("w", "..x#w"))


def test_gr_017_a_string_is_no_code_and_a_broken_file_is_still_read() -> None:
    quoted = parsed("a.py", 'text = """\ndef fake():\n    pass\n"""\n')
    broken = parsed("b.py", "def whole():\n    return 1\n\ndef half(:\n    x = = 2\n")

    assert symbols(quoted) == []
    assert quoted.facts.parse == "full"
    assert broken.nodes[0].id == "file::b.py"
    assert broken.facts.parse == "fallback"
    assert "fn::whole function 1-2" in symbols(broken)


def test_gr_018_contains_binds_fully_and_causes_nothing() -> None:
    one = parsed("src/post.py", SOURCE)

    assert {(edge.relation, edge.weight, edge.causal) for edge in one.edges} == {("contains", 1.0, 0.0)}
    assert ("file::src/post.py::class::Office", "file::src/post.py::class::Office::fn::run") in {
        (edge.source, edge.target) for edge in one.edges
    }


@pytest.mark.req("GR-003", "GR-027")
def test_gr_003_the_same_bytes_give_the_same_answer() -> None:
    first, again = parsed("src/post.py", SOURCE), parsed("./src//post.py", SOURCE)

    assert first == again
    assert first.facts.sha256 == hashlib.sha256(SOURCE.encode()).hexdigest()
    assert (first.facts.size, first.facts.lines, first.facts.language) == (len(SOURCE.encode()), 28, "python")


@pytest.mark.parametrize("path", ["", ".", "./", "/", "a/../b.py", ".."])
def test_gr_004_a_path_that_names_no_file_gives_no_node(path: str) -> None:
    assert file_id(path) is None
    assert parsed(path, "x = 1").nodes == ()
    assert parsed(path, "x = 1").warnings


def test_gr_001_a_file_is_found_by_its_path_its_definitions_and_their_docstrings() -> None:
    words = parsed("src/post.py", SOURCE).names.split()

    assert {"post", "letter", "offic", "send", "limit"} <= set(words)
    assert "stamp" not in words


@pytest.mark.parametrize("lines", [1, 59, 60, 61, 80, 81, 200, 1000])
def test_gr_016_chunks_cover_every_line_once(lines: int) -> None:
    body = "\n".join(f"def f{n}():\n    return {n}\n" if n % 7 == 0 else f"x{n} = {n}" for n in range(lines)) + "\n"

    one = parsed("a.py", body)

    covered = [line for chunk in one.chunks for line in range(chunk.line_start, chunk.line_end + 1)]
    assert covered == list(range(1, one.facts.lines + 1))
    assert max(chunk.line_end - chunk.line_start + 1 for chunk in one.chunks) <= 80


def test_gr_016_a_symbol_that_fills_a_chunk_stays_whole() -> None:
    before = "\n".join(f"a{n} = {n}" for n in range(40))
    body = "\n".join(f"    b{n} = {n}" for n in range(70))
    text = f"{before}\ndef long():\n{body}\n{before}\n"

    assert (41, 111) in {(chunk.line_start, chunk.line_end) for chunk in parsed("a.py", text).chunks}
