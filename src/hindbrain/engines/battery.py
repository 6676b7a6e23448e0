"""Battery: reads a case, says what must hold of an answer, and drafts the usual questions of each kind. Asks nobody."""

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import msgspec

from hindbrain.domain.battery import CASE_SCHEMA, OWN, Case, Expectation, Failing, Probe
from hindbrain.domain.brain import MEDULLA
from hindbrain.domain.misdelivery import Misdelivery
from hindbrain.domain.typed import decoded
from hindbrain.engines.fence import shown
from hindbrain.policy.battery import (
    ASKABLE,
    CASE_BYTES,
    EVIDENCE_CHARS,
    NARROW_TIERS,
    ONLY_ACTIONS,
    PROBES_MOST,
    TEXT_CHARS,
    TEXTS_MOST,
)

__all__ = ["case_text", "drafted", "judged", "read_case", "rows_in"]

_COUNTERS = ("queries_processed", "memory_beats_served")
_ASIDE = frozenset({"agent_runtime_contract", "honest_gaps", "binding", "self", "reception"})  # about the answer, not memory
_MISSING = object()


# -- case files --------------------------------------------------------------------------------------------------------


def case_text(case: Case) -> str:
    """A case as its file has it: plain, in a fixed order, so that the same case is the same bytes."""
    return json.dumps(msgspec.to_builtins(case), indent=2, ensure_ascii=False) + "\n"


def read_case(raw: bytes, *, name: str) -> Case | str:
    """The case of a file, or in a few words why it is none. The name of the file is the id of the case."""
    if len(raw) > CASE_BYTES:
        return f"it has more than {CASE_BYTES} bytes"
    try:
        case = decoded(raw, Case)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as wrong:
        return shown(str(wrong))[:EVIDENCE_CHARS]
    if case.schema != CASE_SCHEMA:
        return f"its schema is not {CASE_SCHEMA}"
    if case.id != name:
        return "its id is not the name of the file"
    if len(case.probes) > PROBES_MOST:
        return f"it asks more than {PROBES_MOST} questions"
    return next((why for probe in case.probes if (why := _wrong_with(probe))), case)


def _wrong_with(probe: Probe) -> str | None:
    allowed = ASKABLE.get(probe.call)
    if allowed is None:
        return f"a case may call {', '.join(ASKABLE)}, and nothing else"
    if strange := sorted(set(probe.arguments) - allowed):
        return f"{probe.call} of a case does not take {shown(', '.join(strange))[:80]}"
    for name, value in probe.arguments.items():
        plain = value is None or (isinstance(value, str) and len(value) <= TEXT_CHARS) or isinstance(value, int)
        if not plain:
            return f"{name} is no short text or whole number"
    if probe.call == "boot_memory" and probe.arguments.get("action", "list") not in ONLY_ACTIONS:
        return "boot_memory of a case only reads"
    if probe.arguments.get("tier") not in (None, *NARROW_TIERS):
        return "a case reads no further than its own brain and the medulla"
    expect = probe.expect
    if expect.says_nothing:
        return f"nothing is expected of {probe.call}"
    texts = (*expect.absent, *expect.present, *expect.listed, *expect.equals, *expect.at_least)
    if len(texts) > TEXTS_MOST or any(len(text) > TEXT_CHARS for text in texts):
        return f"an expectation has at most {TEXTS_MOST} texts of {TEXT_CHARS} characters"
    return None


# -- drafts ------------------------------------------------------------------------------------------------------------


def drafted(
    kind: Misdelivery, *, about: str, absent: Sequence[str] = (), present: Sequence[str] = (), where: str | None = None
) -> tuple[Probe, ...]:
    """The usual questions of a kind. Texts that must be gone or must be there belong to the brain that was bitten."""
    words = " ".join(shown(about).split())[:TEXT_CHARS] or "memory"
    usual: dict[Misdelivery, tuple[Probe, ...]] = {
        Misdelivery.LEAK: (
            Probe(call="north", arguments={"task": words}, expect=Expectation(only_own_stores=True)),
            Probe(call="seek", arguments={"query": words}, expect=Expectation(only_own_stores=True)),
        ),
        Misdelivery.FALSE_ABSENCE: (
            Probe(call="north", arguments={"task": words}, expect=Expectation(memory_told=True, at_least={"memory_exists": 1})),
        ),
        Misdelivery.WRONG_STORE_WRITE: (
            Probe(call="session_handshake", expect=Expectation(equals={"write_target.store_brain": OWN})),
        ),
        Misdelivery.MISATTRIBUTION: (Probe(call="instances", expect=Expectation(partitioned=True, listed=(OWN,))),),
        Misdelivery.VANISHED: (Probe(call="instances", expect=Expectation(listed=(OWN,))),),
    }
    told = [
        Probe(call="seek", arguments={"query": text[:TEXT_CHARS]}, expect=Expectation(absent=(text,)), where=where)
        for text in absent
    ]
    told += [
        Probe(call="seek", arguments={"query": text[:TEXT_CHARS]}, expect=Expectation(present=(text,)), where=where)
        for text in present
    ]
    return (*usual[kind], *told)


