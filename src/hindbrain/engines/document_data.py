"""Data files: the top two levels of keys of JSON, TOML and YAML, the files they name, and the packages a manifest asks for."""

import json
import re
from bisect import bisect_right

from hindbrain.engines.code.grammar import Grammar
from hindbrain.engines.code.sweep import Found, Use
from hindbrain.engines.documents import named_in

__all__ = ["JSON", "TOML", "YAML", "add_names", "packages_of", "read_go_module"]

_JSON = """
(document (object (pair key: (string (string_content) @name)) @key))
(document (object (pair value: (object (pair key: (string (string_content) @name)) @key))))
"""
_TOML = """
(document (pair [(bare_key) (quoted_key) (dotted_key)] @name) @key)
(table [(bare_key) (quoted_key) (dotted_key)] @name) @key
(table_array_element [(bare_key) (quoted_key) (dotted_key)] @name) @key
(table (pair [(bare_key) (quoted_key) (dotted_key)] @name) @key)
"""
_YAML = """
(document (block_node (block_mapping (block_mapping_pair key: (flow_node) @name) @key)))
(document (block_node (block_mapping (block_mapping_pair
  value: (block_node (block_mapping (block_mapping_pair key: (flow_node) @name) @key))))))
"""
JSON = Grammar(query=_JSON)
TOML = Grammar(query=_TOML)
YAML = Grammar(query=_YAML)

_MOST_NAMES = 500
_MOST_PACKAGES = 300
_REQUIREMENT = re.compile(r"^\s*['\"]?([A-Za-z][\w.-]*)(?:\[[^\]]*\])?\s*(?:[<>=!~;,'\"@ ].*)?$")
_GO_REQUIRE = re.compile(r"^\s*(?:require\s+)?([\w.-]+\.[\w./-]+)\s+v\d")
_TOML_TABLE = re.compile(r"^\s*\[+\s*([\w.\"'-]+)\s*\]+")
_TOML_KEY = re.compile(r"^\s*([\w-]+)\s*=")


def add_names(found: Found, data: bytes) -> None:
    """Add the files that a configuration names, each from the key around it."""
    seen: set[tuple[int, str, str]] = set()
    starts = [symbol.start for symbol in found.symbols]
    at = 0
    for line in data.split(b"\n"):
        if b"." in line:
            here = _key_at(found, starts, at + len(line))
            for capture, name, qualifier in named_in(line.decode("utf-8", "replace")):
                key = (here, name, qualifier)
                if capture == "ref.file" and key not in seen and len(seen) < _MOST_NAMES:
                    seen.add(key)
                    found.uses.append((here, "ref.config", name, qualifier, at))
        at += len(line) + 1


def _key_at(found: Found, starts: list[int], byte: int) -> int:
    """The innermost key whose value reaches to this byte."""
    here = bisect_right(starts, byte) - 1
    while here >= 0 and found.symbols[here].end < byte:
        here = found.symbols[here].parent
    return here


def packages_of(path: str, text: str) -> list[Use]:
    """The packages a manifest depends on."""
    name = path.rsplit("/", 1)[-1].lower()
    if name == "package.json":
        names = _of_package_json(text)
    elif name in ("pyproject.toml", "cargo.toml", "pipfile"):
        names = _of_toml(text)
    elif name.startswith("requirements") and name.endswith((".txt", ".in")):
        names = [found[1] for line in text.split("\n") if (found := _REQUIREMENT.match(line.split("#", 1)[0].rstrip()))]
    elif name == "go.mod":
        names = [found[1] for line in text.split("\n") if (found := _GO_REQUIRE.match(line))]
    else:
        return []
    return [(-1, "ref.package", one, "package:", 0) for one in list(dict.fromkeys(names))[:_MOST_PACKAGES]]


def _of_package_json(text: str) -> list[str]:
    try:
        manifest = json.loads(text)
    except (ValueError, RecursionError):
        return []
    if not isinstance(manifest, dict):
        return []
    keys = ("dependencies", "devDependencies", "peerDependencies", "optionalDependencies")
    return [str(one) for key in keys if isinstance(manifest.get(key), dict) for one in manifest[key]]


def _of_toml(text: str) -> list[str]:
    """By lines: lists called dependencies, and tables whose name ends so."""
    names: list[str] = []
    table, listing = "", False
    for line in text.split("\n"):
        if found := _TOML_TABLE.match(line):
            table, listing = found[1].lower(), False
        elif listing:
            names += _listed(line)
            listing = not line.strip().startswith("]")
        elif (found := _TOML_KEY.match(line)) is not None:
            if found[1].lower() == "dependencies" or table.endswith("optional-dependencies"):
                inside = line.split("=", 1)[1].strip()
                names += [one for part in inside.strip("[]").split(",") for one in _listed(part)]
                listing = inside.startswith("[") and "]" not in inside
            elif table.endswith(("dependencies", "packages")):
                names.append(found[1])
    return names


def _listed(line: str) -> list[str]:
    item = line.strip().rstrip(",")
    found = _REQUIREMENT.match(item) if item[:1] in ("'", '"') else None
    return [found[1]] if found else []


def read_go_module(text: str) -> list[tuple[str, str]]:
    """The module a go.mod declares."""
    found = re.search(r"^module\s+(\S+)", text, re.MULTILINE)
    return [("module", found[1].strip('"'))] if found else []
