"""Resolution: names to definitions, imports to files, tests to what they test."""

import pytest

from hindbrain.engines.code.pairs import is_test, stems_told_by
from tests.graph.trees import Tree


@pytest.mark.req("GR-018", "GR-019")
def test_gr_018_every_relation_has_its_weight_and_its_causal_strength() -> None:
    tree = Tree(
        {
            "app/base.py": "class Base:\n    pass\n\n\ndef mark(f):\n    return f\n\n\ndef step():\n    return 1\n",
            "app/main.py": (
                "from app.base import Base, mark, step\nimport app.routes\n\n\nclass Main(Base):\n    @mark\n"
                "    def go(self, to: Base):\n        step()\n        app.include_router(app.routes)\n"
            ),
            "app/routes.py": "router = 1\n",
            "tests/test_base.py": "from app.base import step\n",
            "lib.rs": "mod util;\nstruct Dog;\ntrait Pet {}\nimpl Pet for Dog {}\n",
            "util.rs": "fn help() {}\n",
            "README.md": "# Read\nSee `app/base.py` and `step`.\n",
        }
    )

    found = tree.strengths()

    go = "app/main.py::class::Main::fn::go"
    assert found[("app/main.py", "imports", "app/base.py")] == (0.6, 0.6)
    assert found[("app/main.py", "imports", "app/base.py::fn::step")] == (0.5, 0.6)
    assert found[("app/main.py::class::Main", "inherits", "app/base.py::class::Base")] == (0.7, 0.4)
    assert found[("lib.rs::struct::Dog", "implements", "lib.rs::trait::Pet")] == (0.7, 0.4)
    assert found[(go, "calls", "app/base.py::fn::step")] == (0.4, 0.5)
    assert found[(go, "references", "app/base.py::fn::mark")] == (0.4, 0.4)
    assert found[(go, "references", "app/base.py::class::Base")] == (0.3, 0.4)
    assert found[(go, "registers", "app/routes.py")] == (0.7, 0.7)
    assert found[("app/main.py", "registers", "app/routes.py")] == (0.7, 0.7)
    assert found[("tests/test_base.py", "tests", "app/base.py")] == (0.5, 0.5)
    assert found[("lib.rs", "declares_module", "util.rs")] == (0.7, 0.4)
    assert found[("README.md::section::read", "references", "app/base.py")] == (0.5, 0.4)
    assert found[("README.md::section::read", "mentions", "app/base.py::fn::step")] == (0.5, 0.4)


def test_gr_020_of_two_definitions_the_imported_one_is_meant() -> None:
    tree = Tree(
        {
            "a/config.py": "class Config: ...\n",
            "b/config.py": "class Config: ...\n",
            "use.py": "from b.config import Config\n\n\ndef run():\n    return Config()\n",
            "guess.py": "def run(box):\n    return box.Config()\n",
        }
    )

    assert "use.py::fn::run calls b/config.py::class::Config" in tree.edges("use.py")
    assert not any("a/config.py" in edge for edge in tree.edges("use.py"))
    assert (tree.answers["guess.py"].ambiguous, tree.answers["guess.py"].edges) == (1, [])


def test_gr_020_the_own_file_comes_before_what_is_imported_and_scopes_are_kept() -> None:
    tree = Tree(
        {
            "far.py": "def help(): ...\n",
            "a.py": (
                "from far import *\n\n\ndef help(): ...\n\n\nclass A:\n    def help(self): ...\n\n    def run(self):\n"
                "        help()\n        self.help()\n\n\ndef outer():\n    def inner(): ...\n    inner()\n"
            ),
        }
    )

    assert {edge for edge in tree.edges("a.py") if " calls " in edge} == {
        "a.py::class::A::fn::run calls a.py::fn::help",
        "a.py::class::A::fn::run calls a.py::class::A::fn::help",
        "a.py::fn::outer calls a.py::fn::outer::fn::inner",
    }


