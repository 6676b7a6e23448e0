"""What shows only when two texts are held against each other: signatures in documents, versions, bindings of L1GHT. Pure."""

import ast
import re
from collections.abc import Iterator, Mapping

from hindbrain.engines.gym_detectors import Suspicion

__all__ = ["crossed"]

_SIGNATURE = re.compile(r"`([a-z_][\w.]*)\(([^`]*)\)`")
_BINDING = re.compile(r"^\[⟁ binds_to: (?P<path>[^\s:\]]+)(?:::(?P<symbol>[\w.]+))?\]\s*$")
_PROJECT_VERSION = re.compile(r'^version\s*=\s*"([^"]+)"', re.MULTILINE)
_CODE_VERSION = re.compile(r'^__version__\s*=\s*"([^"]+)"', re.MULTILINE)
_RELEASED = re.compile(r"^## (\S+)", re.MULTILINE)
_LEFT_BEHIND = re.compile(r"\bbreakpoint\(\)|\bpdb\.set_trace\(\)|print\(.DEBUG")
_UNRELEASED = re.compile(r'"[^"]*(?:git\+|\.dev\d|@ file:)[^"]*"')


def crossed(texts: Mapping[str, str], files: tuple[str, ...] | None) -> tuple[Suspicion, ...]:
    """Everything that the texts read so far, and the listing, say against each other."""
    found = [*_signatures(texts), *_versions(texts), *_leftovers(texts), *_bindings(texts, files)]
    return tuple(sorted(found, key=lambda one: (one.path, one.line, one.kind)))


def _signatures(texts: Mapping[str, str]) -> Iterator[Suspicion]:
    """`module.function(a, b=1)` in a document against the function of that name."""
    known = {path: _functions(text) for path, text in texts.items() if path.endswith(".py")}
    for path, text in texts.items():
        if not path.endswith(".md"):
            continue
        for number, line in enumerate(text.splitlines(), 1):
            for match in _SIGNATURE.finditer(line):
                module, _, name = match[1].rpartition(".")
                home = next((one for one in known if module and one.removesuffix(".py").endswith(module.replace(".", "/"))), None)
                if home is None:
                    continue
                said, real = re.sub(r"\s+", " ", match[2]).strip(), known[home].get(name)
                if real is None:
                    yield _at(path, number, match[1], "no_such_name", f"{match[1]} is documented and does not exist")
                elif said not in ("", "…", "...") and said != real:
                    yield _at(path, number, match[1], "other_signature", f"{match[1]}({said}) takes ({real})")


def _functions(text: str) -> dict[str, str]:
    try:
        tree = ast.parse(text)
    except SyntaxError:
        return {}
    found = {node.name: ast.unparse(node.args) for node in tree.body if isinstance(node, ast.FunctionDef)}
    found |= {node.name: "" for node in tree.body if isinstance(node, ast.ClassDef)}
    return {name: re.sub(r"\s+", " ", words) for name, words in found.items()}


def _versions(texts: Mapping[str, str]) -> Iterator[Suspicion]:
    project = next((m for path, text in texts.items() if path == "pyproject.toml" and (m := _PROJECT_VERSION.search(text))), None)
    if project is None:
        return
    for path, text in texts.items():
        if path.endswith("__init__.py") and (own := _CODE_VERSION.search(text)) and own[1] != project[1]:
            yield _at(path, _line(text, own.start()), "__version__", "version", f"{own[1]} where the project says {project[1]}")
        if path.upper().startswith("CHANGELOG") and project[1] not in _RELEASED.findall(text):
            yield _at(path, 1, "", "changelog", f"the changelog has no entry for {project[1]}")


def _leftovers(texts: Mapping[str, str]) -> Iterator[Suspicion]:
    for path, text in texts.items():
        if path.endswith(".py") and not path.startswith("tests/") and (left := _LEFT_BEHIND.search(text)):
            yield _at(path, _line(text, left.start()), "", "debugging", "a help of debugging was left behind")
        if path == "pyproject.toml":
            for one in _UNRELEASED.finditer(text):
                yield _at(path, _line(text, one.start()), "", "unreleased", f"{one[0]} is no released version")


def _bindings(texts: Mapping[str, str], files: tuple[str, ...] | None) -> Iterator[Suspicion]:
    """A binding of a L1GHT document against the file and the symbol that it names."""
    for path, text in texts.items():
        for number, line in enumerate(text.splitlines(), 1):
            match = _BINDING.match(line) if path.endswith(".md") else None
            if match is None:
                continue
            if files is not None and match["path"] not in files:
                yield _at(path, number, match["path"], "stale_binding", f"{match['path']} is bound and does not exist")
            elif match["symbol"] and match["path"] in texts and not _defines(texts[match["path"]], match["symbol"]):
                yield _at(path, number, match["symbol"], "stale_binding", f"{match['path']} has no {match['symbol']} any more")


def _defines(text: str, symbol: str) -> bool:
    last = symbol.rpartition(".")[2]
    return re.search(rf"^\s*(?:async )?(?:def|class) {re.escape(last)}\b", text, re.MULTILINE) is not None


def _at(path: str, line: int, symbol: str, kind: str, statement: str) -> Suspicion:
    return Suspicion(path=path, line=line, symbol=symbol, kind=kind, statement=statement)


def _line(text: str, at: int) -> int:
    return text.count("\n", 0, at) + 1
