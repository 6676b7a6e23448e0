"""Plans of models: what the settings mean, and what they may not say."""

import os
import tomllib
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

from hindbrain.domain.errors import ConfigInvalid
from hindbrain.domain.message import Role
from hindbrain.services.control.model_chain import chain_of, keys_of
from hindbrain.services.control.model_plan import ModelPlan, Price
from hindbrain.settings import Settings


def plan(**values: Any) -> ModelPlan:
    return ModelPlan.read(Settings(values))


def local(**values: Any) -> ModelPlan:
    return plan(**{"model_provider": "openai", "model_base_url": "http://localhost:11434/v1"} | values)


def test_ctl_306_roles_have_the_tiers_of_the_table_and_two_have_none() -> None:
    made = local(model_name_brain="big", model_name_tool="small")

    assert {role.value: made.tier(role) for role in Role} == {
        "User": 0,
        "R1": 2,
        "R2": 2,
        "R3": 1,
        "R4a": 1,
        "R4b": 2,
        "R5": 1,
        "R6": 0,
        "R7": 0,
    }


@pytest.mark.parametrize(
    ("values", "brain", "tool"),
    [
        ({"model_name": "m"}, "m", "m"),
        ({"model_name": "m", "model_name_brain": "big"}, "big", "m"),
        ({"model_name": "m", "model_name_tool": "small"}, "m", "small"),
        ({"model_name_brain": "big", "model_name_tool": "small"}, "big", "small"),
        ({"model_name_brain": "big"}, "big", None),
    ],
)
def test_ctl_306_each_tier_falls_back_to_the_shared_setting(values: dict[str, str], brain: str, tool: str | None) -> None:
    (spec,) = local(**values).chain

    assert (spec.models.get(2), spec.models.get(1)) == (brain, tool)


def test_ctl_135_a_judge_below_its_planner_is_refused_at_start() -> None:
    with pytest.raises(ConfigInvalid) as refused:
        local(model_name="m", model_tiers="R2=brain, R4b=tool")
    assert (refused.value.details["planner"], refused.value.details["judge"]) == (2, 1)

    with pytest.raises(ConfigInvalid):  # no model serves the tier of the judge
        local(model_name_tool="small", model_tiers="R2=tool")


def test_ctl_135_equal_tiers_start_and_so_does_a_judge_above() -> None:
    offline = plan()
    assert (offline.tier(Role.PLANNER), offline.tier(Role.META_VALIDATOR)) == (0, 0)
    both = local(model_name="m", model_tiers="R2=tool, R4b=tool")
    assert (both.tier(Role.PLANNER), both.tier(Role.META_VALIDATOR)) == (1, 1)
    above = local(model_name="m", model_tiers="R2=tool")
    assert (above.tier(Role.PLANNER), above.tier(Role.META_VALIDATOR)) == (1, 2)


def test_ctl_305_providers_stand_in_the_order_of_the_setting_each_with_its_own_values() -> None:
    made = plan(
        model_provider="anthropic, openai, command",
        model_base_url=", http://127.0.0.1:8080/v1",
        model_name="one, two",
        model_key_env=", LOCAL_KEY",
        model_command="answer --print 'two words'",
        model_price_in="3/0.8, 0.1",
        model_price_out="15/4",
    )

    assert [spec.kind for spec in made.chain] == ["anthropic", "openai", "command"]
    assert [spec.key_env for spec in made.chain] == ["ANTHROPIC_API_KEY", "LOCAL_KEY", ""]
    assert made.chain[0].base_url.startswith("https://")
    assert made.chain[0].prices == {
        2: Price(given=Decimal(3), written=Decimal(15)),
        1: Price(given=Decimal("0.8"), written=Decimal(4)),
    }
    assert made.chain[1].prices[1] == Price(given=Decimal("0.1"))
    assert made.chain[2].words == ("answer", "--print", "two words")


def test_ctl_308_the_usual_key_goes_to_the_usual_host_only() -> None:
    assert local(model_name="m").chain[0].key_env == ""
    assert plan(model_provider="openai", model_name="m").chain[0].key_env == "OPENAI_API_KEY"


