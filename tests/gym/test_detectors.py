"""What every scripted agent sees in a text: the shape that is wrong, and not the one beside it that is right."""

import pytest

from hindbrain.domain.gym_fixture import AnswerKey, Finding, GymFamily, Seed
from hindbrain.engines.gym_crossing import crossed
from hindbrain.engines.gym_detectors import DETECTORS, suspicions
from hindbrain.engines.gym_key import matched

WRONG_AND_RIGHT = {
    "mutable_default": ("def f(a=[]):\n    return a\n", "def f(a=()):\n    return a\n"),
    "swallowed_exception": (
        "try:\n    go()\nexcept Exception:\n    pass\n",
        "try:\n    go()\nexcept OSError as problem:\n    raise Stop from problem\n",
    ),
    "literal_identity": ("def f(a):\n    return a is 3\n", "def f(a):\n    return a is None\n"),
    "strip_prefix": ("name = word.lstrip('no-')\n", "name = word.lstrip('-')\n"),
    "unguarded_state": (
        "class A:\n    def one(self):\n        with self._lock:\n            self.n = 1\n    def two(self):\n"
        "        self.n += 1\n",
        "class A:\n    def one(self):\n        with self._lock:\n            self.n = 1\n    def two(self):\n"
        "        with self._lock:\n            self.n += 1\n",
    ),
    "wait_without_loop": (
        "class A:\n    def __init__(self):\n        self.c = threading.Condition()\n    def f(self):\n        self.c.wait()\n",
        "class A:\n    def __init__(self):\n        self.c = threading.Condition()\n    def f(self):\n        while self.n:\n"
        "            self.c.wait()\n",
    ),
    "lock_not_released": (
        "def f(l):\n    l.acquire()\n    go()\n    l.release()\n",
        "def f(l):\n    l.acquire()\n    try:\n        go()\n    finally:\n        l.release()\n",
    ),
    "wall_clock_deadline": ("end = time.time() + 3\n", "stamp = time.time()\n"),
    "late_binding": (
        "for n in names:\n    table[n] = lambda x: go(n, x)\n",
        "for n in names:\n    table[n] = lambda x, n=n: go(n, x)\n",
    ),
    "mutated_while_iterated": (
        "for n in table:\n    del table[n]\n",
        "for n in list(table):\n    del table[n]\n",
    ),
    "loses_last": (
        "out = [xs[i] for i in range(len(xs) - 1)]\n",
        "out = [xs[i] + xs[i + 1] for i in range(len(xs) - 1)]\n",
    ),
}


def test_aol_230_every_detector_has_its_two_texts() -> None:
    assert set(WRONG_AND_RIGHT) == set(DETECTORS)


@pytest.mark.parametrize("kind", WRONG_AND_RIGHT)
def test_aol_230_a_detector_tells_the_wrong_text_from_the_right_one(kind: str) -> None:
    wrong, right = WRONG_AND_RIGHT[kind]

    assert [one.kind for one in suspicions("a.py", wrong)] == [kind]
    assert suspicions("a.py", right) == ()
    assert suspicions("a.md", wrong) == ()


def test_aol_202_a_documented_signature_is_held_against_the_function() -> None:
    code = "def kept(a, b=1):\n    return a\n"
    document = "`pkg.mod.kept(a, b=2)`\n`pkg.mod.gone()`\n`pkg.mod.kept(a, b=1)`\n`other.thing(x)`\n"

    found = crossed({"docs/a.md": document, "src/pkg/mod.py": code}, None)

    assert [(one.line, one.kind) for one in found] == [(1, "other_signature"), (2, "no_such_name")]


def test_aol_206_version_changelog_and_leftovers_are_held_against_each_other() -> None:
    texts = {
        "pyproject.toml": 'version = "2.0"\ndependencies = ["a @ git+https://example.invalid/a"]\n',
        "src/p/__init__.py": '__version__ = "1.9"\n',
        "src/p/x.py": "def f():\n    breakpoint()\n",
        "CHANGELOG.md": "## 1.9\n",
    }

    assert {one.kind for one in crossed(texts, None)} == {"version", "changelog", "unreleased", "debugging"}
    mended = {"pyproject.toml": 'version = "1.9"\n', **{path: texts[path] for path in ("src/p/__init__.py", "CHANGELOG.md")}}
    assert crossed(mended, None) == ()


def test_aol_207_a_binding_is_stale_when_its_file_or_its_symbol_is_gone() -> None:
    note = "[⟁ binds_to: src/a.py::kept]\n[⟁ binds_to: src/a.py::gone]\n[⟁ binds_to: src/b.py]\n"
    texts = {"notes/n.md": note, "src/a.py": "def kept():\n    pass\n"}

    found = crossed(texts, ("notes/n.md", "src/a.py"))

    assert [one.line for one in found] == [2, 3]


def seed(number: int, first: int, last: int, symbol: str) -> Seed:
    return Seed(
        seed_id=f"S{number}",
        repository="r",
        path="a.py",
        first_line=first,
        last_line=last,
        kind="k",
        statement="s",
        symbol=symbol,
    )


def finding(line: int | None, symbol: str | None = None, path: str = "a.py") -> Finding:
    return Finding(finding_id="f", path=path, statement="s", line=line, symbol=symbol)


def test_aol_198_a_finding_names_a_seed_by_line_or_symbol_and_each_counts_once() -> None:
    key = AnswerKey(
        fixture="x",
        family=GymFamily.SEEDED_BUG_HUNT,
        digest="",
        seeds=(seed(1, 10, 12, "f"), seed(2, 30, 30, "g")),
    )

    assert matched(key, [finding(11), finding(12), finding(None, "g")]) == {0: "S1", 2: "S2"}
    assert matched(key, [finding(32), finding(33)]) == {0: "S2"}  # a line or two beside it, no more
    assert matched(key, [finding(11, path="b.py"), finding(None)]) == {}
    assert matched(key, [finding(13, "g")]) == {0: "S2"}  # the symbol says which of two near places is meant
