"""Settings: the one table. Read once, by the composition root, from config.toml and the environment."""

import os
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from hindbrain.domain.errors import ConfigInvalid
from hindbrain.policy.arrivals import ADOPTED_MOST
from hindbrain.policy.control import CHOICES, DEFAULTS, KEYS, MEANINGS, altered
from hindbrain.policy.limits import MODEL_CALLS_PER_TASK, MODEL_TOKENS_PER_DAY, MODEL_TOKENS_PER_TASK

__all__ = ["SETTINGS", "Setting", "Settings"]

Value = str | int | float | bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Setting:
    """One knob: its default, its reason to exist, and who reads it."""

    name: str
    default: Value
    help: str
    read_by: str
    environment: str | None = None
    choices: tuple[str, ...] = ()


SETTINGS: tuple[Setting, ...] = (
    Setting(
        name="mode",
        default="auto",
        choices=("auto", "embedded", "owner"),
        help="which process does the work: the owner, this one, or the owner when it can be had",
        read_by="hindbrain.app",
        environment="HINDBRAIN_MODE",
    ),
    Setting(
        name="store_url",
        default="",
        help="postgresql:// address of a team's database; empty keeps each brain in its own SQLite files",
        read_by="hindbrain.app",
        environment="HINDBRAIN_STORE_URL",
    ),
    Setting(
        name="port",
        default=1338,
        help="loopback port the owner asks for first; another free one is taken if it is in use",
        read_by="hindbrain.surfaces.owner",
        environment="HINDBRAIN_PORT",
    ),
    Setting(
        name="idle_exit_s",
        default=1800,
        help="seconds without a call or an open connection after which an owner that was started on demand ends itself",
        read_by="hindbrain.surfaces.owner",
        environment="HINDBRAIN_IDLE_EXIT_S",
    ),
    Setting(
        name="call_timeout_s",
        default=120,
        help="seconds one operation may take over HTTP or MCP before the caller gets timed_out",
        read_by="hindbrain.surfaces.runner",
    ),
    Setting(
        name="warm_brain_cap",
        default=4,
        help="project brains held open at once; the least recently used is closed first",
        read_by="hindbrain.services.brains",
    ),
    Setting(
        name="beat_rows_per_feed",
        default=5,
        help="rows of each feed (project, medulla) in a default beat",
        read_by="hindbrain.services.recall",
    ),
    Setting(
        name="beat_tokens",
        default=2000,
        help="tokens (characters / 4) that the memory of one beat may cost",
        read_by="hindbrain.services.recall",
    ),
    Setting(
        name="medulla_timeout_ms",
        default=1000,
        help="milliseconds a beat waits for the medulla before it is served without it",
        read_by="hindbrain.services.recall",
    ),
    Setting(
        name="embedder",
        default="auto",
        help="auto uses the installed model, off finds by words only, a path names the directory of a built model",
        read_by="hindbrain.services.embedder",
        environment="HINDBRAIN_EMBEDDER",
    ),
    Setting(
        name="model_dir",
        default="",
        help="directory in which several homes share one model; empty keeps it in the home, and a home's own model wins",
        read_by="hindbrain.services.embedder",
        environment="HINDBRAIN_MODEL_DIR",
    ),
    Setting(
        name="stale_after_days",
        default=30,
        help="age from which a claim is shown as stale",
        read_by="hindbrain.services.house",
    ),
    Setting(
        name="memory_load_cap",
        default=0,
        help="claim files a brain loads at most, newest first; 0 loads all, files without Created are always loaded",
        read_by="hindbrain.services.reconcile",
    ),
    Setting(
        name="memory_adopt_cap",
        default=ADOPTED_MOST,
        help="claim files a brain adopts from a clone or an editor; the rest waits until a person raises it; 0 adopts all",
        read_by="hindbrain.services.reconcile",
    ),
    Setting(
        name="watch",
        default=True,
        help="whether the owner watches the files of its warm brains and keeps their graphs fresh by itself",
        read_by="hindbrain.services.house",
        environment="HINDBRAIN_WATCH",
    ),
    Setting(
        name="all_brains",
        default=True,
        help="whether the explicit tier all-brains may be asked at all on this machine; it is never a default",
        read_by="hindbrain.services.fanout",
    ),
    Setting(
        name="adoption",
        default=True,
        help="whether outcomes of using memory may be recorded on this machine; reports on them work either way",
        read_by="hindbrain.services.house",
        environment="HINDBRAIN_ADOPTION",
    ),
    Setting(
        name="experience_categories",
        default="fact",
        choices=("none", "fact", "all"),
        help="which kinds of experience become rules by thresholds of their own; all are fact, procedure and constraint",
        read_by="hindbrain.services.experience.room",
    ),
    Setting(
        name="experience_two_stage",
        default=False,
        help="whether one success counts as task knowledge at once and two make a rule",
        read_by="hindbrain.services.experience.room",
    ),
    Setting(
        name="experience_keep_days",
        default=30,
        help="days for which the episodes behind a rule are kept after it was made",
        read_by="hindbrain.services.experience.room",
    ),
    Setting(
        name="model_provider",
        default="none",
        help=(
            "which models are asked, in order, separated by commas: openai (any endpoint with chat completions), "
            "anthropic, command; none asks nobody, and the control loop goes by its rules"
        ),
        read_by="hindbrain.services.control.model_plan",
        environment="HINDBRAIN_MODEL_PROVIDER",
    ),
    Setting(
        name="model_base_url",
        default="",
        help="address of each provider, in the order of model_provider; an empty place is the provider's own",
        read_by="hindbrain.services.control.model_plan",
        environment="HINDBRAIN_MODEL_BASE_URL",
    ),
    Setting(
        name="model_name",
        default="",
        help="model of each provider, in the order of model_provider, for both tiers",
        read_by="hindbrain.services.control.model_plan",
        environment="HINDBRAIN_MODEL_NAME",
    ),
    Setting(
        name="model_name_brain",
        default="",
        help=("model of each provider for the tier brain, which perceives, plans and judges; an empty place takes model_name"),
        read_by="hindbrain.services.control.model_plan",
    ),
    Setting(
        name="model_name_tool",
        default="",
        help=("model of each provider for the tier tool, which executes, checks and dreams; an empty place takes model_name"),
        read_by="hindbrain.services.control.model_plan",
    ),
    Setting(
        name="model_tiers",
        default="",
        help=("roles whose tier is not the usual one, such as R4a=brain; R4b is never served by a lower tier than R2"),
        read_by="hindbrain.services.control.model_plan",
    ),
    Setting(
        name="model_key_env",
        default="",
        help=(
            "name of the variable that holds the key of each provider, in the order of model_provider; an empty place is "
            "the usual variable at the provider's own address, and no key elsewhere"
        ),
        read_by="hindbrain.services.control.model_plan",
    ),
    Setting(
        name="model_key_file",
        default="",
        help=(
            "file that holds the key of each provider, in the order of model_provider; of mode 600 and outside of every "
            "repository"
        ),
        read_by="hindbrain.services.control.model_plan",
    ),
    Setting(
        name="model_command",
        default="",
        help=("command that answers a prompt from its input on its output, for the provider command; no shell reads it"),
        read_by="hindbrain.services.control.model_plan",
    ),
    Setting(
        name="model_fallback",
        default="rules",
        choices=("rules", "none"),
        help="whether rules stand in when no provider answers; none ends the step with model_failed",
        read_by="hindbrain.services.control.model_plan",
    ),
    Setting(
        name="model_stream",
        default=True,
        help="whether answers are read as a stream, so that a slow model is not taken for a dead one",
        read_by="hindbrain.services.control.model_plan",
    ),
    Setting(
        name="model_prompts",
        default="keep",
        choices=("keep", "digest"),
        help="whether prompts and replies are kept with each call, or only their digests",
        read_by="hindbrain.services.control.model_plan",
        environment="HINDBRAIN_MODEL_PROMPTS",
    ),
    Setting(
        name="model_price_in",
        default="",
        help=("price of a million tokens of prompt, one for each provider; 3/0.8 gives brain and tool a price of their own"),
        read_by="hindbrain.services.control.model_plan",
    ),
    Setting(
        name="model_price_out",
        default="",
        help="price of a million tokens of reply, written like model_price_in",
        read_by="hindbrain.services.control.model_plan",
    ),
    Setting(
        name="model_cap_per_task",
        default="",
        help=("money that the models of one task may cost, such as 2.50; empty is no cap; a call that might pass it is not made"),
        read_by="hindbrain.services.control.model_plan",
    ),
    Setting(
        name="model_cap_per_day",
        default="",
        help="money that the models of one brain may cost in a day (UTC); empty is no cap",
        read_by="hindbrain.services.control.model_plan",
        environment="HINDBRAIN_MODEL_CAP_PER_DAY",
    ),
    Setting(
        name="model_calls_per_task",
        default=MODEL_CALLS_PER_TASK,
        help="calls of models that one task may make; 0 is no limit; beyond it the roles go by their rules",
        read_by="hindbrain.services.control.model_plan",
    ),
    Setting(
        name="model_tokens_per_task",
        default=MODEL_TOKENS_PER_TASK,
        help="tokens that the models of one task may cost, prompts and replies together; 0 is no cap",
        read_by="hindbrain.services.control.model_plan",
    ),
    Setting(
        name="model_tokens_per_day",
        default=MODEL_TOKENS_PER_DAY,
        help="tokens that the models of one brain may cost in a day (UTC); 0 is no cap",
        read_by="hindbrain.services.control.model_plan",
    ),
    Setting(
        name="otel_export",
        default="off",
        help=(
            "where OpenTelemetry spans of missions and memory operations go: off, the whole path of a file, or an OTLP address "
            "such as http://127.0.0.1:4318; spans carry ids, kinds and counts, no texts"
        ),
        read_by="hindbrain.app",
        environment="HINDBRAIN_OTEL_EXPORT",
    ),
    Setting(
        name="update_source",
        default="",
        help=(
            "where newer releases are looked for: a wheel, a directory of wheels, a release file, or the address of one; "
            "empty looks nowhere"
        ),
        read_by="hindbrain.services.late_rooms",
    ),
    Setting(
        name="worktree_bases",
        default="",
        help=(
            "names of repositories, separated by commas, whose worktrees are called <name>-<anything> in letters; "
            "empty is the repository that the owner serves, else that of whoever calls"
        ),
        read_by="hindbrain.services.mailbox.places",
    ),
    Setting(
        name="repo_aliases",
        default="",
        help="names that letters use for a repository of another name, such as gitrooms=reporooms, separated by commas",
        read_by="hindbrain.services.mailbox.places",
    ),
    Setting(
        name="foreign_tools",
        default="context7",
        help="names of tools that are not ours, separated by commas; letters about them count as external, never as open",
        read_by="hindbrain.services.mailbox.letters",
    ),
    Setting(
        name="repo_search_roots",
        default="",
        help=(
            "directories, separated by commas, in which a repository that a letter names is looked for; "
            "empty is the directories beside all known repositories"
        ),
        read_by="hindbrain.services.mailbox.places",
    ),
    Setting(
        name="flight.redact_external",
        default=False,
        help="whether missions keep targets outside their repository as digests only",
        read_by="hindbrain.services.house",
    ),
    Setting(
        name="cowork.tmux",
        default=False,
        help="whether agents may register panes of tmux and type messages into them; a person at a terminal always may",
        read_by="hindbrain.services.cowork.panes",
    ),
    Setting(
        name="hooks.save",
        default="compaction",
        choices=("never", "compaction", "stop"),
        help=(
            "when the hooks of a host keep the conversation of a session as evidence of its project: never, before its context "
            "is cut, or then and at every stop"
        ),
        read_by="hindbrain.services.hooks.assembly",
    ),
)
SETTINGS += tuple(
    Setting(
        name=key,
        default=getattr(DEFAULTS, field),
        choices=CHOICES.get(key, ()),
        help=MEANINGS[key],
        read_by="hindbrain.services.control.params",
    )
    for key, field in KEYS.items()
)
_BY_NAME = {setting.name: setting for setting in SETTINGS}


