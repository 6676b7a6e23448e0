"""Completion: scripts for shells, with every command and its flags written into them, so that pressing Tab starts nothing."""

from collections.abc import Iterable

from hindbrain.surfaces.arguments import GLOBALS, kind_of
from hindbrain.surfaces.manifest import Command

__all__ = ["SHELLS", "script"]

SHELLS = ("bash", "zsh", "fish")


def script(shell: str, commands: Iterable[Command]) -> str:
    """The completion script of one shell."""
    flags = {str(command["name"]).replace(".", " ").replace("_", "-"): _flags(command) for command in commands}
    return {"bash": _bash, "zsh": _zsh, "fish": _fish}[shell](dict(sorted(flags.items())))


def _flags(command: Command) -> list[str]:
    found: list[str] = []
    for name, schema in command["schema"].get("properties", {}).items():
        flag = name.replace("_", "-")
        found += [f"--{flag}", f"--no-{flag}"] if kind_of(schema)[0] == "boolean" else [f"--{flag}"]
    return list(dict.fromkeys([*found, *(f"--{name}" for name in GLOBALS if name != "version")]))


def _next_words(commands: Iterable[str]) -> dict[str, list[str]]:
    """What may follow: "" -> first words, a noun or a group of its verbs -> its verbs."""
    found: dict[str, list[str]] = {"": []}
    for name in commands:
        words = name.split()
        for depth, word in enumerate(words):
            follow = found.setdefault(" ".join(words[:depth]), [])
            if word not in follow:
                follow.append(word)
    return found


def _bash(flags: dict[str, list[str]]) -> str:
    words = _next_words(flags)
    cases = [f'    "{name}") words="{" ".join(found)}" ;;' for name, found in words.items()]
    options = [f'    "{name}") flags="{" ".join(found)}" ;;' for name, found in flags.items()]
    return "\n".join(
        [
            "# hindbrain completion for bash: source this file, or put it into your completions directory",
            "_hindbrain() {",
            '  local current="${COMP_WORDS[COMP_CWORD]}" words="" flags=""',
            '  local first="${COMP_WORDS[1]}" second="${COMP_WORDS[2]}" third="${COMP_WORDS[3]}"',
            "  local -a path=()",
            '  ((COMP_CWORD > 1)) && path+=("$first")',
            '  ((COMP_CWORD > 2)) && path+=("$second")',
            '  case "${path[*]}" in',
            *cases,
            "  esac",
            '  case "$first $second $third" in',
            *(line.replace('")', '"*)') for line in options),
            "  esac",
            '  if [[ "$current" == -* ]]; then COMPREPLY=($(compgen -W "$flags" -- "$current"))',
            '  elif ((COMP_CWORD < 4)) && [[ -n "$words" ]]; then COMPREPLY=($(compgen -W "$words" -- "$current"))',
            '  else COMPREPLY=($(compgen -f -- "$current")); fi',
            "}",
            "complete -o filenames -F _hindbrain hindbrain",
        ]
    )


def _zsh(flags: dict[str, list[str]]) -> str:
    return "#compdef hindbrain\nautoload -U +X bashcompinit && bashcompinit\n" + _bash(flags)


def _fish(flags: dict[str, list[str]]) -> str:
    words = _next_words(flags)
    lines = ["# hindbrain completion for fish: put this file into ~/.config/fish/completions", "complete -c hindbrain -f"]
    lines += [f"complete -c hindbrain -n __fish_use_subcommand -a '{word}'" for word in words[""]]
    for noun, verbs in words.items():
        if noun:
            condition = " ; and ".join(f"__fish_seen_subcommand_from {word}" for word in noun.split())
            lines.append(f"complete -c hindbrain -n '{condition}' -a '{' '.join(verbs)}'")
    for name, found in flags.items():
        condition = " ; and ".join(f"__fish_seen_subcommand_from {word}" for word in name.split())
        lines += [f"complete -c hindbrain -n '{condition}' -l {flag[2:]}" for flag in found]
    return "\n".join(lines)