def test_gr_020_a_member_is_found_in_what_a_class_inherits() -> None:
    tree = Tree(
        {
            "pkg/__init__.py": "from pkg.base import Base\n",
            "pkg/base.py": "class Root:\n    def stamp(self): ...\n\n\nclass Base(Root): ...\n",
            "use.py": "from pkg import Base\n\n\nclass Mine(Base):\n    def run(self):\n        self.stamp()\n",
        }
    )

    assert "use.py::class::Mine inherits pkg/base.py::class::Base" in tree.edges("use.py")
    assert "use.py::class::Mine::fn::run calls pkg/base.py::class::Root::fn::stamp" in tree.edges("use.py")


def test_gr_021_what_is_not_in_the_tree_is_counted_and_makes_no_node() -> None:
    tree = Tree(
        {
            "a.py": "import os\nimport requests\n\n\ndef run():\n    os.getcwd()\n    requests.get('x')\n",
            "lib/get.py": "def get(): ...\n",
        }
    )

    assert tree.answers["a.py"].edges == []
    assert tree.answers["a.py"].unresolved == 4


@pytest.mark.parametrize(
    ("files", "path", "edge"),
    [
        ({"src/pkg/a.py": "", "src/pkg/b.py": "from . import a\n"}, "src/pkg/b.py", "src/pkg/b.py imports src/pkg/a.py"),
        ({"src/pkg/a.py": "", "tests/t.py": "import pkg.a\n"}, "tests/t.py", "tests/t.py imports src/pkg/a.py"),
        (
            {"pkg/__init__.py": "", "pkg/x/c.py": "from .. import y\n", "pkg/y.py": ""},
            "pkg/x/c.py",
            "pkg/x/c.py imports pkg/y.py",
        ),
        ({"ui/a.ts": "import {x} from './b'\n", "ui/b/index.tsx": ""}, "ui/a.ts", "ui/a.ts imports ui/b/index.tsx"),
        ({"ui/a.ts": "import './b.js'\n", "ui/b.ts": ""}, "ui/a.ts", "ui/a.ts imports ui/b.ts"),
        ({"src/a.ts": "import x from '@/lib/b'\n", "src/lib/b.ts": ""}, "src/a.ts", "src/a.ts imports src/lib/b.ts"),
        (
            {
                "go.mod": "module example.com/x\n",
                "util/u.go": "package util\nfunc Do() {}\n",
                "m.go": 'import "example.com/x/util"\nfunc f() { util.Do() }\n',
            },
            "m.go",
            "m.go::fn::f calls util/u.go::fn::Do",
        ),
        (
            {
                "a.go": "package p\nfunc f() { help() }\n",
                "b.go": "package p\nfunc help() {}\n",
                "z/c.go": "package z\nfunc help() {}\n",
            },
            "a.go",
            "a.go::fn::f calls b.go::fn::help",
        ),
        (
            {"src/lib.rs": "mod a;\n", "src/a/mod.rs": "pub struct S;\n", "src/b.rs": "use crate::a::S;\nfn f(s: S) {}\n"},
            "src/b.rs",
            "src/b.rs::fn::f references src/a/mod.rs::struct::S",
        ),
        (
            {
                "j/com/x/Foo.java": "class Foo { static void go() {} }",
                "j/com/y/B.java": "import com.x.Foo;\nclass B { void f() { Foo.go(); } }",
            },
            "j/com/y/B.java",
            "j/com/y/B.java::class::B::fn::f calls j/com/x/Foo.java::class::Foo::fn::go",
        ),
        ({"src/a.c": '#include "inc/x.h"\n', "inc/x.h": "int a;\n"}, "src/a.c", "src/a.c imports inc/x.h"),
        (
            {"a.c": "int f(void) { return help(); }\n", "lib/b.c": "int help(void) { return 1; }\n"},
            "a.c",
            "a.c::fn::f calls lib/b.c::fn::help",
        ),
        ({"a.rb": "require_relative 'lib/b'\n", "lib/b.rb": ""}, "a.rb", "a.rb imports lib/b.rb"),
        (
            {"src/Models/User.php": "<?php class User {}", "a.php": "<?php use App\\Models\\User; function f() { new User(); }"},
            "a.php",
            "a.php::fn::f calls src/Models/User.php::class::User",
        ),
        ({"a.sh": ". ./lib.sh\ngo\n", "lib.sh": "go() { true; }\n"}, "a.sh", "a.sh calls lib.sh::fn::go"),
        ({"a.ts": "export {x} from './b'\n", "b.ts": "export function x() {}\n"}, "a.ts", "a.ts reexports b.ts::fn::x"),
        (
            {
                "i.ts": "export * from './b'\n",
                "b.ts": "export function x() {}\n",
                "u.ts": "import {x} from './i'\nfunction f() { x() }\n",
            },
            "u.ts",
            "u.ts::fn::f calls b.ts::fn::x",
        ),
        ({"ci.yml": "run: python tools/go.py\n", "tools/go.py": ""}, "ci.yml", "ci.yml::key::run configures tools/go.py"),
        (
            {"web/package.json": '{"dependencies": {"@x/core": "*"}}', "packages/core/index.ts": ""},
            "web/package.json",
            "web/package.json depends_on packages/core/index.ts",
        ),
    ],
)
def test_gr_020_each_language_finds_its_modules(files: dict[str, str], path: str, edge: str) -> None:
    assert edge in Tree(files).edges(path)


