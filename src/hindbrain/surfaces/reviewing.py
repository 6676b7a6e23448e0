"""Reviewing: the review queue at a terminal, item by item. Shows, asks, and carries out what a person chose, as ordinary
operations on the human channel. Nothing is decided by an empty line, and what was not answered to the end is not done."""

import sys
from typing import Any

from hindbrain.domain.errors import HumanNeeded
from hindbrain.services.review_text import item_text
from hindbrain.surfaces import cli, human, manifest, output, render
from hindbrain.surfaces.manifest import Command

__all__ = ["walk"]

_KEYS = {
    "promote": "p",
    "demote": "d",
    "retire": "r",
    "link": "l",
    "unlink": "u",
    "reject": "x",
    "keep": "k",
    "skip": "s",
    "quit": "q",
}
_NOTHING = "nothing was changed."


class _Ended(Exception):
    """The input ended, or the person has had enough."""


class _Back(Exception):
    """A question was left without an answer: back to the choices."""


def walk(op: Command, read: dict[str, Any], given: dict[str, Any]) -> int:
    """Go through the queue; the exit code. Interrupted anywhere, what was decided is done and nothing else."""
    answer = cli.answered(op, read, given)
    if not answer["ok"] or not answer["items"]:
        return output.present(answer, given)
    decided = skipped = 0
    known = manifest.load(cli.home_of(given))
    try:
        for number, item in enumerate(answer["items"], 1):
            output.tell(f"\n{number} of {len(answer['items'])}: {render.clean(item_text(item))}")
            if _settled(item, known, given):
                decided += 1
            else:
                skipped += 1
    except _Ended:
        output.tell("")
    left = len(answer["items"]) - decided - skipped + answer["left_out"]
    output.tell(f"{decided} decided, {skipped} skipped, {left} left.")
    return 0


def _settled(item: dict[str, Any], known: manifest.Manifest, given: dict[str, Any]) -> bool:
    """Ask until one item is decided or skipped."""
    names = [*dict.fromkeys(str(choice["name"]) for choice in item["choices"]), "skip", "quit"]
    offered = {_KEYS[name]: name for name in names}
    question = ", ".join(f"{name} ({_KEYS[name]})" for name in names)
    while True:
        name = offered.get(_asked(f"{question}: "))
        if name == "quit":
            raise _Ended
        if name == "skip":
            return False
        if name is None:
            output.tell(f"type one of {', '.join(offered)}; {_NOTHING}")
            continue
        try:
            choice = _one_of([choice for choice in item["choices"] if choice["name"] == name])
            answer = _carried_out(choice, known, given)
        except _Back:
            output.tell(f"back to the choices; {_NOTHING}")
            continue
        except HumanNeeded as refused:
            output.tell(refused.message)
            continue
        if answer["ok"]:
            output.tell(render.text(answer, colour=False))
            return True
        output.tell(render.failure(answer, colour=False))


def _asked(question: str) -> str:
    """One line of the person, without the white space around it."""
    sys.stderr.write(question)
    sys.stderr.flush()
    line = sys.stdin.readline()
    if not line.endswith("\n"):
        raise _Ended  # half a line is no answer
    return line.strip()


def _answered(question: str) -> str:
    said = _asked(f"  {question} (empty: back): ")
    if not said:
        raise _Back
    return said


def _one_of(choices: list[dict[str, Any]]) -> dict[str, Any]:
    """The choice that is meant; where there are several, by its number."""
    if len(choices) == 1:
        return choices[0]
    for number, choice in enumerate(choices, 1):
        output.tell(f"  {number}: {choice['name']} {render.clean(choice['about'])}")
    said = _answered("which one")
    if said not in [str(number) for number in range(1, len(choices) + 1)]:
        raise _Back
    return choices[int(said) - 1]


def _carried_out(choice: dict[str, Any], known: manifest.Manifest, given: dict[str, Any]) -> dict[str, Any]:
    """Everything is asked before anything is done."""
    arguments = dict(choice["arguments"])
    output.tell(f"  {choice['name']} {render.clean(choice['about'])}")
    seen: dict[str, str] = {}
    for ask in choice["asks"]:
        said = _answered(f"{ask['prompt']}, one of {', '.join(ask['options'])}" if ask["kind"] == "choice" else ask["prompt"])
        if ask["kind"] == "choice" and said not in ask["options"]:
            raise _Back
        if ask["kind"] in ("evidence", "evidence_list"):
            if not said.startswith("ev_") and " " not in said:
                raise _Back  # neither an id nor a sentence
            seen[ask["argument"]] = said
        arguments[ask["argument"]] = [said] if ask["kind"] == "evidence_list" else said
    op = known.operations[choice["operation"]]
    if choice["confirm"]:
        human.confirm(op, arguments)
    for name, said in seen.items():
        if not said.startswith("ev_"):
            kept = cli.answered(known.operations["record"], {"text": said}, given, person=True)
            if not kept["ok"]:
                return kept
            output.tell(f"  kept what you saw as {kept['evidence_id']}")
            arguments[name] = [kept["evidence_id"]] if isinstance(arguments[name], list) else kept["evidence_id"]
    return cli.answered(op, arguments, given, person=True)
