"""The plan of models: which providers are set, in which order, for which tier, at which price and under which caps.

Read from the settings once. What cannot hold is refused here, before anything is asked."""

import shlex
from collections.abc import Mapping
from dataclasses import dataclass
from decimal import ROUND_CEILING, Decimal, InvalidOperation
from ipaddress import ip_address
from urllib.parse import urlsplit

from hindbrain.domain.errors import ConfigInvalid
from hindbrain.domain.message import Role
from hindbrain.policy.models import BRAIN, ROLE_TIERS, TIERS, TOOL
from hindbrain.settings import Settings

__all__ = ["Caps", "ModelPlan", "Price", "Spec"]

_KINDS = ("openai", "anthropic", "command")
_HTTP = ("openai", "anthropic")
_USUAL = {"openai": "https://api.openai.com/v1", "anthropic": "https://api.anthropic.com"}
_USUAL_KEY = {"openai": "OPENAI_API_KEY", "anthropic": "ANTHROPIC_API_KEY"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Price:
    """Money for a million tokens, in and out."""

    given: Decimal = Decimal(0)
    written: Decimal = Decimal(0)

    def micros(self, prompt_tokens: int, completion_tokens: int) -> int:
        """Millionths, rounded up: so many tokens at so much a million."""
        return int((prompt_tokens * self.given + completion_tokens * self.written).to_integral_value(ROUND_CEILING))


@dataclass(frozen=True, slots=True, kw_only=True)
class Caps:
    """What is never passed; 0 is no cap. Money is in millionths."""

    task_micros: int = 0
    day_micros: int = 0
    task_tokens: int = 0
    day_tokens: int = 0
    task_calls: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Spec:
    """One provider of the chain. A tier without a model is not served by it."""

    kind: str
    base_url: str = ""
    models: Mapping[int, str]
    prices: Mapping[int, Price]
    key_env: str = ""
    key_file: str = ""
    words: tuple[str, ...] = ()
    priced: bool = False  # somebody said what it costs, if only 0

    def serves(self, tier: int) -> bool:
        return tier in self.models


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelPlan:
    """Everything that is set about models."""

    chain: tuple[Spec, ...] = ()
    roles: Mapping[Role, int]
    caps: Caps = Caps()
    fallback: bool = True  # rules stand in
    stream: bool = True
    keep_prompts: bool = True

    @classmethod
    def read(cls, settings: Settings) -> "ModelPlan":
        """The plan that the settings describe. Raises ConfigInvalid."""
        kinds = _listed(settings.text("model_provider"))
        if kinds in ([], ["none"]):
            kinds = []
        elif wrong := [kind for kind in kinds if kind not in _KINDS]:
            raise ConfigInvalid(
                f"model_provider names {wrong[0]!r}", fix=f"set it to none, or to {', '.join(_KINDS)}, in the order to ask them"
            )
        columns = {
            "base_url": settings.text("model_base_url"),
            "shared": settings.text("model_name"),
            "brain": settings.text("model_name_brain"),
            "tool": settings.text("model_name_tool"),
            "key_env": settings.text("model_key_env"),
            "key_file": settings.text("model_key_file"),
            "price_in": settings.text("model_price_in"),
            "price_out": settings.text("model_price_out"),
        }
        rows = _rows(kinds, columns)
        command = settings.text("model_command")
        plan = cls(
            chain=tuple(_spec(kind, row, command) for kind, row in zip(kinds, rows, strict=True)),
            roles=_roles(settings.text("model_tiers")),
            caps=Caps(
                task_micros=_micros("model_cap_per_task", settings.text("model_cap_per_task")),
                day_micros=_micros("model_cap_per_day", settings.text("model_cap_per_day")),
                task_tokens=_counted("model_tokens_per_task", settings.number("model_tokens_per_task")),
                day_tokens=_counted("model_tokens_per_day", settings.number("model_tokens_per_day")),
                task_calls=_counted("model_calls_per_task", settings.number("model_calls_per_task")),
            ),
            fallback=settings.text("model_fallback") == "rules",
            stream=settings.flag("model_stream"),
            keep_prompts=settings.text("model_prompts") == "keep",
        )
        plan.check()
        return plan

    def tier(self, role: Role) -> int:
        """The tier that answers a role: 0 where only rules do."""
        tier = self.roles.get(role, 0)
        return tier if any(spec.serves(tier) for spec in self.chain) else 0

    def check(self) -> None:
        """Refuse what must not start: a judge below its planner, a cap in money on models without a price."""
        planner, judge = self.tier(Role.PLANNER), self.tier(Role.META_VALIDATOR)
        if judge < planner:
            raise ConfigInvalid(
                f"R4b would be served by tier {judge} and R2 by tier {planner}: a judge needs the tier of the planner",
                fix="give both brain in model_tiers, and a model to model_name_brain",
                planner=planner,
                judge=judge,
            )
        if self.caps.task_micros or self.caps.day_micros:
            for spec in self.chain:
                if spec.kind in _HTTP and not spec.priced:
                    raise ConfigInvalid(
                        f"a cap in money is set, but {spec.kind} has no price",
                        fix="set model_price_in and model_price_out (0 for a server of your own), or use model_tokens_per_day",
                    )


def _listed(text: str) -> list[str]:
    return [part.strip() for part in text.split(",")] if text.strip() else []


def _rows(kinds: list[str], columns: Mapping[str, str]) -> list[dict[str, str]]:
    """One value of each setting for each provider, by its place; a place that is not given is empty."""
    rows: list[dict[str, str]] = [{} for _ in kinds]
    for name, text in columns.items():
        values = _listed(text)
        if len(values) > len(kinds) and kinds:
            raise ConfigInvalid(
                f"{len(values)} values are given where {len(kinds)} providers are set: {text!r}"
                if "key" not in name
                else f"a setting of keys has {len(values)} values where {len(kinds)} providers are set",
                fix="give one value for each provider of model_provider, in its order",
            )
        for place, row in enumerate(rows):
            row[name] = values[place] if place < len(values) else ""
    return rows


def _spec(kind: str, row: Mapping[str, str], command: str) -> Spec:
    names = {BRAIN: row["brain"] or row["shared"], TOOL: row["tool"] or row["shared"]}
    words: tuple[str, ...] = ()
    if kind == "command":
        words = _words(command)
        names = {tier: name or words[0].rsplit("/", 1)[-1] for tier, name in names.items()}
    models = {tier: name for tier, name in names.items() if name}
    if not models:
        raise ConfigInvalid(
            f"{kind} has no model", fix="set model_name, or model_name_brain and model_name_tool, to models that it serves"
        )
    base_url = _checked_url(row["base_url"] or _USUAL[kind]) if kind in _HTTP else ""
    # The usual key goes to the usual host only: whoever names another host names the key that is meant for it.
    usual = _USUAL_KEY[kind] if kind in _HTTP and not row["base_url"] else ""
    key_env = row["key_env"] or ("" if row["key_file"] else usual)
    if (key_env or row["key_file"]) and base_url.startswith("http:") and not _loopback(base_url):
        raise ConfigInvalid(
            f"a key would go over plain http to {urlsplit(base_url).hostname}", fix="use https, or a server on this machine"
        )
    prices = {tier: _price(row, tier) for tier in models}
    return Spec(
        kind=kind,
        base_url=base_url,
        models=models,
        prices=prices,
        key_env=key_env,
        key_file=row["key_file"],
        words=words,
        priced=bool(row["price_in"] and row["price_out"]),
    )


def _words(command: str) -> tuple[str, ...]:
    try:
        words = tuple(shlex.split(command))
    except ValueError as broken:
        raise ConfigInvalid(f"model_command cannot be read: {broken}", fix="close its quotes") from None
    if not words:
        raise ConfigInvalid("model_provider names command, but model_command is empty", fix="set model_command")
    return words


def _checked_url(url: str) -> str:
    try:
        parts = urlsplit(url)
        host, port = parts.hostname, parts.port
    except ValueError:
        host, port, parts = None, None, urlsplit("")
    if parts.scheme not in ("http", "https") or not host or (port is not None and not 0 < port < 65_536):
        raise ConfigInvalid(
            "model_base_url is no address", fix="give an http or https address, such as http://localhost:11434/v1"
        )
    if parts.username or parts.password or parts.query or parts.fragment:
        raise ConfigInvalid("model_base_url holds more than an address", fix="give the key by model_key_env or model_key_file")
    return url.rstrip("/")


def _loopback(url: str) -> bool:
    host = urlsplit(url).hostname or ""
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return host == "localhost" or host.endswith(".localhost")


def _price(row: Mapping[str, str], tier: int) -> Price:
    """`3` for both tiers, or `3/0.8` for brain and tool."""
    amounts = []
    for name in ("price_in", "price_out"):
        brain, _, tool = row[name].partition("/")
        amounts.append(_amount(f"model_{name}", (tool or brain) if tier == TOOL else brain))
    return Price(given=amounts[0], written=amounts[1])


def _amount(name: str, text: str) -> Decimal:
    try:
        amount = Decimal(text.strip() or "0")
    except InvalidOperation:
        amount = Decimal(-1)
    if not amount.is_finite() or not 0 <= amount < 10**9:
        raise ConfigInvalid(f"{name} is {text!r}", fix=f'give {name} an amount, such as "2.50"')
    return amount


def _micros(name: str, text: str) -> int:
    return int(_amount(name, text) * 1_000_000)


def _counted(name: str, number: int) -> int:
    if number < 0:
        raise ConfigInvalid(f"{name} is {number}", fix=f"give {name} a number, or 0 for none")
    return number


def _roles(text: str) -> Mapping[Role, int]:
    roles = dict(ROLE_TIERS)
    for part in _listed(text):
        name, _, tier = (piece.strip() for piece in part.partition("="))
        role = next((one for one in ROLE_TIERS if one.value == name), None)
        if role is None or tier not in TIERS:
            raise ConfigInvalid(
                f"model_tiers says {part!r}",
                fix=f"name a role ({', '.join(one.value for one in ROLE_TIERS)}) and brain or tool, such as R4a=brain",
            )
        roles[role] = TIERS[tier]
    return roles
