"""Recovery: what is installed, what runs, what hosts start, and which known fault explains a bad answer. Changes nothing."""

import json
import os
import sys
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from hindbrain.domain.caller import Caller
from hindbrain.domain.claim import Claim, parse
from hindbrain.domain.errors import HindbrainError
from hindbrain.domain.handshake import Handshake
from hindbrain.engines.diagnosis import DIAGNOSES, NON_CLAIMS, Signals, diagnose
from hindbrain.engines.moments import stamped
from hindbrain.engines.rebinding import changed_at, proof
from hindbrain.engines.recovery_plane import planned, step
from hindbrain.engines.text import terms
from hindbrain.engines.tool_surface import REQUIRED_TOOLS, tool_name
from hindbrain.policy.doctrine import HOSTS as PACKS
from hindbrain.policy.hosts import HOSTS, SERVER, Host
from hindbrain.services.brains import Brains, OpenBrain
from hindbrain.services.contract import Contract
from hindbrain.services.handshakes import Handshakes
from hindbrain.services.host_entries import NOT_LISTED, Configured, configured
from hindbrain.services.recovery_text import hosts_text, update_text
from hindbrain.services.routing import Route, Router
from hindbrain.stores.home import Home, default_home
from hindbrain.stores.installation import executables, installed, release, running, started_as
from hindbrain.stores.repository import canonical_root
from hindbrain.stores.vector_port import Shelf

__all__ = ["Recovery", "index_problem"]

_PROBED = 24  # newest claims that must be found by their own words; enough to see an index that was not filled


