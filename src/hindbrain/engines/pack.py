"""The doctrine pack: the one source of doctrine as the text that a host reads, and the long reference beside it. Pure; what the
operations are is given."""

from collections.abc import Iterable

from hindbrain.domain.mission import MissionMode
from hindbrain.policy.doctrine import BLOCK, DOCTRINE, DOCTRINE_VERSION, HOSTS, PURPOSE, ROUTES, USES
from hindbrain.policy.mission_routes import LOOPS, RULES
from hindbrain.policy.missions import BUDGETS, EVENTS, GRADES, MODES, POLICY_VERSION
from hindbrain.policy.non_claims import STANDING

__all__ = ["blocked", "compact", "doctrine_text", "is_ours", "reference"]

_TITLE = "# Working under mission control"
_MADE = f"<!-- hindbrain pack, doctrine {DOCTRINE_VERSION} -->"


def doctrine_text() -> str:
    """The sections, as every host gets them."""
    parts = [f"{_TITLE}\n\n{PURPOSE}"]
    parts += [f"## {one.title}\n\n{one.text.replace('{modes}', _modes())}" for one in DOCTRINE]
    return "\n\n".join(parts) + "\n"


def _modes() -> str:
    lines = []
    for mode in MissionMode:
        by_route: dict[str, list[str]] = {}
        for budget, route in zip(BUDGETS, MODES[mode].routes, strict=True):
            by_route.setdefault(route.value, []).append(budget)
        told = (f"{route} ({', '.join(budgets)})" if len(by_route) > 1 else route for route, budgets in by_route.items())
        lines.append(f"- `{mode.value}`, {USES[mode]}: {', '.join(told)}")
    return "\n".join(lines)


def compact(host: str) -> str:
    """The pack of a host: small enough to be read before every task."""
    told = HOSTS[host]
    pointer = f"The whole routing is in `{told.reference}`.\n"
    text = f"{_MADE}\n{doctrine_text()}\n{pointer}"
    return f"{BLOCK[0]}\n{text}{BLOCK[1]}\n" if told.shared else told.front + text


def is_ours(text: str) -> bool:
    """Whether a file was written as a pack, of whichever version."""
    return "<!-- hindbrain pack, doctrine " in text


def blocked(before: str, block: str) -> str:
    """A file of the user's with our block in it: in the place of an older one, else at its end."""
    begin, end = before.find(BLOCK[0]), before.find(BLOCK[1])
    if 0 <= begin < end:
        return before[:begin] + block.rstrip("\n") + before[end + len(BLOCK[1]) :]
    return before.rstrip("\n") + "\n\n" + block if before.strip() else block


def reference(operations: Iterable[tuple[str, str]]) -> str:
    """Everything the router and the ledger go by, from the tables themselves. `operations` are (name, summary)."""
    listed = [f"- `{name}`: {summary}" for name, summary in operations]
    parts = [
        f"{_MADE}\n# Mission control, the whole routing\n\nTables of version {POLICY_VERSION}, as this release has them.",
        "## Operations\n\n" + "\n".join(listed),
        "## Modes\n\n" + "\n".join(_mode(mode) for mode in MissionMode),
        "## Routes\n\n" + "\n".join(f"- `{route.value}`: {text}" for route, text in ROUTES.items()),
        "## Budgets\n\n" + "\n".join(_budget(name) for name in BUDGETS),
        "## Next moves\n\nThe first line whose condition holds decides.\n\n" + "\n".join(_rules()),
        "## Loops\n\n" + "\n".join(f"- {name}, {rule.name}: {rule.why}" for name, rule in LOOPS.items()),
        "## Events\n\n"
        + "\n".join(f"- `{kind.value}`: {told.family.value}, {told.evidence.value}" for kind, told in EVENTS.items()),
        "## Evidence\n\n" + "\n".join(f"- `{one.value}`: {grade}" for one, grade in GRADES.items()),
        "## What is not claimed\n\n" + "\n".join(f"- {text}" for text in STANDING),
    ]
    return "\n\n".join(parts) + "\n"


def _mode(mode: MissionMode) -> str:
    rule = MODES[mode]
    routes = " / ".join(route.value for route in rule.routes)
    measured = "; ".join(rule.criteria) or "the criteria that are given"
    return f"- `{mode.value}`: {USES[mode]}. Short, normal, deep: {routes}. Measured by: {measured}."


def _budget(name: str) -> str:
    one = BUDGETS[name]
    return f"- `{name}`: {one.tool_calls_max} calls, {one.files_read_max} files, {one.soft_deadline_ms // 1000} s"


def _rules() -> list[str]:
    return [
        f"- {name}, {rule.name}: when {rule.when}. Until {rule.stop_condition}; else {rule.fallback}."
        f" Evidence: {rule.evidence_required}."
        for name, rule in RULES.items()
    ]
