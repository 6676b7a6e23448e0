"""Doctor: looks at everything, changes nothing, and prints what to do."""

import os
import shlex
from collections.abc import Callable, Sequence
from typing import Any

from hindbrain import __version__
from hindbrain.domain.brain import MEDULLA, Brain
from hindbrain.domain.caller import Caller
from hindbrain.domain.claim import parse
from hindbrain.domain.errors import HindbrainError, StoreBehind
from hindbrain.domain.ledger import breaks
from hindbrain.domain.migration import AMBIGUOUS
from hindbrain.domain.read_errors import CheckFailed
from hindbrain.engines.conflicts import differ
from hindbrain.engines.fixes import command_of
from hindbrain.engines.tool_surface import tool_surface
from hindbrain.policy.limits import AGED_OUT_HOURS, DAY_MS, HOUR_MS, MEDULLA_SOFT_CAP, MEDULLA_WARN_AT
from hindbrain.services import anchors
from hindbrain.services.audience import Audience
from hindbrain.services.brains import Brains, OpenBrain, repository_ways
from hindbrain.services.checkout_health import checkout_notes
from hindbrain.services.claim_health import returned
from hindbrain.services.contract import Contract
from hindbrain.services.counters import BEATS, Counters, week_end, week_of
from hindbrain.services.doctor_audience import shown_warnings, unreachable
from hindbrain.services.doctor_sections import (
    STALE_BINDING,
    cause_of,
    diagnosed,
    file_warning,
    finding_warning,
    sections,
    warning,
)
from hindbrain.services.doctor_text import doctor_text
from hindbrain.services.embedding import Embedding
from hindbrain.services.environment import Environment
from hindbrain.services.evidence_faults import EvidenceFaults, fault_texts
from hindbrain.services.graphs import Graphs
from hindbrain.services.grounding import cited_lines
from hindbrain.services.home_files import HomeFiles
from hindbrain.services.hygiene_scan import HygieneScan
from hindbrain.services.index_health import (
    damaged_index,
    database_damage,
    files_health,
    graph_health,
    kind_of_damage,
    learned_health,
    set_aside_health,
    vectors_health,
)
from hindbrain.services.intents import intent_of
from hindbrain.services.knowledge_health import knowledge_health
from hindbrain.services.reconcile import Reconciler, kept_out, kept_out_fix
from hindbrain.services.recovery import Recovery, index_problem
from hindbrain.services.routing import Router
from hindbrain.services.rows import DEMOTION
from hindbrain.stores.home import Home
from hindbrain.stores.migration_backup import MigrationBackup
from hindbrain.stores.passphrase_file import PassphraseFile
from hindbrain.stores.token_file import damage_of

__all__ = ["Doctor"]

_WEEKS = 8


