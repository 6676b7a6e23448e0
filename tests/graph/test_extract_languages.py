"""One small file per language: exactly its symbols, its references and its imports."""

from dataclasses import dataclass

import pytest

from hindbrain.engines.code.languages import GRAMMARS, grammar_of, language_of, query_of
from tests.graph.trees import parsed, references, symbols


@dataclass(frozen=True)
class Case:
    path: str
    text: str
    symbols: tuple[str, ...]
    references: tuple[str, ...] = ()
    imports: tuple[tuple[str, str], ...] = ()


CASES = {
    "javascript": Case(
        "a.jsx",
        """import React, {useState as use} from 'react';
const {k: v} = require('./k');
export default class App extends React.Component { render() { return <Foo.Bar x={y()}><Baz/></Foo.Bar>; } }
module.exports.go = function() { return import('./lazy'); };
export const LIMIT = 3;
""",
        (
            "class::App class 3-3",
            "class::App::fn::render function 3-3",
            "fn::go function 4-4",
            "const::LIMIT concept 5-5",
        ),
        ("App inherits React.Component", "render calls Foo.Bar", "render calls y", "render calls Baz"),
        (("use", "react#useState"), ("React", "react#default"), ("v", "./k#k"), ("", "./lazy")),
    ),
    "typescript": Case(
        "a.ts",
        """import * as ns from "../y";
export {q} from './z';
export class Foo<T> extends Bar.Baz implements IFoo, G<X> {
  run = async (a: Arg): Promise<Ret> => { this.go(a); ns.call(); new Widget(); }
}
interface I extends J { m(a: P): void }
type U = A | B;
enum E { A }
namespace N { export function inner() {} }
export const arrow = (x) => ns.b(x);
""",
        (
            "class::Foo class 3-5",
            "class::Foo::fn::run function 4-4",
            "trait::I type 6-6",
            "trait::I::fn::m function 6-6",
            "type::U type 7-7",
            "enum::E enum 8-8",
            "mod::N module 9-9",
            "mod::N::fn::inner function 9-9",
            "fn::arrow function 10-10",
        ),
        (
            "Foo inherits Bar.Baz",
            "Foo implements IFoo",
            "Foo implements G",
            "Foo type X",
            "run type Arg",
            "run type Ret",
            "run calls this.go",
            "run calls ns.call",
            "run calls Widget",
            "I inherits J",
            "m type P",
            "U type A",
            "U type B",
            "arrow calls ns.b",
        ),
        (("ns", "../y#*"), ("export q", "./z#q")),
    ),
    "tsx": Case(
        "a.tsx",
        "export function View(p: Props) { return <Row key={id()} />; }\n",
        ("fn::View function 1-1",),
        ("View type Props", "View calls Row", "View calls id"),
    ),
    "go": Case(
        "a.go",
        """package main
import (
  "fmt"
  u "example.com/x/util"
)
const Limit = 3
type Server struct { Base; conf *Config }
type Runner interface { Run(x int) error }
type ID string
func (s *Server) Run(x Conf) *Out { s.stop(); u.Do(x); return nil }
func New() { helper(Server{}) }
func (l List[T]) Each() {}
""",
        (
            "const::Limit concept 6-6",
            "struct::Server struct 7-7",
            "trait::Runner type 8-8",
            "type::ID type 9-9",
            "struct::Server::fn::Run function 10-10",
            "fn::New function 11-11",
            "impl::List::fn::Each function 12-12",
        ),
        (
            "Server inherits Base",
            "Server type Config",
            "Run type Server",
            "Run type Conf",
            "Run calls s.stop",
            "Run calls u.Do",
            "New calls helper",
            "New calls Server",
        ),
        (("fmt", "fmt"), ("u", "example.com/x/util")),
    ),
    "rust": Case(
        "a.rs",
        """use crate::a::{b::C, d as e, self};
mod sub;
const MAX: u32 = 3;
pub struct Point { x: Num }
pub trait Shape: Base { fn area(&self) -> f64; }
impl Shape for Point { fn area(&self) -> f64 { self.len(); Foo::make(1); 0.0 } }
mod inner { fn deep() { helper(); } }
""",
        (
            "const::MAX concept 3-3",
            "struct::Point struct 4-4",
            "trait::Shape type 5-5",
            "trait::Shape::fn::area function 5-5",
            "struct::Point::fn::area function 6-6",
            "mod::inner module 7-7",
            "mod::inner::fn::deep function 7-7",
        ),
        (
            "a.rs declares_module sub",
            "Point type Num",
            "Shape inherits Base",
            "Point implements Shape",
            "area calls self.len",
            "area calls Foo.make",
            "deep calls helper",
        ),
        (("C", "crate::a::b#C"), ("e", "crate::a#d"), ("a", "crate::a")),
    ),
    "java": Case(
        "A.java",
        """import com.y.Foo;
import static com.z.Util.help;
import com.w.*;
@Service
public class A extends Base<T> implements I {
  public A(Repo r) { }
  @Override public Out run(In in) { helper(); repo.find(in); new Thing(); a.b().c(); return null; }
}
interface I { void m(); }
enum Color { RED }
""",
        (
            "class::A class 4-8",
            "class::A::fn::A function 6-6",
            "class::A::fn::run function 7-7",
            "trait::I type 9-9",
            "trait::I::fn::m function 9-9",
            "enum::Color enum 10-10",
        ),
        (
            "A decorator Service",
            "A inherits Base",
            "A type Base",
            "A type T",
            "A implements I",
            "A type Repo",
            "run type Out",
            "run type In",
            "run calls helper",
            "run calls repo.find",
            "run calls Thing",
            "run calls a.b",
            "run calls ?.c",
        ),
        (("Foo", "com.y.Foo#Foo"), ("help", "com.z.Util#help"), ("*", "com.w.*")),
    ),
    "c": Case(
        "a.c",
        """#include "util/x.h"
#define MAX 3
static int *run(struct conf *c, Foo f) { helper(f); c->cb(1); return 0; }
typedef struct node { int a; } node;
enum color { RED };
""",
        ("const::MAX concept 2-2", "fn::run function 3-3", "struct::node struct 4-4", "enum::color enum 5-5"),
        ("run type conf", "run type Foo", "run calls helper", "run calls c.cb"),
        (("", "util/x.h"),),
    ),
    "cpp": Case(
        "a.cpp",
        """#include "a.hpp"
namespace ns {
class Foo : public Base {
  void run(const Conf& c) { go(); this->stop(); other::call(); }
};
void Foo::later() { }
}
""",
        (
            "mod::ns module 2-7",
            "mod::ns::class::Foo class 3-5",
            "mod::ns::class::Foo::fn::run function 4-4",
            "mod::ns::class::Foo::fn::later function 6-6",
        ),
        ("Foo inherits Base", "run type Conf", "run calls go", "run calls this.stop", "run calls other.call"),
        (("", "a.hpp"),),
    ),
    "csharp": Case(
        "a.cs",
        """using Foo.Bar;
namespace N {
  [Serializable]
  public class A : Base { public Out Run(In x) { Go(); this.Stop(); new Thing(); return null; } }
  struct S {}
}
""",
        ("class::A class 3-4", "class::A::fn::Run function 4-4", "struct::S struct 5-5"),
        (
            "A decorator Serializable",
            "A inherits Base",
            "Run type Out",
            "Run type In",
            "Run calls Go",
            "Run calls this.Stop",
            "Run calls Thing",
        ),
        (("", "Foo.Bar"),),
    ),
    "ruby": Case(
        "a.rb",
        """require 'json'
require_relative "lib/x"
MAX = 3
module M
  class A < Base::B
    include Mixin
    def run(x)
      helper(x)
      Foo.new(1)
      @repo.find x
    end
  end
end
""",
        (
            "const::MAX concept 3-3",
            "mod::M module 4-13",
            "mod::M::class::A class 5-12",
            "mod::M::class::A::fn::run function 7-11",
        ),
        ("A inherits Base.B", "A implements Mixin", "run calls helper", "run calls Foo", "run calls repo.find"),
        (("", "json"), ("", "./lib/x")),
    ),
    "php": Case(
        "a.php",
        """<?php
use App\\Models\\User;
require_once __DIR__ . '/lib/x.php';
class A extends Base implements I {
  public function run(User $u): ?Out { $this->stop(); helper($u); new Thing(); Util::go(); return null; }
}
function f() {}
""",
        ("class::A class 4-6", "class::A::fn::run function 5-5", "fn::f function 7-7"),
        (
            "A inherits Base",
            "A implements I",
            "run type User",
            "run type Out",
            "run calls this.stop",
            "run calls helper",
            "run calls Thing",
            "run calls Util.go",
        ),
        (("User", "App\\Models\\User#User"), ("", "lib/x.php")),
    ),
    "bash": Case(
        "a.sh",
        'source ./lib.sh\nMAX=3\nrun() { helper "$1"; echo hi; }\n',
        ("const::MAX concept 2-2", "fn::run function 3-3"),
        ("run calls helper",),
        (("", "./lib.sh"),),
    ),
    "kotlin": Case(
        "A.kt",
        "import c.d.E\nclass Foo(val x: Int) : Bar() {\n  suspend fun run() {}\n}\nfun top() = 1\n",
        ("class::Foo class 2-2", "fn::run function 3-4", "fn::top function 5-5"),
        (),
        (("E", "c.d.E#E"),),
    ),
}


