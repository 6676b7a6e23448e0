"""The pure parts of code search: questions, scopes, change memory, matching."""

import time

import pytest

from hindbrain.engines.change_memory import ChangeMemory, without_trailers
from hindbrain.engines.code_question import CodeQuestion
from hindbrain.engines.code_view import file_kind, module_name
from hindbrain.engines.matching import Matcher, globbed
from hindbrain.engines.scopes import scope_of
from hindbrain.stores.change_log import head_of

ROOTS = [("/w/shop", ""), ("/w/lib", "@lib/")]


@pytest.mark.parametrize(
    ("path", "kind"),
    [
        ("src/a.py", "source"),
        ("tests/test_a.py", "test"),
        ("pkg/a_test.go", "test"),
        ("web/cart.spec.ts", "test"),
        ("docs/a.py", "document"),
        ("README.md", "document"),
        ("package.json", "data"),
        ("src/vendor/jquery.js", "generated"),
        ("web/app.min.js", "generated"),
        ("examples/run.py", "example"),
        ("src/latest/contest.py", "source"),
    ],
)
def test_gr_081_a_path_says_what_a_file_is_for(path: str, kind: str) -> None:
    assert file_kind(path) == kind


@pytest.mark.parametrize(
    ("path", "module"),
    [("src/a/b.py", "a.b"), ("a/__init__.py", "a"), ("lib/x/index.ts", "x"), ("pkg/mod.rs", "pkg")],
)
def test_gr_079_a_file_is_known_by_the_name_an_import_gives_it(path: str, module: str) -> None:
    assert module_name(path) == module


@pytest.mark.parametrize(
    ("scope", "path", "inside"),
    [
        (None, "src/a.py", True),
        ("src", "src/a.py", True),
        ("src", "src2/a.py", False),
        ("file::src", "src/a.py", True),
        ("/w/shop/src", "src/a.py", True),
        ("file::/w/shop/src/", "src/a.py", True),
        ("/w/shop", "src/a.py", True),
        ("/w/lib/x", "@lib/x/b.py", True),
        ("/w/other", "src/a.py", False),
        ("light::", "src/a.py", False),
        ("src/../src", "src/a.py", True),
    ],
)
def test_gr_083_a_scope_is_a_prefix_of_whole_names(scope: str | None, path: str, inside: bool) -> None:
    assert scope_of(scope, ROOTS).within([path, "src/a.py"]).covers_path(path) is inside


def test_gr_083_a_scope_that_ends_inside_a_name_is_taken_as_it_stands() -> None:
    scope = scope_of("src/re", ROOTS).within(["src/retry.py", "src/cart.py"])

    assert [path for path in ("src/retry.py", "src/cart.py") if scope.covers_path(path)] == ["src/retry.py"]


def test_gr_079_a_question_knows_its_title_names_files_modules_and_frames() -> None:
    text = 'total() is wrong\n\nfrom shop.cart import total\n`Cart` in src/cart.py\n  File "/x/shop/cart.py", line 7, in total\n'

    question = CodeQuestion(text)

    assert question.title == "total() is wrong"
    assert {"total", "Cart"} <= question.names.keys()
    assert "src/cart.py" in question.files
    assert "shop.cart.total" in question.modules
    assert [(frame.path, frame.line, frame.function) for frame in question.frames] == [("/x/shop/cart.py", 7, "total")]


def test_gr_079_files_of_changes_told_alike_come_first_and_small_changes_speak_louder() -> None:
    memory = ChangeMemory(
        [
            ("Fix retry delay", ["retry.py"]),
            ("Fix retry delay everywhere", ["retry.py", "a.py", "b.py", "c.py"]),
            ("Add cart", ["cart.py"]),
        ]
    )

    found = memory.files(["retri", "delay"], {"retry.py", "a.py", "cart.py"})

    assert list(found) == ["retry.py", "a.py"]
    assert found["retry.py"] > found["a.py"] > 0
    assert memory.lately["retry.py"] > memory.lately["cart.py"]


def test_gr_079_signatures_and_addresses_say_nothing() -> None:
    told = without_trailers("Fix it\n\nCo-authored-by: Ann <a@b.c>\nSee https://example.org/retry\nThe delay")

    assert told.split() == ["Fix", "it", "See", "The", "delay"]


def test_gr_079_outside_git_there_is_no_head(tmp_path: object) -> None:
    assert head_of(str(tmp_path)) is None


@pytest.mark.parametrize(
    ("pattern", "text", "lines"),
    [
        ("a", "a\nb\na", [1, 3]),
        ("^$", "a\n\nb\n", [2]),
        (r"a\s+b", "a\nb\na b", [3]),
        ("x*", "a\nb\n", [1, 2]),
        (r"\Ab", "a\nb\n", [2]),
        ("b$", "ab\r\nab\n", [2]),
        (r"a(?=\s)", "a\na b\n", [2]),
        (r"a(?!\s)", "a\na b\n", [1]),
        ("", "", []),
    ],
)
def test_gr_096_every_line_stands_alone(pattern: str, text: str, lines: list[int]) -> None:
    matcher = Matcher(pattern, literal=False, case_sensitive=False)

    assert [hit.first for hit in matcher.hits(text, clock=time.monotonic, seconds=5)] == lines


@pytest.mark.parametrize(
    ("query", "raw", "possible"),
    [("Key", b"a KEY b", True), ("key", "\u212aey".encode(), True), ("zz", b"a b", False), ("gr\u00fc\u00df", b"x", True)],
)
def test_gr_092_a_file_is_passed_over_only_when_it_cannot_have_a_hit(query: str, raw: bytes, possible: bool) -> None:
    assert Matcher(query, literal=True, case_sensitive=False).possible(raw) is possible


def test_gr_100_alternatives_are_written_out_and_too_many_are_not() -> None:
    assert globbed("{a,b}.{py,ts}")("b.ts")
    assert not globbed("{a,b}.{py,ts}")("c.ts")
    assert not globbed("{a,b}" * 30)("a" * 30 + "x")
