"""Every error has one code, says how it ends on each surface, is documented, and is really used."""

import ast

import pytest

from hindbrain.domain.errors import ERRORS, HindbrainError, Refusal
from hindbrain.domain.read_errors import CheckFailed
from tests.architecture.source import ROOT, modules

OURS = tuple(f"hindbrain.domain.{name}" for name in ("agent_errors", "error", "errors", "person_errors", "read_errors"))
PAGE = ROOT / "docs" / "reference" / "errors.md"


def family(base: type[HindbrainError]) -> list[type[HindbrainError]]:
    return [one for child in base.__subclasses__() if child.__module__ in OURS for one in (child, *family(child))]


KINDS = [kind for kind in family(HindbrainError) if kind is not Refusal]


def test_arch_7_every_error_has_a_code_of_its_own() -> None:
    codes = [kind.code for kind in KINDS]

    assert len(codes) == len(set(codes))
    assert {kind.code: kind for kind in KINDS} == ERRORS
    assert [code for code in codes if code != code.lower() or not code.replace("_", "").isalpha()] == []


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.code)
def test_arch_7_every_error_says_how_it_ends_and_what_it_means(kind: type[HindbrainError]) -> None:
    assert 400 <= kind.http_status < 600 or (kind is CheckFailed and kind.http_status == 200), "a report is an answer"
    assert kind.exit_code in (1, 2)
    assert kind.__doc__
    assert kind.__doc__.strip().endswith(".")


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.code)
def test_arch_7_every_error_is_in_the_reference(kind: type[HindbrainError]) -> None:
    page = PAGE.read_text(encoding="utf-8")

    assert f"\n## {kind.code}\n" in page
    assert (kind.__doc__ or "").strip() in page


def test_arch_7_every_error_is_raised_somewhere() -> None:
    """An error that nothing makes is a promise that nothing keeps."""
    made = {
        name
        for module in modules()
        if module.name != "hindbrain.domain.errors"
        for node in ast.walk(module.tree)
        if isinstance(node, ast.Call)
        for name in [node.func.id if isinstance(node.func, ast.Name) else getattr(node.func, "attr", "")]
    }

    assert [kind.__name__ for kind in KINDS if kind.__name__ not in made] == []


def test_arch_7_no_surface_reads_message_text() -> None:
    """Failures are told apart by type or code: comparing with a message breaks when somebody improves the message."""
    found = [
        f"{module.where}:{node.lineno}"
        for module in modules()
        for node in ast.walk(module.tree)
        if isinstance(node, ast.Compare)
        and any(isinstance(operator, ast.In | ast.Eq) for operator in node.ops)
        and any(
            isinstance(side, ast.Call)
            and isinstance(side.func, ast.Name)
            and side.func.id == "str"
            and side.args
            and isinstance(side.args[0], ast.Name)
            and side.args[0].id in ("error", "failure", "refusal", "exc")
            for side in [node.left, *node.comparators]
        )
    ]

    assert found == []