@pytest.mark.parametrize(
    "values",
    [
        {"model_provider": "gpt"},
        {"model_provider": "openai"},
        {"model_provider": "command"},
        {"model_provider": "command", "model_command": "a 'b"},
        {"model_name": "m", "model_base_url": "ftp://host/x"},
        {"model_name": "m", "model_base_url": "http://user:pass@localhost/v1"},
        {"model_name": "m", "model_base_url": "http://localhost/v1?key=x"},
        {"model_name": "m", "model_base_url": "http://[::1"},
        {"model_name": "m", "model_base_url": "http://models.example/v1", "model_key_env": "K"},
        {"model_name": "m", "model_tiers": "R7=brain"},
        {"model_name": "m", "model_tiers": "R2=best"},
        {"model_name": "m", "model_price_in": "much"},
        {"model_name": "m", "model_price_in": "-1"},
        {"model_name": "m", "model_price_in": "nan"},
        {"model_name": "m", "model_cap_per_task": "NaN"},
        {"model_name": "m", "model_cap_per_day": "5"},
        {"model_name": "m", "model_calls_per_task": -1},
        {"model_name": "m, n"},
    ],
)
def test_ctl_306_what_cannot_hold_is_refused_with_a_fix(values: dict[str, Any]) -> None:
    with pytest.raises(ConfigInvalid) as refused:
        local(**values)
    assert refused.value.fix


def test_ctl_306_a_cap_in_money_needs_a_price_and_nothing_is_one() -> None:
    with pytest.raises(ConfigInvalid, match="price"):
        local(model_name="m", model_cap_per_task="1", model_price_in="1")
    assert local(model_name="m", model_cap_per_task="1.5", model_price_in="0", model_price_out="0").caps.task_micros == 1_500_000


def test_ctl_306_the_examples_of_the_page_are_plans() -> None:
    page = (Path(__file__).parents[2] / "docs" / "how-to" / "use-a-model.md").read_text(encoding="utf-8")
    examples = [tomllib.loads(part.split("```", 1)[0]) for part in page.split("```toml\n")[1:]]

    plans = [plan(**values) for values in examples]

    assert [[spec.kind for spec in one.chain] for one in plans] == [["openai"], ["anthropic", "openai"], ["command"]]
    assert plans[1].chain[1].key_env == ""


def test_ctl_306_money_is_counted_in_millionths_and_rounded_up() -> None:
    price = Price(given=Decimal("0.15"), written=Decimal("0.6"))

    assert price.micros(1_000_000, 1_000_000) == 750_000
    assert price.micros(1, 0) == 1
    assert price.micros(0, 0) == 0


def key_file(path: Path, mode: int = 0o600) -> Path:
    path.write_text("sk-in-a-file\n")
    path.chmod(mode)
    return path


def test_ctl_308_a_key_comes_from_its_variable_or_from_a_file_of_its_owner(tmp_path: Path) -> None:
    by_name = keys_of(local(model_name="m", model_key_env="K"), {"K": " sk-in-the-air \n"}).get(0)
    by_file = keys_of(local(model_name="m", model_key_file=str(key_file(tmp_path / "key"))), {}).get(0)

    assert by_name is not None
    assert by_name.reveal() == "sk-in-the-air"
    assert by_file is not None
    assert by_file.reveal() == "sk-in-a-file"
    assert keys_of(local(model_name="m", model_key_env="K"), {}).get(0) is None


def test_ctl_308_a_key_file_that_others_read_or_that_a_commit_could_take_is_refused(tmp_path: Path) -> None:
    repository = tmp_path / "repository"
    (repository / ".git").mkdir(parents=True)
    (repository / "deep").mkdir()
    link = tmp_path / "link"
    os.symlink(key_file(repository / "deep" / "key"), link)
    for path in (key_file(tmp_path / "open", 0o640), repository / "deep" / "key", link, tmp_path / "missing", tmp_path):
        with pytest.raises(ConfigInvalid) as refused:
            keys_of(local(model_name="m", model_key_file=str(path)), {})
        assert "sk-in-a-file" not in f"{refused.value} {refused.value.fix}"


@pytest.mark.parametrize("value", ["two words", "zwölf", "a\nb", "x" * 5000])
def test_ctl_308_what_is_no_key_is_not_sent(value: str) -> None:
    with pytest.raises(ConfigInvalid) as refused:
        keys_of(local(model_name="m", model_key_env="K"), {"K": value})
    assert value not in str(refused.value)


def test_ctl_308_a_command_is_not_handed_the_key_of_another_provider() -> None:
    made = local(
        model_provider="openai, command",
        model_name="m",
        model_key_env="K, MINE",
        model_command="/bin/sh -c 'cat >/dev/null; env'",
    )
    environ = {"K": "sk-of-the-first", "MINE": "its-own", "PATH": os.environ["PATH"]}
    keys = keys_of(made, environ)
    _, command = chain_of(made, 1, keys=keys, environ=environ)

    text = command.provider.complete("R3", "", "", max_tokens=1, timeout_s=5).text

    assert "sk-of-the-first" not in text
    assert "MINE=its-own" in text
