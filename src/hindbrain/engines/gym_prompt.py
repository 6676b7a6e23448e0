"""Lane prompts: the task, the place, the budget and the form of the report. Nothing of what is planted, or of other lanes."""

from hindbrain.domain.gym_fixture import Arm, FixtureInfo, GymFamily

__all__ = ["FINDINGS_FILE", "prompted"]

FINDINGS_FILE = "findings.json"

_FORM = f"""Write what you found to `{FINDINGS_FILE}` in the directory you were started in, as JSON:

    {{"findings": [{{"path": "src/…", "line": 12, "symbol": "name", "statement": "what is wrong", "reproduction": null}}],
     "answer": {{}}, "events": []}}

`path` is relative to its repository; where there are several, add `repository`. `reproduction` may hold the text of a small
Python file with functions named test_…, which fail because of what you found and pass once it is mended. `events` may hold what
you did, one object each: {{"event_type": "file_read", "target": "src/…"}}."""

_ANSWERS = {
    GymFamily.HOST_RECOVERY: (
        'Put one entry per state into `answer`: {"states": {"NAME": {"diagnosis": "…", "plan": ["…"], "claims": ["…"]}}}.'
    ),
    GymFamily.MULTI_REPO_ORIENTATION: 'Name the place in `answer`: {"repository": "…", "path": "…"}.',
    GymFamily.CLAIM_SUPPORT: (
        'Put one verdict per claim into `answer`: {"verdicts": {"ID": "verified_for_mission"}}; else `insufficient_evidence` or '
        "`rejected`."
    ),
    GymFamily.BOUNDED_REFACTOR: "Change the files in place. The tests have to pass afterwards.",
}

_WAYS = {
    Arm.DIRECT: "Work with files and commands alone.",
    Arm.BASIC: "Hindbrain is at hand: its graph answers search, activate and impact.",
    Arm.TRAINED: "Hindbrain is at hand. Ask the graph once, then read sources, run documented examples and tests.",
    Arm.SHORT_AUDIT: "Work as a mission of Hindbrain with the budget `short`: start, do what is next, record it, verify, close.",
    Arm.MISSION_CONTROL: "Work as a mission of Hindbrain: start, do what comes next, record it, verify what you claim, close.",
}


def prompted(info: FixtureInfo, arm: Arm) -> str:
    """The prompt of a lane of this arm."""
    asked = "".join(f"- {name}: {value}\n" for name, value in sorted(info.request.items()))
    budget = "short" if arm is Arm.SHORT_AUDIT else info.budget
    parts = [
        f"# {info.title}",
        info.task,
        *([asked.rstrip("\n")] if asked else []),
        f"The repositories are directories of your workspace: {', '.join(info.repositories)}.",
        _WAYS[arm],
        f"Your budget is `{budget}`.",
        *([_ANSWERS[info.family]] if info.family in _ANSWERS else []),
        _FORM,
    ]
    return "\n\n".join(parts) + "\n"