def test_gr_020_of_a_package_of_several_files_those_are_imported_that_are_used() -> None:
    tree = Tree(
        {
            "go.mod": "module x.y/z\n",
            "util/a.go": "package util\nfunc A() {}\n",
            "util/b.go": "package util\nfunc B() {}\n",
            "util/b_test.go": "package util\nfunc C() {}\n",
            "use.go": 'package main\nimport "x.y/z/util"\nfunc f() { util.B() }\n',
            "idle.go": 'package main\nimport _ "x.y/z/util"\n',
        }
    )

    assert tree.edges("use.go") == {"use.go imports util/b.go", "use.go::fn::f calls util/b.go::fn::B"}
    assert tree.edges("idle.go") == {"idle.go imports util/a.go"}


def test_gr_020_a_name_that_needs_an_import_is_not_found_without_one() -> None:
    tree = Tree({"src/lib.rs": "fn f(r: Result, e: E) {}\n", "src/other.rs": "type Result = u8;\nstruct E;\n"})

    assert tree.edges("src/lib.rs") == set()


def test_gr_021_a_module_inside_a_package_is_no_top_level_module() -> None:
    tree = Tree({"pkg/__init__.py": "", "pkg/json.py": "", "a.py": "import json\n", "pkg/b.py": "import json\n"})

    assert (tree.answers["a.py"].edges, tree.answers["pkg/b.py"].edges) == ([], [])


@pytest.mark.parametrize(
    ("files", "test", "tested"),
    [
        (["auth.py", "tests/test_auth.py"], "tests/test_auth.py", "auth.py"),
        (["pkg/auth/__init__.py", "tests/test_auth.py"], "tests/test_auth.py", "pkg/auth/__init__.py"),
        (["a/x.py", "b/x.py", "tests/b/test_x.py"], "tests/b/test_x.py", "b/x.py"),
        (["src/v.ts", "src/v.test.ts"], "src/v.test.ts", "src/v.ts"),
        (["p/s.go", "p/s_test.go"], "p/s_test.go", "p/s.go"),
        (["m/Foo.java", "t/FooTest.java"], "t/FooTest.java", "m/Foo.java"),
        (["lib/x.rb", "spec/x_spec.rb"], "spec/x_spec.rb", "lib/x.rb"),
    ],
)
def test_gr_022_a_test_file_is_bound_to_what_its_name_says(files: list[str], test: str, tested: str) -> None:
    assert f"{test} tests {tested}" in Tree(dict.fromkeys(files, "")).edges(test)


