"""No dead option: every setting has a reader, a page and a test, and nobody reads a setting that is not in the table."""

import ast
import re
from pathlib import Path

import pytest

from hindbrain.domain.errors import ConfigInvalid
from hindbrain.settings import SETTINGS, Setting, Settings
from tests.architecture.source import ROOT, modules

PAGE = ROOT / "docs" / "reference" / "settings.md"
_READERS = ("text", "number", "real", "flag")


def _read_names(tree: ast.Module) -> set[str]:
    """The settings a module asks for by name."""
    return {
        str(node.args[0].value)
        for node in ast.walk(tree)
        if isinstance(node, ast.Call)
        and isinstance(node.func, ast.Attribute)
        and node.func.attr in _READERS
        and "settings" in ast.unparse(node.func.value).lower()
        and node.args
        and isinstance(node.args[0], ast.Constant)
    }


@pytest.mark.parametrize("setting", SETTINGS, ids=lambda one: one.name)
def test_arch_6_every_setting_is_read_where_the_table_says(setting: Setting) -> None:
    reader = next((module for module in modules() if module.name == setting.read_by), None)

    assert reader is not None, f"{setting.read_by} does not exist"
    assert setting.name in _read_names(reader.tree), f"{setting.read_by} does not read {setting.name}"


def test_arch_6_nobody_reads_a_setting_that_is_not_in_the_table() -> None:
    known = {setting.name for setting in SETTINGS}
    found = {module.name: names - known for module in modules() if (names := _read_names(module.tree)) - known}

    assert found == {}


@pytest.mark.parametrize("setting", SETTINGS, ids=lambda one: one.name)
def test_arch_6_every_setting_is_documented(setting: Setting) -> None:
    page = PAGE.read_text(encoding="utf-8")

    assert f"| `{setting.name}` |" in page
    assert setting.help in page
    assert setting.environment is None or setting.environment in page


@pytest.mark.parametrize("setting", SETTINGS, ids=lambda one: one.name)
def test_arch_6_every_setting_has_a_test(setting: Setting) -> None:
    """Some test outside this directory sets it: by its name, or by its variable."""
    named = re.compile(rf"\b({re.escape(setting.name)}|{re.escape(setting.environment or setting.name)})\b")
    here = Path(__file__).parent
    tests = [path for path in (ROOT / "tests").rglob("*.py") if here not in path.parents and "node_modules" not in path.parts]

    assert any(named.search(path.read_text(encoding="utf-8")) for path in tests), f"no test sets {setting.name}"


def test_arch_6_every_setting_has_a_help_without_a_period_and_a_unique_variable() -> None:
    variables = [setting.environment for setting in SETTINGS if setting.environment]

    assert len(variables) == len(set(variables))
    assert len({setting.name for setting in SETTINGS}) == len(SETTINGS)
    assert [setting.name for setting in SETTINGS if not setting.help or setting.help.endswith(".")] == []


@pytest.mark.parametrize("raw", [b"hooks = broken [", b"\xff\xfe"])
def test_a_file_of_settings_that_cannot_be_read_is_named_with_its_place(tmp_path: Path, raw: bytes) -> None:
    config = tmp_path / "config.toml"
    config.write_bytes(raw)

    with pytest.raises(ConfigInvalid) as refused:
        Settings.read(config, {})

    assert str(config) in refused.value.message
