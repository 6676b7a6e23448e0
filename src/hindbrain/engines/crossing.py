"""Crossings: what binds files of different repositories, by what their texts share, and which neighbours a text names. Pure."""

import json
import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass

from hindbrain.policy.federation import COMMON_NAMES, COMMON_VARIABLES, CROSSINGS, MOST_OF_A_KIND

__all__ = ["Crossing", "RepositoryText", "crossings", "named_paths", "package_names"]

_VARIABLE = re.compile(
    r"""(?:environ(?:\.get)?\s*[\[(]\s*|getenv\s*\(\s*|env::var\(\s*|Getenv\(\s*|ENV\[\s*)["']([A-Z][A-Z0-9_]{3,})["']"""
    r"""|process\.env\.([A-Z][A-Z0-9_]{3,})|^(?:export\s+)?([A-Z][A-Z0-9_]{3,})=|\$\{([A-Z][A-Z0-9_]{3,})[:}]""",
    re.MULTILINE,
)
_ROUTE = re.compile(r"""["'`](?:https?://[\w.:-]+)?(/(?:api|rest|rpc|v\d+)/[\w\-/{}:<>.$]*)""")
_PARAMETER = re.compile(r"\{[^}]*\}|<[^>]*>|:[a-zA-Z]\w*|\$\{[^}]*\}")
_TYPE = re.compile(r"^[ \t]*(?:export\s+)?(?:pub\s+)?(?:class|struct|interface|type|enum|message)\s+([A-Z]\w{5,})", re.MULTILINE)
_TOOL_SERVER = re.compile(r"mcpServers|^(?>.*?\bmcp\b).*\bcommand\b", re.IGNORECASE | re.MULTILINE)
_RELATIVE = re.compile(r"""["'(\s=](\.\./[\w.\-]+)(?=[/"')\s,}]|$)""", re.MULTILINE)
_PLACES = ("docker-compose", "compose.y", "dockerfile", "k8s", "deploy", "helm", "skaffold")


@dataclass(frozen=True, slots=True, kw_only=True)
class RepositoryText:
    """The texts of one repository: path -> text, and the names under which it is published."""

    name: str
    files: Mapping[str, str]
    packages: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Crossing:
    """An edge between files of two repositories, and what they share."""

    kind: str
    source_repo: str
    source: str
    target_repo: str
    target: str
    key: str
    weight: float
    causal: float
    both: bool


def crossings(repositories: Iterable[RepositoryText]) -> list[Crossing]:
    """Every edge between repositories, by kind, key and name."""
    given = sorted(repositories, key=lambda one: one.name)
    found = [crossing for kind, keys in _KEYS.items() for crossing in _shared(given, kind, keys)]
    for one in given:
        for other in given:
            if one is not other:
                found += _dependencies(one, other)
    return sorted(set(found), key=lambda c: (c.kind, c.key, c.source_repo, c.source, c.target_repo, c.target))


def _variables(text: str) -> Iterator[str]:
    for match in _VARIABLE.finditer(text):
        name = next(group for group in match.groups() if group)
        if name not in COMMON_VARIABLES:
            yield name


def _routes(text: str) -> Iterator[str]:
    for match in _ROUTE.finditer(text):
        route = _PARAMETER.sub("*", match[1]).rstrip("/.")
        if route.count("/") >= 2:
            yield route


def _types(text: str) -> Iterator[str]:
    for match in _TYPE.finditer(text):
        if match[1] not in COMMON_NAMES:
            yield match[1]


_KEYS: dict[str, Callable[[str], Iterator[str]]] = {
    "shared_config": _variables,
    "api_contract": _routes,
    "shared_type": _types,
}


def _shared(given: list[RepositoryText], kind: str, keys: Callable[[str], Iterator[str]]) -> Iterator[Crossing]:
    """One edge per key and pair of repositories, between the first files by name that have it."""
    weight, causal, both = CROSSINGS[kind]
    places: dict[str, dict[str, str]] = defaultdict(dict)
    for one in given:
        for path in sorted(one.files):
            for key in keys(one.files[path]):
                places[key].setdefault(one.name, path)
    told = 0
    for key in sorted(places):
        names = sorted(places[key])
        for at, first in enumerate(names):
            for second in names[at + 1 :]:
                if told >= MOST_OF_A_KIND:
                    return
                told += 1
                yield Crossing(
                    kind=kind,
                    source_repo=first,
                    source=places[key][first],
                    target_repo=second,
                    target=places[key][second],
                    key=key,
                    weight=weight,
                    causal=causal,
                    both=both,
                )


def _dependencies(one: RepositoryText, other: RepositoryText) -> Iterator[Crossing]:
    """Manifests, deployments and tool servers of one repository that name the other."""
    names = sorted({other.name, *other.packages})
    target = next((path for path in sorted(other.files) if _manifest(path)), min(other.files, default=""))
    if not target:
        return
    for path in sorted(one.files):
        text = one.files[path]
        kinds = []
        if _manifest(path):
            kinds.append(("package_dep", other.packages))
        if any(mark in path.lower() for mark in _PLACES):
            kinds.append(("deployment_dep", tuple(names)))
        if _TOOL_SERVER.search(text) and path.endswith((".json", ".toml", ".yaml", ".yml")):
            kinds.append(("mcp_contract", tuple(names)))
        for kind, wanted in kinds:
            key = next((name for name in wanted if re.search(rf"(?<![\w-]){re.escape(name)}(?![\w-])", text)), None)
            if key is not None:
                weight, causal, both = CROSSINGS[kind]
                yield Crossing(
                    kind=kind,
                    source_repo=one.name,
                    source=path,
                    target_repo=other.name,
                    target=target,
                    key=key,
                    weight=weight,
                    causal=causal,
                    both=both,
                )


def _manifest(path: str) -> bool:
    name = path.rsplit("/", 1)[-1]
    return name in ("pyproject.toml", "package.json", "go.mod", "Cargo.toml", "pom.xml", "composer.json", "setup.cfg") or (
        name.startswith("requirements") and name.endswith(".txt")
    )


def package_names(files: Mapping[str, str]) -> tuple[str, ...]:
    """The names a repository publishes itself under, from the manifests at its top."""
    found: dict[str, None] = {}
    if match := re.search(r'^[ \t]*name\s*=\s*"([^"]+)"', files.get("pyproject.toml", ""), re.MULTILINE):
        found.setdefault(match[1])
    if match := re.search(r'\[package\][^\[]*?^[ \t]*name\s*=\s*"([^"]+)"', files.get("Cargo.toml", ""), re.MULTILINE):
        found.setdefault(match[1])
    if match := re.search(r"^module\s+(\S+)", files.get("go.mod", ""), re.MULTILINE):
        found.setdefault(match[1])
    try:
        told = json.loads(files.get("package.json", "") or "{}")
    except (ValueError, RecursionError):
        told = {}
    if isinstance(told, dict) and isinstance(told.get("name"), str) and told["name"]:
        found.setdefault(told["name"])
    return tuple(found)


def named_paths(path: str, text: str) -> Iterator[tuple[str, str, str]]:
    """Neighbouring directories that a file names: (relative path, evidence, confidence)."""
    manifest = _manifest(path) or path.endswith((".code-workspace", "pnpm-workspace.yaml", "go.work"))
    for match in _RELATIVE.finditer(text):
        if path.count("/") == 0:
            yield match[1], "manifest" if manifest else "path", "high" if manifest else "medium"