class Recovery:
    """The recovery plane of one home."""

    def __init__(
        self,
        home: Home,
        brains: Brains,
        router: Router,
        contract: Contract,
        environ: Mapping[str, str],
        handshakes: Handshakes,
    ) -> None:
        self._home = home
        self._brains = brains
        self._router = router
        self._contract = contract
        self.environ = environ
        self._handshakes = handshakes
        self.offered: tuple[str, ...] = ()  # tools of the default profile, told by the composition root

    # -- diagnoses ---------------------------------------------------------------------------------------------------

    def diagnoses(
        self,
        caller: Caller,
        *,
        scope: str | None,
        available: Sequence[str] | None = None,
        missing: Sequence[str] = (),
        observed: Mapping[str, Any] | None = None,
        hits: int | None = None,
    ) -> list[dict[str, Any]]:
        """The known faults that show right now, one that hides others first. `hits`: claims that hold the failed words."""
        found = diagnose(self._signals(caller, scope, available, missing, observed or {}, hits))
        return [asdict(one) | {"mutating": False, "non_claims": list(NON_CLAIMS)} for one in found]

    def _signals(
        self,
        caller: Caller,
        scope: str | None,
        available: Sequence[str] | None,
        missing: Sequence[str],
        observed: Mapping[str, Any],
        hits: int | None,
    ) -> Signals:
        route = self._router.route(caller)
        here, owner, wanted = installed(), running(self._home), release(self._home)
        blocked = observed.get("observed_proof_state") == "blocked" or observed.get("observed_candidates") == 0
        return Signals(
            error_text=observed.get("error_text"),
            owner_pid=owner.pid if owner else None,
            owner_problem=owner.problem if owner else None,
            offered_tools=self.offered,
            listed_tools=None if available is None else tuple(tool_name(name) for name in available),
            missing_tools=tuple(tool_name(name) for name in missing),
            required_tools=REQUIRED_TOOLS,
            mismatch=self._contract.mismatch(route, scope),
            installed_version=here.version,
            recorded_version=here.recorded,
            editable=here.editable,
            expected_version=wanted.version,
            installed_build=here.build,
            expected_build=wanted.build,
            running_version=owner.version if owner and owner.alive else None,
            running_build=owner.build if owner and owner.alive else None,
            programs=self._programs(caller),
            nodes=self._contract.fingerprint(route)["node_count"],
            observed_blocked=blocked,
            literal_hits=hits,
            index_problem=self._index_problem(route),
        )

    def _programs(self, caller: Caller) -> tuple[tuple[str, str], ...]:
        """Every program that is meant by `hindbrain` somewhere, with the file it leads to."""
        found = [(f"PATH: {one.path}", one.real) for one in executables(self.environ) if not one.shadowed]
        for host in HOSTS:
            found += [(f"{host.title}: {one.file}", one.real) for one in self.entries(host, caller.root) if one.real]
        mine = os.path.realpath(sys.argv[0])
        if os.path.basename(mine) == SERVER:
            found.append((f"process {os.getpid()}", mine))
        return tuple(found)

    def _index_problem(self, route: Route) -> str | None:
        brain = route.brain or route.lent
        if brain is None:
            return None
        try:
            with self._brains.use(brain) as opened:
                return index_problem(opened)
        except (HindbrainError, OSError) as failure:
            return str(failure)

    # -- update ------------------------------------------------------------------------------------------------------

    def update_status(self) -> dict[str, Any]:
        """What is installed and what runs. Works without an owner and without a network."""
        here, owner, wanted = installed(), running(self._home), release(self._home)
        programs = executables(self.environ)
        skew = owner is not None and owner.alive and (owner.version, owner.build) != (here.version, here.build)
        state = "unknown" if wanted.version is None else "current" if wanted.version == here.version else "stale"
        if here.recorded is None and not programs:
            state = "missing"  # neither a program to start nor a record of an installation
        state = "mixed" if skew else state
        diagnosis = {"mixed": "stale_runtime", "stale": "stale_package"}.get(state)
        status = planned(
            "hindbrain-update-status-v0",
            diagnosis=diagnosis,
            evidence={"installed": here.version, "expected": wanted.version, "running": owner.version if owner else None},
            plan=[asdict(one) for one in DIAGNOSES[diagnosis][1]] if diagnosis else [],
            proof_required=DIAGNOSES[diagnosis][2] if diagnosis else (),
            state=state,
            installed=asdict(here),
            this_process={"pid": os.getpid(), "build": started_as()},
            owner=None if owner is None else asdict(owner),
            owners_visible=int(owner is not None and owner.alive),
            owner_version_skew=skew,
            expected=asdict(wanted),
            latest=wanted.version or "unknown",
            executables=[asdict(one) for one in programs],
        )
        return status | {"rendered": update_text(status)}

    def update_plan(self) -> dict[str, Any]:
        """The commands that would bring the expected version in. Carries out none of them."""
        status = self.update_status()
        expected, version = status["expected"]["version"], status["installed"]["version"]
        steps: list[dict[str, Any]] = []
        if expected and expected != version:
            steps.append(step("export every brain first", "hindbrain export --help"))
            steps.append(step(f"install {expected}", f"python -m pip install 'hindbrain=={expected}'", mutating=True))
        if steps or status["owner_version_skew"]:
            steps.append(step("end the owner; the next client starts the installed one", "hindbrain stop", mutating=True))
            steps.append(step("see that the versions agree", "hindbrain update status"))
        planned_as = {**status, "schema": "hindbrain-update-plan-v0", "steps": steps, "plan": steps}
        return planned_as | {"rendered": update_text(planned_as)}

    # -- hosts -------------------------------------------------------------------------------------------------------

    def entries(self, host: Host, root: str | None) -> tuple[Configured, ...]:
        """Our entries in the files of a host."""
        return configured(host, user=self.user, project=Path(root) if root else None, environ=self.environ)

    @property
    def user(self) -> Path:
        return Path(self.environ.get("HOME") or os.path.expanduser("~"))

    @property
    def named_home(self) -> str | None:
        """This home, where a program that nobody tells would find another one."""
        plain = {name: value for name, value in self.environ.items() if name != "HINDBRAIN_HOME"}
        return None if default_home(plain) == self._home.path else str(self._home.path)

    @property
    def program(self) -> str:
        """The program that a host is to start."""
        first = next(iter(executables(self.environ)), None)
        mine, beside = os.path.realpath(sys.argv[0]), os.path.join(os.path.dirname(sys.executable), SERVER)
        return first.path if first else beside if os.path.basename(mine) != SERVER and os.path.exists(beside) else mine

    @property
    def expected_build(self) -> str:
        return release(self._home).build or installed().build

    def hosts_status(self, caller: Caller, *, host: str | None, project: str | None) -> dict[str, Any]:
        """What each known host is configured to start, whether that is this program, and whether a handshake shows it."""
        root = canonical_root(project) if project else caller.root
        first = next(iter(executables(self.environ)), None)
        build, records, changes = self.expected_build, self._handshakes.all(), self._handshakes.changes()
        rows = []
        for one in HOSTS:
            if host in (None, "all", one.name):
                entries = self.entries(one, root)
                used = next((entry for entry in entries if entry.found), None)
                since = changed_at(
                    changes,
                    one.name,
                    entry=used.digest if used else None,
                    file_at=os.stat(used.file).st_mtime_ns // 1_000_000 if used else None,
                )
                shown, why = proof(records, one.name, since=since, build=build, workspace=root)
                row = _host_row(one, entries, first.real if first else None, root)
                last = self._handshakes.latest(one.name)
                rows.append(
                    {
                        **row,
                        "pack_present": any(_packed(base, one) for base in (root, str(self.user)) if base),
                        "changed_at": stamped(since) if since else None,
                        "last_handshake": None if last is None else _told(last),
                        "host_rebind_proven": shown is not None and used is not None,
                        "rebind_missing": why if used is not None else "no file of this host lists Hindbrain",
                    }
                )
        wrong = [row for row in rows if row["color"] == "red"]
        status = planned(
            "hindbrain-hosts-status-v0",
            diagnosis="mixed_path_config" if wrong else None,
            evidence={
                "expected_build": build,
                "expected_workspace": root,
                "wrong": {row["host"]: row["reason"] for row in wrong},
            },
            plan=[asdict(one) for one in DIAGNOSES["mixed_path_config"][1]] if wrong else [],
            proof_required=("host_handshake",),
            project=root,
            hosts=rows,
            host_rebind_proven=bool(rows)
            and all(row["host_rebind_proven"] for row in rows if row["config_file"])
            and any(row["config_file"] for row in rows),
        )
        return status | {"rendered": hosts_text(status)}

    def entry_for(self, host: Host, root: str | None, *, of_project: bool) -> dict[str, Any]:
        """What a host's file is to say of us. A file of the user serves every project: a root in it would bind them all to this
        one."""
        bound = host.root_variable or (root if of_project else None)
        # Not the name itself: a child that was started under another one must keep it.
        variables = {"HINDBRAIN_HOST": host.name} | ({"HINDBRAIN_WORKSPACE_ROOT": bound} if bound else {})
        variables |= {"HINDBRAIN_HOME": self.named_home} if self.named_home else {}
        return {**host.entry, "command": self.program, "args": ["mcp"], "env": variables}

    def hosts_plan(self, caller: Caller, *, host: str | None, project: str | None) -> dict[str, Any]:
        """The exact entry for each host's file, and how to prove it afterwards. Edits nothing."""
        status = self.hosts_status(caller, host=host, project=project)
        plans = []
        for one in HOSTS:
            if host in (None, "all", one.name):
                entry = {SERVER: self.entry_for(one, status["project"], of_project=one.files[0].of_project)}
                plans.append(
                    {
                        "host": one.name,
                        "candidate_files": [("" if file.of_project else "~/") + file.path for file in one.files],
                        "snippet": {one.files[0].key: entry},
                        "steps": [
                            "put the snippet into one of the files",
                            one.refresh,
                            "call session_handshake and compare its fingerprint",
                        ],
                        "verify": ["hindbrain hosts status", "hindbrain session-handshake"],
                    }
                )
        rendered = "\n\n".join(_pasted(one, plan) for one in HOSTS for plan in plans if plan["host"] == one.name)
        steps = [
            step(f"{plan['host']}: {text}", mutating=number < 2) for plan in plans for number, text in enumerate(plan["steps"])
        ]
        return {**status, "schema": "hindbrain-hosts-plan-v0", "plans": plans, "plan": steps, "rendered": rendered}