def test_gr_022_two_files_of_one_name_are_no_answer_and_part_of_a_name_needs_an_import() -> None:
    torn = Tree(dict.fromkeys(["a/x.py", "b/x.py", "test_x.py"], ""))
    part = Tree({"auth.py": "def login(): ...\n", "test_auth_login.py": "from auth import login\n", "test_auth_other.py": ""})

    assert torn.edges("test_x.py") == set()
    assert "test_auth_login.py tests auth.py" in part.edges("test_auth_login.py")
    assert part.edges("test_auth_other.py") == set()


def test_gr_022_what_is_a_test() -> None:
    assert is_test("tests/helper.py")
    assert not is_test("src/latest.py")
    assert stems_told_by("tests/test_auth_login.py") == ["auth_login", "auth"]


def test_gr_034_documents_name_files_from_the_root_from_themselves_or_by_a_unique_end() -> None:
    tree = Tree(
        {
            "src/auth.py": "def login(): ...\n",
            "docs/guide.md": "# G\n`src/auth.py`, [more](more.md), `engine.py`, `x/same.py`, `nowhere.py`, `login()`\n",
            "docs/more.md": "",
            "src/deep/engine.py": "",
            "a/x/same.py": "",
            "b/x/same.py": "",
        }
    )

    assert tree.edges("docs/guide.md") == {
        "docs/guide.md::section::g references src/auth.py",
        "docs/guide.md::section::g references docs/more.md",
        "docs/guide.md::section::g references src/deep/engine.py",
        "docs/guide.md::section::g mentions src/auth.py::fn::login",
    }
    assert tree.answers["docs/guide.md"].ambiguous == 1


def test_gr_020_the_order_of_files_does_not_matter() -> None:
    files = {
        "a.py": "from b import f\n\n\ndef g():\n    f()\n",
        "b.py": "from c import f\n",
        "c.py": "def f(): ...\n",
    }

    assert Tree(files).strengths() == Tree(dict(reversed(files.items()))).strengths()


@pytest.mark.parametrize(
    "files",
    [
        {"a.py": "from b import x\n", "b.py": "from a import x\n"},
        {"a.py": "from b import *\nx()\n", "b.py": "from a import *\n"},
        {"a.py": "class C(C): ...\n"},
        {"a.py": "class D(E): ...\n\n\nclass E(D):\n    def f(self):\n        self.gone()\n"},
        {"a.py": "class A(A.B):\n    class B(A.B): ...\n\n    def f(self):\n        self.x.y()\n        A.B.gone()\n"},
        {"a.rb": "class A < A::A\n  def f(x)\n    A::A::A.go(x)\n  end\nend\n", "b.rb": "class A < A::A\nend\n"},
        {
            "a.ts": "export * from './b'\n",
            "b.ts": "export * from './a'\nexport * from './b'\n",
            "c.ts": "import {x} from './a'\nx()\n",
        },
    ],
)
def test_gr_020_what_leads_round_in_a_circle_ends(files: dict[str, str]) -> None:
    tree = Tree(files)

    assert all(edge[1] != edge[0] for one in tree.answers.values() for edge in one.edges)
    assert sum(one.unresolved + one.ambiguous + one.resolved for one in tree.answers.values()) > 0


def test_gr_020_a_thousand_files_that_pass_all_names_on_cost_each_one_look() -> None:
    every = "".join(f"export * from './m{n}'\n" for n in range(60))
    tree = Tree({f"m{n}.ts": every for n in range(60)} | {"use.ts": "import {gone} from './m0'\ngone()\n"})

    assert tree.edges("use.ts") == {"use.ts imports m0.ts"}
