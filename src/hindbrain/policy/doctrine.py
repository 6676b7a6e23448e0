"""Doctrine: how to work under mission control, in the words that agents receive. The one source of every pack; a change of it
cites the round that was measured (`docs/policy-notes.md`)."""

from collections.abc import Mapping
from dataclasses import dataclass

from hindbrain.domain.mission import MissionMode, Route

__all__ = [
    "BLOCK",
    "DOCTRINE",
    "DOCTRINE_VERSION",
    "HOSTS",
    "PACK_BYTES",
    "PACK_LINES",
    "PURPOSE",
    "ROUTES",
    "USES",
    "Host",
    "Section",
]

DOCTRINE_VERSION = "2"
# What an agent reads before every task must not become the task.
PACK_BYTES, PACK_LINES = 6 * 1024, 120
PURPOSE = (
    "Work under mission control: one bounded piece of work, one next move at a time, and nothing is called done that no event "
    "proves. This teaches when and how to work so; each tool explains itself."
)

USES: Mapping[MissionMode, str] = {
    MissionMode.BUG_HUNT: "find defects",
    MissionMode.REVIEW: "judge a diff or a module",
    MissionMode.REFACTOR: "a bounded change",
    MissionMode.DOCS_DRIFT: "compare documents with code",
    MissionMode.ARCHITECTURE: "understand a structure",
    MissionMode.RELEASE: "is it ready",
    MissionMode.HOST_RECOVERY: "repair a host or the runtime",
    MissionMode.ORIENTATION: "find the right repository or place",
    MissionMode.TASK: "anything else, with criteria",
}
ROUTES: Mapping[Route, str] = {
    Route.DIRECT_PROOF: "the target is known: no question to the graph",
    Route.SHORT_AUDIT: "trust, one orienting question, then direct proof",
    Route.TRAINED_AUDIT: "trust, an audit, one focused search, direct proof, a sweep",
    Route.RISK_FIRST: "impact and a check of the plan before the first edit",
    Route.DOCS_BINDING: "bind each statement to code, then verify it",
    Route.ARCHITECTURE_SURVEY: "several questions to the graph; claims about structure only",
    Route.RELEASE_PREFLIGHT: "tests, version, changelog, gates",
    Route.RECOVERY: "diagnosis, plan, repair in a shell, handshake",
    Route.BALANCED: "one audit, then direct proof",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Section:
    """One part of the pack. `modes` stands where the table of modes is put."""

    key: str
    title: str
    text: str


DOCTRINE: tuple[Section, ...] = (
    Section(
        key="router",
        title="Which mode",
        text="""\
Begin with `mission.start` (repo, task, mode, budget, risk). The mode picks the route:

{modes}

Then repeat: `mission.next` gives one move and what not to do; do it; `mission.event` says what came of it. Take the budget
`short` unless the task needs more.""",
    ),
    Section(
        key="when",
        title="When, and when not",
        text="""\
Use a mission for a broad review, a bug hunt, a risky refactor, a release check, and for any work whose result others must be
able to believe. Use none for a trivial exact edit, or where the compiler alone is the truth: edit, compile, done.""",
    ),
    Section(
        key="short_audit",
        title="Short audit",
        text="""\
For a small or local task: one check of trust (ingest if the graph is empty), one orienting question to the graph, then files and
tests. A second question before you have read something is in `do_not`.""",
    ),
    Section(
        key="direct_proof",
        title="Direct proof",
        text="""\
When the target is known or the fact can be read or run, read it or run it; do not ask the graph. A claim needs direct evidence:
a file that is really there, a test or command run with `hindbrain mission run -- COMMAND`, a commit. What the graph or memory
says is a hint; what you say yourself is a statement. `mission.claim`, then `mission.verify` with the events or `path:line`;
insufficient means go and look. A bug hunt sweeps once around its finding before `mission.close`.""",
    ),
    Section(
        key="light",
        title="L1GHT",
        text="""\
Write down as L1GHT what is to become part of the graph: decisions, strategy, policies of routes, conclusions of benchmarks.
`light.new` makes a skeleton, `ingest` with adapter `light` takes it in, `light.check` finds where code has left it. A stale
document supports no claim. No L1GHT for what only this task needs.""",
    ),
    Section(
        key="memory",
        title="Shared memory",
        text="""\
Makers propose: write a claim with `memorize`. Orchestrators and people promote it to all projects with `promote` and a reason; a
maker does not. Copy no claim by hand from one project into another.

Report memory that is in the wrong place with `report`, class `memory_misdelivery` and a kind: `leak` (of another project),
`false_absence` (it is there and was not shown), `wrong_store_write`, `misattribution` (wrong author or origin), `vanished`.""",
    ),
    Section(
        key="handover",
        title="Hand-over and dead paths",
        text="""\
Record what you ruled out when you rule it out:

```json
{"event_type": "dead_path", "target": "src/cache.py", "payload": {"why": "never called on this path"}}
```

Before you stop, or when somebody else goes on, hand over with `mission.handoff`:

```json
{"mission_id": "msn_…", "summary": "fault is in the retry, cache ruled out", "recipient": "codex:maker"}
```

Whoever goes on calls `mission.resume`. It gets claims, files read, tests run and dead paths, and rechecks only what changed. This
prevents repeated work; it orchestrates nobody.""",
    ),
    Section(
        key="recovery",
        title="Recovery",
        text="""\
- Wrong workspace: stop searching; the guard's payload says which setting, which value and which restart. Read files directly.
- Retrieval is empty though the graph is not: `recovery_playbook` with the answer's recovery, then `doctor`, then literal search.
- Old binary or missing tools: `hosts.status` and `update.status` look; repairs are commands of a person's shell, with `--yes`.
- Dead transport: no tool can answer. Run `hindbrain doctor --json` in a shell, then restart the session.
- A rebind is proven by a new `session_handshake`, never by a plan. Record the step as an event `recovery`.""",
    ),
    Section(
        key="dissent",
        title="Dissent",
        text="""\
You may act otherwise than `mission.next` says. Say so first; it never blocks and is counted:

```json
{"event_type": "dissent", "payload": {"why": "the test is quicker", "chosen_tool": "pytest", "evidence_required": "direct_test"}}
```

All three fields are required. Acting against `do_not` without it is noted in the proof as undeclared.""",
    ),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Host:
    """Where a host looks for such a text, and what must stand before it."""

    path: str  # below the directory that is given
    reference: str
    front: str = ""
    shared: bool = False  # the file is the user's; only a block in it is ours


_REFERENCE = "hindbrain-missions-reference.md"
BLOCK = ("<!-- hindbrain missions: begin -->", "<!-- hindbrain missions: end -->")
_ABOUT = "How to work under Hindbrain's mission control, from modes and proof to hand-over, recovery and dissent."

HOSTS: Mapping[str, Host] = {
    "generic": Host(path="hindbrain-missions.md", reference=_REFERENCE),
    "claude": Host(
        path=".claude/skills/hindbrain-missions/SKILL.md",
        reference=".claude/skills/hindbrain-missions/reference.md",
        front=f"---\nname: hindbrain-missions\ndescription: {_ABOUT}\n---\n\n",
    ),
    "codex": Host(path="AGENTS.md", reference=_REFERENCE, shared=True),
    "cursor": Host(
        path=".cursor/rules/hindbrain-missions.mdc",
        reference=".cursor/rules/hindbrain-missions-reference.md",
        front=f"---\ndescription: {_ABOUT}\nalwaysApply: false\n---\n\n",
    ),
    "gemini": Host(path="GEMINI.md", reference=_REFERENCE, shared=True),
}