@pytest.mark.req("GR-016")
@pytest.mark.parametrize("language", sorted(CASES))
def test_gr_016_each_language_has_its_symbols_references_and_imports(language: str) -> None:
    case = CASES[language]

    one = parsed(case.path, case.text)

    assert one.facts.language == language
    assert one.facts.parse == ("text" if language == "kotlin" else "full")
    assert one.nodes[0].id == f"file::{case.path}"
    assert symbols(one) == list(case.symbols)
    assert references(one) == list(case.references)
    assert one.imports == case.imports


def test_gr_016_an_unknown_ending_gives_a_file_node() -> None:
    one = parsed("notes.xyz", "hello\nworld\n")

    assert [node.kind for node in one.nodes] == ["file"]
    assert (one.facts.parse, one.facts.lines) == ("text", 2)
    assert one.chunks[0].terms == "hello world"


@pytest.mark.parametrize("language", sorted(GRAMMARS))
def test_gr_016_every_grammar_loads_and_its_query_is_understood(language: str) -> None:
    assert query_of(language).capture_count > 0
    assert grammar_of(language).query


@pytest.mark.parametrize(
    ("path", "data", "language"),
    [
        ("a/b.py", b"", "python"),
        ("Makefile", b"", "make"),
        ("Dockerfile.dev", b"", "docker"),
        ("run", b"#!/usr/bin/env python3\n", "python"),
        ("run", b"#!/bin/sh -e\n", "bash"),
        ("x.h", b"class Foo {\n", "cpp"),
        ("x.h", b"int f(void);\n", "c"),
        (".py", b"", "text"),
        ("LICENSE", b"", "text"),
    ],
)
def test_gr_016_a_language_is_known_by_name_or_first_line(path: str, data: bytes, language: str) -> None:
    assert language_of(path, data) == language