def _packed(base: str, host: Host) -> bool:
    """Whether the doctrine pack of a host lies in a directory. Some hosts keep it in a file that is not ours alone."""
    try:
        return SERVER in Path(base, PACKS[host.pack].path).read_text(encoding="utf-8", errors="replace").lower()
    except OSError:
        return False


def _told(shaken: Handshake) -> dict[str, Any]:
    """A handshake as a report shows it."""
    names = ("session_id", "client_name", "client_version", "build_id", "tools_digest", "workspace_root", "transport")
    return {"at": stamped(shaken.at), **{name: getattr(shaken, name) for name in names}}


def _pasted(host: Host, plan: dict[str, Any]) -> str:
    """One host's entry, ready to be pasted, with where it goes and what to do then."""
    (key, servers), entry = next(iter(plan["snippet"].items())), plan["snippet"][host.files[0].key][SERVER]
    if host.files[0].form == "toml":
        quoted = {name: json.dumps(value) for name, value in entry.items() if name != "env"}
        lines = [f"[{key}.{SERVER}]", *(f"{name} = {value}" for name, value in quoted.items())]
        lines += ["", f"[{key}.{SERVER}.env]", *(f"{name} = {json.dumps(value)}" for name, value in entry["env"].items())]
        text = "\n".join(lines)
    else:
        text = json.dumps({key: servers}, indent=2)
    where = " or ".join(plan["candidate_files"])
    return f"{host.title}: put this into {where}, then {host.refresh}.\n{text}"


