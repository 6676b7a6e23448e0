"""Languages: which language a file is in, and the parser and query of a language. Grammars are loaded when first needed."""

import re
from functools import cache
from importlib import import_module
from typing import TYPE_CHECKING

from hindbrain.engines.code.grammar import Grammar

if TYPE_CHECKING:
    from tree_sitter import Parser, Query

__all__ = ["GRAMMARS", "grammar_of", "language_of", "parser_of", "query_of"]

_EXTENSIONS = {
    "python": "py pyi pyw",
    "javascript": "js jsx mjs cjs",
    "typescript": "ts mts cts",
    "tsx": "tsx",
    "go": "go",
    "rust": "rs",
    "java": "java",
    "c": "c h",
    "cpp": "cc cpp cxx c++ hh hpp hxx h++ ipp inl tpp cu cuh",
    "csharp": "cs csx",
    "ruby": "rb rake gemspec ru",
    "php": "php php5 phtml inc",
    "bash": "sh bash zsh ksh bats",
    "markdown": "md markdown mdx",
    "rst": "rst rest",
    "html": "html htm xhtml",
    "json": "json jsonc json5 geojson webmanifest",
    "toml": "toml",
    "yaml": "yaml yml",
    "bibtex": "bib",
    "kotlin": "kt kts",
    "swift": "swift",
    "scala": "scala sc",
    "lua": "lua",
    "perl": "pl pm",
    "r": "r",
    "julia": "jl",
    "dart": "dart",
    "elixir": "ex exs",
    "erlang": "erl hrl",
    "haskell": "hs",
    "ocaml": "ml mli",
    "fsharp": "fs fsi fsx",
    "clojure": "clj cljs cljc",
    "zig": "zig",
    "nim": "nim",
    "groovy": "groovy gradle",
    "objc": "m mm",
    "cython": "pyx pxd pxi",
    "powershell": "ps1 psm1",
    "sql": "sql",
    "proto": "proto",
    "graphql": "graphql gql",
    "terraform": "tf hcl",
    "cmake": "cmake",
    "css": "css scss sass less",
    "vue": "vue",
    "svelte": "svelte",
    "xml": "xml xsd xsl svg",
    "text": "txt text log cfg ini conf properties env csv tsv tex",
}
_BY_EXTENSION = {extension: language for language, all_of in _EXTENSIONS.items() for extension in all_of.split()}
_BY_NAME = {
    "makefile": "make",
    "gnumakefile": "make",
    "dockerfile": "docker",
    "cmakelists.txt": "cmake",
    "rakefile": "ruby",
    "gemfile": "ruby",
    "vagrantfile": "ruby",
    "jenkinsfile": "groovy",
    "pipfile": "toml",
    "cargo.lock": "toml",
    "go.mod": "gomod",
    ".bashrc": "bash",
    ".bash_profile": "bash",
    ".zshrc": "bash",
    ".profile": "bash",
}
_SHEBANG = re.compile(rb"^#!\s*\S*?/?(?:env\s+(?:-S\s+)?)?([A-Za-z]+)[\d.]*(?:\s|$)")
_BY_PROGRAM = {
    "python": "python",
    "pypy": "python",
    "node": "javascript",
    "nodejs": "javascript",
    "deno": "typescript",
    "bun": "typescript",
    "sh": "bash",
    "bash": "bash",
    "zsh": "bash",
    "ksh": "bash",
    "dash": "bash",
    "ruby": "ruby",
    "php": "php",
    "perl": "perl",
    "lua": "lua",
}
_CPP_HEADER = re.compile(
    rb"^\s*(?:class\s+\w|namespace\s+\w|template\s*<|using\s+\w|(?:public|private|protected)\s*:)", re.MULTILINE
)

# language -> (module of the grammar, function in it, module of our query, name in it)
GRAMMARS = {
    "python": ("tree_sitter_python", "language", "python", "PYTHON"),
    "javascript": ("tree_sitter_javascript", "language", "javascript", "JAVASCRIPT"),
    "typescript": ("tree_sitter_typescript", "language_typescript", "javascript", "TYPESCRIPT"),
    "tsx": ("tree_sitter_typescript", "language_tsx", "javascript", "TSX"),
    "go": ("tree_sitter_go", "language", "go", "GO"),
    "rust": ("tree_sitter_rust", "language", "rust", "RUST"),
    "java": ("tree_sitter_java", "language", "java", "JAVA"),
    "c": ("tree_sitter_c", "language", "c", "C"),
    "cpp": ("tree_sitter_cpp", "language", "c", "CPP"),
    "csharp": ("tree_sitter_c_sharp", "language", "csharp", "CSHARP"),
    "ruby": ("tree_sitter_ruby", "language", "ruby", "RUBY"),
    "php": ("tree_sitter_php", "language_php", "php", "PHP"),
    "bash": ("tree_sitter_bash", "language", "bash", "BASH"),
    "json": ("tree_sitter_json", "language", "", "JSON"),
    "toml": ("tree_sitter_toml", "language", "", "TOML"),
    "yaml": ("tree_sitter_yaml", "language", "", "YAML"),
}


def language_of(path: str, data: bytes = b"") -> str:
    """The language of a file by its name, else by its first line; `text` when nothing tells."""
    name = path.rsplit("/", 1)[-1].lower()
    stem, dot, extension = name.rpartition(".")
    language = _BY_NAME.get(name) or (_BY_EXTENSION.get(extension) if dot and stem else None)
    if language is None:
        language = _BY_NAME.get(name.split(".", 1)[0])
    if language == "c" and extension == "h" and _CPP_HEADER.search(data[:65536]):
        return "cpp"
    if language is None and (found := _SHEBANG.match(data[:200])):
        language = _BY_PROGRAM.get(found[1].decode("ascii"))
    return language or "text"


@cache
def grammar_of(language: str) -> Grammar:
    """The query and rules of a language that has a grammar."""
    _, _, module, name = GRAMMARS[language]
    home = f"hindbrain.engines.code.queries.{module}" if module else "hindbrain.engines.document_data"
    grammar = getattr(import_module(home), name)
    if not isinstance(grammar, Grammar):
        raise TypeError(f"{module}.{name} is no grammar")
    return grammar


@cache
def parser_of(language: str) -> "Parser":
    """The one parser of a language in this process."""
    from tree_sitter import Language, Parser

    package, function, _, _ = GRAMMARS[language]
    return Parser(Language(getattr(import_module(package), function)()))


@cache
def query_of(language: str) -> "Query":
    """The compiled query of a language."""
    from tree_sitter import Query

    tongue = parser_of(language).language
    if tongue is None:
        raise TypeError(f"the parser of {language} has no language")
    return Query(tongue, grammar_of(language).query)