class Doctor:
    """One doctor with sections."""

    def __init__(
        self,
        home: Home,
        brains: Brains,
        router: Router,
        contract: Contract,
        counters: Counters,
        reconciler: Reconciler,
        recovery: Recovery,
        embedding: Embedding,
        graphs: Graphs,
        environment: Environment,
        clock: Callable[[], int],
        *,
        letters: Callable[[Caller, Sequence[str]], dict[str, Any]],
        cowork: Callable[[Caller], dict[str, Any] | None],
        files: HomeFiles,
        faults: EvidenceFaults,
        scan: HygieneScan,
        audience: Audience,
    ) -> None:
        self._faults = faults
        self._scan = scan
        self._audience = audience
        self._files = files
        self._letters = letters
        self._cowork = cowork
        self._home = home
        self._brains = brains
        self._router = router
        self._contract = contract
        self._counters = counters
        self._reconciler = reconciler
        self._recovery = recovery
        self._embedding = embedding
        self._graphs = graphs
        self._environment = environment
        self._clock = clock

    def doctor(
        self,
        caller: Caller,
        *,
        scope: str | None,
        observed: dict[str, Any],
        deep: bool,
        available: Sequence[str] | None = None,
        missing: Sequence[str] = (),
        hits: int | None = None,
    ) -> dict[str, Any]:
        """What is wrong, why it may be, and what to do; with `scan` also every file against the hygiene floor."""
        # A doctor looks: a database of an older release stays as it is until somebody works with it.
        with self._brains.looking():
            return self._looked(
                caller, scope=scope, observed=observed, deep=deep, available=available, missing=missing, hits=hits
            )

    def _looked(
        self,
        caller: Caller,
        *,
        scope: str | None,
        observed: dict[str, Any],
        deep: bool,
        available: Sequence[str] | None,
        missing: Sequence[str],
        hits: int | None,
    ) -> dict[str, Any]:
        around = self._environment.report(caller)
        route = self._router.route(caller)
        mode = self._contract.mode(route, scope)
        warnings = [{"level": "warn", **one} for one in around.pop("warnings")]
        memory = self._memory(caller, warnings)
        rows = self._table(warnings, deep=deep)
        findings = self._scan.findings(caller, self._all()) if deep else []
        warnings += [finding_warning(one) for one in findings]
        self._places(warnings)
        if not self._audience.reads_all(caller):
            own = self._audience.names(caller)
            warnings = shown_warnings(warnings, own)
            rows = [one if (one["root"] or MEDULLA) in own else one | unreachable(one) for one in rows]
            findings = [one for one in findings if one["brain"] is None or one["brain"] in own]
            memory["demotion_pending"] = [one for one in memory["demotion_pending"] if one["store_brain"] in own]
        diagnoses = self._recovery.diagnoses(
            caller, scope=scope, available=available, missing=missing, observed=observed, hits=hits
        )
        warnings += [diagnosed(one) for one in diagnoses]
        warnings = [{"brain": None, **one, "command": command_of(one["fix"], one.get("brain"))} for one in warnings]
        notes = [one for one in warnings if one["level"] == "note"]
        warnings = [one for one in warnings if one["level"] != "note"]
        suspected = mode == "full_trust" and observed.get("observed_proof_state") == "blocked"
        # A repository without files was ingested and has no graph: there is nothing to repair.
        unread = route.brain is not None and route.brain.last_ingest_ms is None and mode == "needs_ingest"
        blocked = unread or any(w["level"] == "blocked" for w in warnings)
        status = "blocked" if blocked else "warn" if warnings or suspected else "ok"
        answer = {
            "ok": True,
            "schema": "m1nd-doctor-v0",
            "status": status,
            "version": __version__,
            **around,
            "home": str(self._home.path),
            "diagnostics": {"trust_mode": mode, "stale_binding_suspected": suspected},
            "diagnoses": diagnoses,
            "sections": sections(warnings),
            "observed": observed,
            "tool_surface": tool_surface(available, missing),
            "graph_state": {"node_count": self._contract.fingerprint(route)["node_count"]},
            "context_guard": {"mismatch": self._contract.mismatch(route, scope)},
            "runtime_state": {"process_id": os.getpid(), "persistence_degraded": self._counters.degraded},
            "session_state": {"sessions": len(self._router.sessions())},
            "memory": memory,
            **({"cowork": bus} if (bus := self._cowork(caller)) is not None else {}),
            "brains": rows,
            "findings": [{key: value for key, value in one.items() if key != "brain"} for one in findings],
            "warnings": warnings,
            "notes": notes,
            "probable_causes": [*(cause_of(one) for one in diagnoses), *([STALE_BINDING] if suspected else [])],
            "next_actions": [w["fix"] for w in warnings if w.get("fix")] or (["nothing to do"] if status == "ok" else []),
            "exit_code": {"ok": 0, "warn": 1, "blocked": 2}[status],
        }
        if blocked:
            first = next((one for one in warnings if one["level"] == "blocked"), None)
            answer = CheckFailed(
                first["text"] if first else "the graph of this project is empty",
                fix=answer["next_actions"][0] if answer["next_actions"] else "run: hindbrain ingest",
            ).report(answer)
        return {**answer, "rendered": doctor_text(answer)}

    # -- sections ----------------------------------------------------------------------------------------------------

    def _all(self) -> list[Brain]:
        return [*self._brains.all(), *([self._home.medulla()] if self._brains.has_medulla() else [])]

    def _table(self, warnings: list[dict[str, Any]], *, deep: bool) -> list[dict[str, Any]]:
        rows = []
        warm = self._brains.warm()
        for brain in self._all():
            before = len(warnings)
            row: dict[str, Any] = {
                "root": brain.root,
                "name": brain.display_name,
                "kind": brain.tier.value,
                "state": "warm" if brain.name in warm else "dormant",
                "last_ingest_age_ms": None if brain.last_ingest_ms is None else self._clock() - brain.last_ingest_ms,
                "open_letters": 0,
            }
            try:
                with self._brains.use(brain) as opened:
                    self._reconciler.fresh(opened)
                    counts = opened.counted()
                    row |= {"claims": counts.active_claims, "node_count": counts.nodes, "edge_count": counts.edges}
                    self._look_at(opened, warnings, deep=deep)
            except StoreBehind as behind:
                warnings.append(warning("note", "schema_behind", f"{brain.name}: {behind}", behind.fix))
            except (HindbrainError, OSError) as failure:
                row["unreachable"] = str(failure)
                warnings.append(
                    warning("blocked", "brain_unreachable", f"{brain.name}: {failure}", getattr(failure, "fix", None))
                )
            if brain.root is not None and not os.path.isdir(brain.root):
                text = f"{brain.root} is gone; its brain is kept"
                warnings.append(warning("warn", "root_missing", text, "if it was moved: hindbrain rebind OLD NEW"))
            elif brain.root is not None and not self._brains.bindings.holds(brain, record=False):
                text = f"{brain.root} holds another repository than the one this brain was made for"
                warnings.append(warning("warn", "repository_changed", text, repository_ways(brain.root)))
            for one in warnings[before:]:
                one["brain"] = brain.name
            rows.append(row)
        return rows

    def _look_at(self, opened: OpenBrain, warnings: list[dict[str, Any]], *, deep: bool) -> None:
        name, store, now = opened.brain.name, opened.store, self._clock()
        damage = database_damage(opened)
        for problem in damage:
            if kind_of_damage(problem) is None:
                warnings.append(
                    warning("blocked", "database_damaged", f"{name}: {problem}", "restore the newest backup of brain.db")
                )
        if lost := damaged_index(damage) or index_problem(opened):
            warnings.append(warning("warn", "index_lag", f"{name}: {lost}", "hindbrain doctor --fix"))
        health = (
            vectors_health(opened, self._embedding, damage),
            graph_health(opened, self._graphs, damage),
            files_health(damage),
            learned_health(opened),
            *set_aside_health(opened),
        )
        warnings += [file_warning(one) for one in self._files.of_brain(opened)]
        for found in health:
            if found is not None:
                level = "note" if found.note else "warn"
                warnings.append(warning(level, found.kind, f"{name}: {found.text}", found.fix))
        rows = (*knowledge_health(store), *fault_texts(self._faults.found(opened)))
        warnings += [warning("warn", kind, f"{name}: {text}", fix) for kind, text, fix in rows]
        broken = breaks(store.entries(limit=10_000_000), head=store.head()) if deep else []
        for one in broken[:5]:
            warnings.append(
                warning("blocked", "ledger_broken", f"{name}: entry {one.seq} {one.reason}", "hindbrain ledger verify")
            )
        for file, path in kept_out(opened).values():
            warnings.append(warning("warn", file.kind, f"{path}: {file.note}", kept_out_fix(file.kind, path)))
        warnings += [warning("note", kind, text, fix) for kind, text, fix in checkout_notes(opened)]
        if gone := opened.lost_directory():
            warnings.append(warning("warn", "memory_directory_gone", *gone))
        for place in opened.places:
            for odd in place.misnamed():
                text = f"{place.path / odd}: no label gives this name, so the file is not served"
                warnings.append(warning("warn", "misnamed", text, "rename it to the slug of its Node"))
        if waiting := sum(opened.waiting.values()):
            text = f"{name}: {waiting} claim files are beyond memory_adopt_cap and are not served"
            warnings.append(warning("warn", "adoption_waits", text, "look at them, then raise memory_adopt_cap in config.toml"))
        for slug in sorted(opened.warned):
            warnings.append(warning("warn", "capped_out", f"{name}: {slug} is beyond memory_load_cap", "raise memory_load_cap"))
        intents = store.intents()
        if any(intent_of(one) is not None for one in intents):
            warnings.append(warning("warn", "half_promoted", f"{name}: a promotion was interrupted", "promote the claim again"))
        for intent in intents:
            if intent_of(intent) is None:
                text = f"{name}: row {intent.id} of the table intent of brain.db cannot be read, and nothing is done about it"
                warnings.append(warning("warn", "malformed_row", text, "restore brain.db from a copy if the row matters"))
        for version in store.each_live():
            claim = parse(version.text, fallback_label=version.slug)
            if claim.created is not None and claim.created > now:
                warnings.append(
                    warning("warn", "future_created", f"{name}#{version.slug} was created in the future", "check the clock")
                )
            warnings += returned(opened, version.slug, version.digest, version.active)

    def _memory(self, caller: Caller, warnings: list[dict[str, Any]]) -> dict[str, Any]:
        now = self._clock()
        weeks = [week_of(now - back * 7 * DAY_MS) for back in reversed(range(_WEEKS))]
        ends = [min(now, week_end(now - back * 7 * DAY_MS)) for back in reversed(range(_WEEKS))]
        held = [0] * _WEEKS
        beats: dict[str, int] = {}
        volume: dict[str, int] = {}
        pending: list[dict[str, Any]] = []
        unattributed: list[str] = []
        ambiguous: list[str] = []
        for brain in self._all():
            try:
                with self._brains.use(brain) as opened:
                    self._reconciler.fresh(opened)
                    volume[brain.name] = opened.store.counts().active_claims
                    held = [count + opened.store.active_at(end) for count, end in zip(held, ends, strict=True)]
                    for week, count in self._counters.weeks(opened, BEATS).items():
                        beats[week] = beats.get(week, 0) + count
                    pending += [
                        {"slug": m.slug, "by": m.by, "at": m.at, "store_brain": brain.name}
                        for m in opened.store.marks(kind=DEMOTION)
                    ]
                    if brain.root is None:
                        ambiguous = self._ambiguous(opened, warnings)
                        unattributed = [v.slug for v in opened.store.each_live() if parse(v.text).origin_brain is None]
            except StoreBehind:
                volume[brain.name] = -1  # the table of brains says so
            except (HindbrainError, OSError) as failure:
                # The table of brains names this one as unreachable; its numbers are simply not known here.
                volume[brain.name] = -1
                uncounted = warning("warn", "uncounted", f"{brain.name}: {failure}", None)
                warnings.append({**uncounted, "brain": brain.name})
        active = volume.get("medulla", 0)
        if active >= MEDULLA_WARN_AT:
            text = f"the medulla holds {active} claims"
            warnings.append(warning("warn", f"medulla_over_{MEDULLA_WARN_AT}", text, "hindbrain consolidate"))
        mismatched = [problem for brain, problem in self._home.manifests() if brain is None and problem]
        for problem in mismatched:
            warnings.append(
                warning("warn", "manifest_mismatch", problem, "put project_brain.json right or move the directory away")
            )
        told = self._letters(caller, weeks)
        if why := told.pop("unreadable", None):
            warnings.append(warning("warn", "letters_unreadable", f"letters are not counted: {why}", "hindbrain inbox-sweep"))
        return {
            "weeks": [
                {"week": week, **events, "volume": count, "memory_beats_served": beats.get(week, 0)}
                for week, events, count in zip(weeks, told.pop("weeks"), held, strict=True)
            ],
            **told,
            "volume_by_store": volume,
            "medulla": {
                "active": active,
                "soft_cap": MEDULLA_SOFT_CAP,
                "warn_at": MEDULLA_WARN_AT,
                "warn": active >= MEDULLA_WARN_AT,
            },
            "demotion_pending": pending,
            "conflicts": self._conflict_count(),
            "unattributed": unattributed,
            "ambiguous": len(ambiguous),
            "ambiguous_slugs": ambiguous,
            "manifest_mismatch": mismatched,
        }

    def _ambiguous(self, medulla: OpenBrain, warnings: list[dict[str, Any]]) -> list[str]:
        """Claims that a migration left for a person to classify, and a migration that did not end."""
        marked = [mark.slug for mark in medulla.store.marks(kind=AMBIGUOUS)]
        found = sorted(slug for slug, version in medulla.store.live(marked).items() if version.active)
        if found:
            text = f"a person has yet to say where {len(found)} of the medulla belong: {', '.join(found[:5])}"
            warnings.append(warning("warn", AMBIGUOUS, text, "hindbrain migrate plan --target TABLE, edit it, then apply it"))
        for backup in MigrationBackup.all(self._home.medulla_dir):
            if backup.manifest["state"] != "applied":
                text = f"{backup.path}: a migration was interrupted"
                warnings.append(warning("warn", "half_migrated", text, "hindbrain migrate rollback"))
        return found

    def _conflict_count(self) -> int:
        """Pairs that disagree, over all brains that can be read; one that cannot is in the warnings already."""
        if not self._brains.has_medulla():
            return 0
        count, shared = 0, {}
        for brain in (self._home.medulla(), *self._brains.all()):
            try:
                with self._brains.use(brain) as opened:
                    if brain.root is None:
                        shared = {v.slug: parse(v.text, fallback_label=v.slug) for v in opened.store.each_live() if v.active}
                        continue
                    live = opened.store.live(list(shared))
            except (HindbrainError, OSError):
                continue
            count += sum(v.active and differ(parse(v.text, fallback_label=slug), shared[slug]) for slug, v in live.items())
        return count

    def _places(self, warnings: list[dict[str, Any]]) -> None:
        warnings += [{**file_warning(one), "brain": one.brain} for one in self._files.of_home()]
        for path in self._home.token_files:
            if not path.exists():
                continue
            if path.stat().st_mode & 0o077:
                warnings.append(
                    warning("warn", "token_readable", f"{path} can be read by others", f"chmod 600 {shlex.quote(str(path))}")
                )
            if (why := damage_of(path)) is not None:
                fix = "hindbrain doctor --fix --yes, then hindbrain stop"
                warnings.append(warning("warn", "token_damaged", f"{path} is no token: {why}", fix))
        passphrase = PassphraseFile(self._home.path)
        if (why := passphrase.damage()) is not None:
            fix = "a person removes the file and runs: hindbrain passphrase set"
            warnings.append(warning("warn", "passphrase_damaged", f"{passphrase.path} cannot be used: {why}", fix))

    # -- freshness ---------------------------------------------------------------------------------------------------

    def cross_verify(self, caller: Caller) -> dict[str, Any]:
        """Compare claims with the files they cite. Changes nothing."""
        brain = self._router.write_route(caller)
        stale: list[dict[str, Any]] = []
        verified = True
        brains = [brain, *([self._home.medulla()] if self._brains.has_medulla() else [])]
        for one in brains:
            with self._brains.use(one) as opened:
                self._reconciler.fresh(opened)
                found = self._stale_evidence(opened)
                if one.root is not None and not (opened.graph_path.exists() and opened.graph and opened.graph.files()):
                    verified = False
                    found = [entry for entry in found if entry["reason"] != "evidence_changed"]
                stale += found
        return {
            "stale_evidence": stale,
            "stale_evidence_count": len(stale),
            "freshness_note": "verified_against_stored_inventory" if verified else "unverifiable_until_code_reingest",
        }

    def _stale_evidence(self, opened: OpenBrain) -> list[dict[str, Any]]:
        found: list[dict[str, Any]] = []
        now = self._clock()
        for version in opened.store.each_live():
            if not version.active:
                continue
            claim = parse(version.text, fallback_label=version.slug)
            base: dict[str, Any] = {
                "claim": claim.label,
                "slug": version.slug,
                "marker": "evidence",
                "store_brain": opened.brain.name,
            }
            if opened.brain.root is not None:
                cited = opened.store.anchors([version.slug]).get(version.slug, {})
                found += [
                    base | {"evidence_path": path, "reason": why} | cited_lines(opened, version.slug, path)
                    for path, why in anchors.changed(cited, opened.brain.root).items()
                ]
                found += [
                    base | {"evidence_path": path, "reason": "evidence_possibly_changed"}
                    for path, digest in cited.items()
                    if not digest and anchors.file_digest(opened.brain.root, path)
                ]
            else:
                found += [
                    base | {"evidence_path": path, "reason": why}
                    for path, why in self._origin_state(claim.evidence, version.slug)
                ]
            if claim.created is not None and now - claim.created > AGED_OUT_HOURS * HOUR_MS:
                found.append(base | {"evidence_path": None, "reason": "aged_out", "age_ms": now - claim.created})
        return found

    def _origin_state(self, evidence: tuple[str, ...], slug: str) -> list[tuple[str, str]]:
        """Freshness of origin-qualified evidence, as the brain it came from tells it."""
        found = []
        for value in evidence:
            root, _, path = value.partition("#")
            brain = self._home.project(root) if path else None
            if brain is None:
                found.append((value, "unverifiable"))
                continue
            try:
                with self._brains.use(brain) as opened:
                    cited = opened.store.anchors([slug]).get(slug, {})
            except (HindbrainError, OSError):
                found.append((value, "unverifiable"))
                continue
            changed = anchors.changed(cited, root)
            found += [(value, why) for one, why in changed.items() if one == path.split(":", 1)[0]]
        return found