def _host_row(host: Host, entries: tuple[Configured, ...], mine: str | None, root: str | None) -> dict[str, Any]:
    """One host: grey without a file, red when what it starts is not this program or not there, green otherwise."""
    used = next((one for one in entries if one.found), None)
    unread = next((f"{one.file} {one.problem}" for one in entries if not one.found and one.problem != NOT_LISTED), None)
    problem = None if used is None else used.problem
    if used is not None and problem is None and mine is not None and used.real != mine:
        problem = f"it starts {used.real}, the search path leads to {mine}"
    hint = dict(used.environment).get("HINDBRAIN_WORKSPACE_ROOT") if used else None
    if problem is None and hint and root and os.path.isabs(hint) and canonical_root(hint) != root:
        problem = f"it is bound to {hint}, not to {root}"
    return {
        "host": host.name,
        "title": host.title,
        "color": "grey" if used is None else "red" if problem else "green",
        "reason": problem if used is not None else unread or "no file of this host lists Hindbrain",
        "files": [one.file for one in entries],
        "config_file": used.file if used else None,
        "command": used.command if used else None,
        "arguments": list(used.arguments) if used else [],
        "environment": dict(used.environment) if used else {},
        "workspace_hint": hint,
        "aligned": used is not None and problem is None,
    }


def index_problem(opened: OpenBrain) -> str | None:
    """Why words do not lead to claims that have them, or None. Asks the index for claims by their own words."""
    if lag := opened.store.lag():
        return f"the text index is {lag} acts behind"
    lost = [v.slug for v in opened.store.recent(_PROBED) if not _found(opened, parse(v.text, fallback_label=v.slug), v.slug)]
    return f"{len(lost)} of the newest claims are not found by their own words: {', '.join(lost[:3])}" if lost else None


def _found(opened: OpenBrain, claim: Claim, slug: str) -> bool:
    words = list(dict.fromkeys(terms(claim.label)))
    found = opened.store.find(words, limit=1_000, within=None)
    return not words or slug in opened.store.keys(Shelf.CLAIM, found.turns).values()
