"""The release check: whether a source tree holds together. Reads files, runs nothing, publishes nothing."""

import re
import tomllib
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from hindbrain.domain.caller import Caller
from hindbrain.engines.inventory import problems, referenced
from hindbrain.policy.inventory import FILE
from hindbrain.services.environment import Environment
from hindbrain.stores.migrations import MIGRATIONS
from hindbrain.stores.schema_look import SUPPORTED

__all__ = ["ReleaseCheck"]

RECOMMENDED = (
    "hindbrain doctor --json",
    "make test",
    "make check",  # the linter and the types; any finding fails it
    "python -m pip wheel --no-deps --wheel-dir dist .",
)
_LINK = re.compile(r"!?\[[^\]]*\]\(([^)\s#]+)[^)]*\)")
_PAGES = ("docs/architecture.md", "docs/domain.md", "docs/reference/operations.md", "docs/reference/cli.md", "CHANGELOG.md")
_DECISIONS = "docs/decisions"


class ReleaseCheck:
    """`release.check`."""

    def __init__(self, environment: Environment) -> None:
        self._environment = environment

    def check(self, caller: Caller, root: str, *, unknown: Sequence[str]) -> dict[str, Any]:
        """Every check with its verdict. `unknown`: commands of the runbook that the program would not take."""
        tree = Path(root)
        around = self._environment.report(caller)
        unfit = [one["text"] for one in around["warnings"]]
        verdicts = {
            "package-metadata": _metadata(tree),
            "readme-docs": _docs(tree),
            "spec-plan-inventory": _inventory(tree),
            "runbooks": [f"the program does not take: {command}" for command in unknown],
            "doctor": unfit,
            "schema-support": _schema(),
        }
        checks = [
            {"name": name, "passed": not found, "detail": "; ".join(found) or "in order"} for name, found in verdicts.items()
        ]
        warnings = [f"{one['name']}: {one['detail']}" for one in checks if not one["passed"]]
        return {
            "ok": True,
            "schema": "hindbrain-release-check-v0",
            "writes": False,
            "ready": not warnings,
            "supported_schema_version": SUPPORTED,
            "checks": checks,
            "warnings": warnings,
            "recommended_commands": list(RECOMMENDED),
            "rendered": "\n".join(
                [
                    "Ready for a release." if not warnings else "Not ready for a release.",
                    *(f"{'passed' if one['passed'] else 'FAILED'}  {one['name']}: {one['detail']}" for one in checks),
                ]
            ),
        }


def _toml(path: Path) -> tuple[dict[str, Any], list[str]]:
    try:
        return tomllib.loads(path.read_text(encoding="utf-8")), []
    except (OSError, ValueError) as failure:
        return {}, [f"{path.name} cannot be read: {failure}"]


def _metadata(tree: Path) -> list[str]:
    found, wrong = _toml(tree / "pyproject.toml")
    if wrong:
        return wrong
    project = found.get("project", {})
    readme = project.get("readme")
    if not project.get("name"):
        wrong.append("pyproject.toml has no name")
    if not project.get("version") and "version" not in project.get("dynamic", ()):
        wrong.append("pyproject.toml has no version")
    if not isinstance(readme, str) or not (tree / readme).is_file():
        wrong.append("pyproject.toml names no readme that is there")
    if not project.get("scripts"):
        wrong.append("pyproject.toml has no entry point")
    return wrong


def _docs(tree: Path) -> list[str]:
    wrong = [f"{name} is missing" for name in _PAGES if not (tree / name).is_file()]
    try:
        readme = (tree / "README.md").read_text(encoding="utf-8")
    except (OSError, ValueError) as failure:
        return [f"README.md cannot be read: {failure}", *wrong]
    if not readme.strip():
        wrong.append("README.md is empty")
    links = [link for link in _LINK.findall(readme) if not re.match(r"[a-z]+:", link)]
    return wrong + [f"README.md links to {link}, which is not there" for link in links if not (tree / link).exists()]


def _inventory(tree: Path) -> list[str]:
    found, wrong = _toml(tree / FILE)
    if wrong:
        return wrong
    there = {name for name in referenced(found) if (tree / name).exists()}
    decisions = [f"{_DECISIONS}/{path.name}" for path in (tree / _DECISIONS).glob("*.md")]
    return problems(found, there, decisions)


def _schema() -> list[str]:
    """Whether the migrations are numbered without a gap up to the version that is supported."""
    numbers = [step.number for step in MIGRATIONS]
    return [] if numbers == list(range(1, SUPPORTED + 1)) else [f"migrations {numbers} do not lead to {SUPPORTED}"]