def _checked(setting: Setting, raw: object, source: str) -> Value:
    kind = type(setting.default)
    value: object = raw
    if isinstance(raw, str) and kind is not str:
        text = raw.strip().lower()
        try:
            value = text in ("1", "true", "yes", "on") if kind is bool else kind(text)
        except ValueError:
            value = raw
    if kind is float and isinstance(value, int) and not isinstance(value, bool):
        value = float(value)
    if not isinstance(value, kind) or (kind is int and isinstance(value, bool)):
        raise ConfigInvalid(
            f"{source} sets {setting.name} to {raw!r}; it takes a {kind.__name__}",
            fix=f"give {setting.name} a {kind.__name__}; the default is {setting.default!r}",
        )
    if setting.choices and value not in setting.choices:
        raise ConfigInvalid(
            f"{source} sets {setting.name} to {value!r}; it takes one of {', '.join(setting.choices)}",
            fix=f"set {setting.name} to one of {', '.join(setting.choices)}",
        )
    return value


class Settings:
    """The values in force: default, then config.toml, then the environment."""

    def __init__(self, values: Mapping[str, Value]) -> None:
        self._values = {setting.name: values.get(setting.name, setting.default) for setting in SETTINGS}

    @classmethod
    def read(cls, config: Path, environ: Mapping[str, str] = os.environ) -> "Settings":
        found: dict[str, Value] = {}
        for name, raw in _file_values(config).items():
            if name not in _BY_NAME:
                raise ConfigInvalid(
                    f"{config.name} has the unknown setting {name!r}",
                    fix="remove it; the settings page of the reference lists every name",
                )
            found[name] = _checked(_BY_NAME[name], raw, config.name)
        for setting in SETTINGS:
            if setting.environment and (raw_env := environ.get(setting.environment)):
                found[setting.name] = _checked(setting, raw_env, setting.environment)
        altered(DEFAULTS, {name: value for name, value in found.items() if name in KEYS})  # together they must make sense
        return cls(found)

    def text(self, name: str) -> str:
        return str(self._values[name])

    def number(self, name: str) -> int:
        return int(self._values[name])

    def real(self, name: str) -> float:
        return float(self._values[name])

    def flag(self, name: str) -> bool:
        return bool(self._values[name])

    def as_dict(self) -> dict[str, Value]:
        return dict(self._values)


def _file_values(config: Path) -> dict[str, Any]:
    try:
        with config.open("rb") as file:
            return _flat(tomllib.load(file))
    except FileNotFoundError:
        return {}
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as broken:
        raise ConfigInvalid(f"{config} is not TOML: {broken}", fix="correct that line of the file") from broken


def _flat(table: Mapping[str, Any]) -> dict[str, Any]:
    """Names as they stand in the table of settings: `[ggs] alpha` and `ggs.alpha` are the same."""
    found: dict[str, Any] = {}
    for name, value in table.items():
        if isinstance(value, dict):
            found |= {f"{name}.{inner}": deeper for inner, deeper in _flat(value).items()}
        else:
            found[name] = value
    return found