# -- verdicts ----------------------------------------------------------------------------------------------------------


def judged(probe: Probe, answer: Mapping[str, Any], *, own: str) -> list[Failing]:
    """What of the expectation does not hold. A refused question shows nothing, so it fails."""
    if answer.get("ok") is False:
        return [_failing(probe, "an answer", json.dumps(answer.get("error"), ensure_ascii=False, default=str))]
    expect, rows = probe.expect, list(rows_in(answer))
    found: list[Failing] = []
    for text in expect.absent:
        if holder := next((row for row in rows if _says(row, text)), None):
            found.append(_failing(probe, f"no row with {text!r}", _named(holder)))
    for text in expect.present:
        if not any(_says(row, text) for row in rows):
            found.append(_failing(probe, f"a row with {text!r}", f"{len(rows)} rows without it"))
    if expect.only_own_stores:
        foreign = [row for row in rows if _store(row) not in (own, MEDULLA)]
        found += [_failing(probe, "only rows of its own brain and the medulla", _named(row)) for row in foreign[:1]]
    if expect.memory_told:
        found += _untold(probe, answer, rows)
    if expect.partitioned:
        found += _mixed(probe, answer)
    for name in expect.listed:
        found += _unlisted(probe, answer, own if name == OWN else name)
    for path, value in expect.equals.items():
        wanted, seen = own if value == OWN else value, _at(answer, path)
        if seen is _MISSING or seen != wanted or isinstance(seen, bool) != isinstance(wanted, bool):
            found.append(_failing(probe, f"{path} = {value!r}", "nothing there" if seen is _MISSING else repr(seen)))
    for path, least in expect.at_least.items():
        seen = _at(answer, path)
        if not isinstance(seen, int) or isinstance(seen, bool) or seen < least:
            found.append(_failing(probe, f"{path} of at least {least}", "nothing there" if seen is _MISSING else repr(seen)))
    return found


def rows_in(answer: Any) -> Iterator[Mapping[str, Any]]:
    """Every memory row of an answer, wherever it stands."""
    if isinstance(answer, Mapping):
        if "tier" in answer and ("store_brain" in answer or "origin_brain" in answer):
            yield answer
            return
        for name, value in answer.items():
            if name not in _ASIDE:
                yield from rows_in(value)
    elif isinstance(answer, list):
        for one in answer:
            yield from rows_in(one)


def _says(row: Mapping[str, Any], text: str) -> bool:
    wanted = text.casefold()
    return any(wanted in said.casefold() for said in _strings(row))


def _strings(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping):
        for one in value.values():
            yield from _strings(one)
    elif isinstance(value, list | tuple):
        for one in value:
            yield from _strings(one)


def _untold(probe: Probe, answer: Mapping[str, Any], rows: Sequence[Mapping[str, Any]]) -> Iterator[Failing]:
    exists = answer.get("memory_exists")
    gaps = [one.get("kind") for one in answer.get("honest_gaps", ()) if isinstance(one, Mapping)]
    claims = sum(row.get("kind") == "light" for row in rows)
    if not isinstance(exists, int):
        yield _failing(probe, "a count of what exists", repr(exists))
    elif exists < claims:
        yield _failing(probe, "a count of all that is shown", f"memory_exists {exists} over {claims} claims")
    elif exists and "no_memory" in gaps:
        yield _failing(probe, "no claim of absence", f"the gap no_memory over {exists} claims")


def _mixed(probe: Probe, answer: Mapping[str, Any]) -> Iterator[Failing]:
    totals = answer.get("self", {})
    for name in _COUNTERS:
        # Rows are counted before the totals, and both only grow: more in the rows than in all means that one was told twice.
        rows = sum(row.get(name, 0) for row in answer.get("instances", ()))
        if rows > totals.get(name, 0):
            yield _failing(probe, f"{name} of each brain alone", f"{rows} in the rows, {totals.get(name, 0)} in all")


def _unlisted(probe: Probe, answer: Mapping[str, Any], name: str) -> Iterator[Failing]:
    wanted = None if name == MEDULLA else name
    row = next((row for row in answer.get("instances", ()) if row.get("project_root") == wanted), None)
    if row is None:
        yield _failing(probe, f"{name} in the listing", "no such row")
    elif "unreachable" in row:
        yield _failing(probe, f"{name} can be read", str(row["unreachable"]))


def _at(answer: Any, path: str) -> Any:
    for part in path.split("."):
        if not isinstance(answer, Mapping) or part not in answer:
            return _MISSING
        answer = answer[part]
    return answer


def _store(row: Mapping[str, Any]) -> Any:
    return row.get("store_brain", row.get("origin_brain"))  # a keyed value is kept where it was born


def _named(row: Mapping[str, Any]) -> str:
    return f"{row.get('slug') or row.get('key') or row.get('evidence_id') or 'a row'} of {_store(row)}"


def _failing(probe: Probe, expected: str, seen: str) -> Failing:
    return Failing(call=probe.call, expected=shown(expected)[:EVIDENCE_CHARS], seen=shown(seen)[:EVIDENCE_CHARS])
