"""The chain of models: the providers that a plan describes, each with its key. Reads keys; shows them to nobody."""

import os
import stat
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from hindbrain.domain.errors import ConfigInvalid
from hindbrain.providers.port import LIMITS, PACE, Key, Limits, Pace, Provider
from hindbrain.services.control.model_plan import ModelPlan, Price, Spec
from hindbrain.stores.repository import canonical_root, repository_of

__all__ = ["Keys", "Link", "chain_of", "keys_of"]

_KEY_MAX = 4096


@dataclass(frozen=True, slots=True, kw_only=True)
class Link:
    """One provider in one tier. `lacks` says what keeps it from being asked at all."""

    provider: Provider
    price: Price
    lacks: str | None = None


class Keys:
    """The keys of a plan by the place of their provider."""

    def __init__(self, keys: Mapping[int, Key]) -> None:
        self._keys = dict(keys)

    def get(self, place: int) -> Key | None:
        return self._keys.get(place)

    def out_of(self, text: str) -> str:
        """A text without any of them."""
        for key in self._keys.values():
            text = key.out_of(text)
        return text


def keys_of(plan: ModelPlan, environ: Mapping[str, str]) -> Keys:
    """The keys that a plan names. A variable that is not set gives none; a file that may not hold a key is ConfigInvalid."""
    found: dict[int, Key] = {}
    for place, spec in enumerate(plan.chain):
        value = _from_file(spec.key_file) if spec.key_file else environ.get(spec.key_env, "").strip() if spec.key_env else ""
        if value and not (value.isascii() and value.isprintable() and " " not in value and len(value) <= _KEY_MAX):
            raise ConfigInvalid(f"the key of {spec.kind} is no key", fix="a key is one word of plain letters, digits and signs")
        if value:
            found[place] = Key(value)
    return Keys(found)


def _from_file(name: str) -> str:
    """A key from a file that only its owner reads, and that no commit can pick up."""
    path = canonical_root(name)
    if repository_of(str(Path(path).parent)).git:
        raise ConfigInvalid("model_key_file is inside of a repository", fix="keep the key outside of every repository")
    try:
        with open(path, "rb") as file:
            held = os.fstat(file.fileno())
            if not stat.S_ISREG(held.st_mode) or held.st_mode & 0o077 or held.st_uid != os.getuid():
                raise ConfigInvalid("model_key_file can be read by others", fix="make it yours and give it the mode 600")
            return file.read(_KEY_MAX + 2).decode("utf-8", "replace").strip()
    except OSError as missing:
        raise ConfigInvalid(f"model_key_file cannot be read: {missing.strerror}", fix="give the path of a file") from None


def chain_of(
    plan: ModelPlan,
    tier: int,
    *,
    keys: Keys,
    environ: Mapping[str, str],
    limits: Limits = LIMITS,
    pace: Pace = PACE,
) -> tuple[Link, ...]:
    """Who is asked in a tier, in order. The libraries of a wire are loaded here, when somebody will be asked."""
    return tuple(
        Link(
            provider=_made(plan, spec, place, tier, keys, environ, limits, pace),
            price=spec.prices[tier],
            lacks=_lacks(spec, place, keys),
        )
        for place, spec in enumerate(plan.chain)
        if spec.serves(tier)
    )


def _lacks(spec: Spec, place: int, keys: Keys) -> str | None:
    if spec.kind != "command" and spec.key_env and keys.get(place) is None:
        return f"the variable {spec.key_env} is not set where Hindbrain runs"
    return None


def _made(
    plan: ModelPlan,
    spec: Spec,
    place: int,
    tier: int,
    keys: Keys,
    environ: Mapping[str, str],
    limits: Limits,
    pace: Pace,
) -> Provider:
    model, key = spec.models[tier], keys.get(place)
    if spec.kind == "command":
        from hindbrain.providers.command import Command

        # A key that was named for another provider is none of its business.
        others = {one.key_env for one in plan.chain if one is not spec} - {spec.key_env}
        handed = {name: value for name, value in environ.items() if name not in others}
        return Command(words=spec.words, environ=handed, tier=tier, model=model, limits=limits)
    if spec.kind == "anthropic":
        from hindbrain.providers.anthropic import Anthropic

        return Anthropic(model=model, tier=tier, base_url=spec.base_url, key=key, stream=plan.stream, limits=limits, pace=pace)
    from hindbrain.providers.openai import OpenAI

    return OpenAI(model=model, tier=tier, base_url=spec.base_url, key=key, stream=plan.stream, limits=limits, pace=pace)
