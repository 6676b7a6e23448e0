"""Roles speak over the bus: no module of a role knows another, and none is given more than a voice and interfaces."""

import ast

import pytest

from tests.architecture.source import Module, imports, modules

_HOME = "hindbrain.services.control"
# Who speaks under a role's name, by module.
ROLES = {
    f"{_HOME}.{name}"
    for name in (
        "perceiver",
        "planner",
        "dispatcher",
        "executor",
        "agent_validator",
        "meta_validator",
        "solver",
        "memory_role",
        "auditor",
    )
}
# What carries the roles: whoever holds it could call several of them.
CARRIERS = {f"{_HOME}.{name}" for name in ("audits", "bus", "crew", "effector", "journal", "lines", "loop", "runs")}


def reaches(module: Module) -> list[str]:
    """What a role module imports, itself or through a helper, that would let it call another role or speak under its name."""
    forbidden = (ROLES | CARRIERS) - {module.name}
    helpers = {one.name: one for one in modules() if one.name.startswith(f"{_HOME}.") and one.name not in ROLES | CARRIERS}
    found: list[str] = []
    waiting, known = [module], set[str]()
    while waiting:
        here = waiting.pop()
        for one in imports(here):
            if one.target in forbidden:
                found.append(f"{here.where}:{one.line} imports {one.target}")
            elif one.target in helpers and one.target not in known:
                known.add(one.target)
                waiting.append(helpers[one.target])
    return found


def _roles() -> list[Module]:
    return [module for module in modules() if module.name in ROLES]


def test_ctl_016_no_role_module_reaches_another_or_what_carries_them() -> None:
    assert {module.name for module in _roles()} == ROLES
    assert [line for module in _roles() for line in reaches(module)] == []


@pytest.mark.parametrize(
    "attempt",
    [
        "from hindbrain.services.control.planner import Planner\n",
        "from hindbrain.services.control import planner\n",
        "def hear(self, heard):\n    import hindbrain.services.control.planner\n",
        "import importlib\nimportlib.import_module('hindbrain.services.control.planner')\n",
        "from hindbrain.services.control.bus import Bus\n",
    ],
)
def test_ctl_016_an_attempt_of_one_role_to_call_another_is_found(attempt: str) -> None:
    """Control: the test above is not green because it looks away."""
    solver = next(module for module in modules() if module.name == f"{_HOME}.solver")
    bad = Module(name=solver.name, path=solver.path, tree=ast.parse(attempt), text=attempt)

    assert len(reaches(bad)) == 1
    assert reaches(solver) == []


def test_ctl_016_every_module_that_listens_is_held_to_the_rule() -> None:
    """A role is known by what it hears: a class with `hears` in a module that is not listed would be one that nobody checks."""
    listening = {
        module.name
        for module in modules()
        if module.name.startswith(f"{_HOME}.") and module.name != f"{_HOME}.ports"
        for node in ast.walk(module.tree)
        if isinstance(node, ast.ClassDef)
        for inner in node.body
        if isinstance(inner, ast.Assign | ast.AnnAssign) and "hears" in ast.dump(inner)
    }

    assert listening <= ROLES
    assert f"{_HOME}.auditor" in listening
