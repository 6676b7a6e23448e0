"""Federation: several repositories in one graph, in a brain of its own, when a caller says so. No project's graph is touched, and
no memory is carried over."""

import json
import os
import re
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from hindbrain.domain.brain import Brain, BrainId
from hindbrain.domain.caller import Caller
from hindbrain.domain.errors import HindbrainError, InvalidParams, PathRefused
from hindbrain.domain.graph import Edge, Node
from hindbrain.engines.crossing import Crossing, RepositoryText, crossings, named_paths, package_names
from hindbrain.policy.federation import MOST_BYTES, MOST_FILES, MOST_REPOSITORIES
from hindbrain.services.authority import ANALYSIS, Authority
from hindbrain.services.brains import Brains, OpenBrain
from hindbrain.services.graph_access import check_member
from hindbrain.services.graphs import Graphs, Wish
from hindbrain.services.routing import Router, refuse_home_directory
from hindbrain.stores.graph import LocalGraph
from hindbrain.stores.graph_port import GraphArrays
from hindbrain.stores.memory import MemoryStore
from hindbrain.stores.ordinary_file import open_ordinary
from hindbrain.stores.repository import canonical_root, main_path

__all__ = ["Federation"]

Progress = Callable[[int, int, str], None]

_NAME = re.compile(r"^[\w][\w.-]{0,63}$")
_BATCH = 5000
_CROSS = "cross-repo"
_SIGNS = (".git", "package.json", "Cargo.toml", "pyproject.toml", "go.mod")


class Federation:
    """Builds and proposes analyses over several repositories."""

    def __init__(self, brains: Brains, router: Router, graphs: Graphs, authority: Authority, clock: Callable[[], int]) -> None:
        self._brains = brains
        self._router = router
        self._graphs = graphs
        self._authority = authority
        self._clock = clock

    # -- federate ----------------------------------------------------------------------------------------------------

    def federate(
        self,
        caller: Caller,
        *,
        repos: Sequence[Mapping[str, str]],
        name: str | None,
        detect: bool,
        incremental: bool,
        progress: Progress,
    ) -> dict[str, Any]:
        """One graph of several repositories, with ids that begin with the name of each."""
        start = time.perf_counter()
        wanted = self._checked(repos)
        analysis = self._analysis(caller, name or "-".join(sorted(wanted))[:60])
        ingested: list[dict[str, Any]] = []
        skipped: list[dict[str, str]] = []
        texts: list[RepositoryText] = []
        with self._brains.use(analysis) as opened:
            graph = opened.graph
            if graph is None:  # only the medulla has none, and it is never an analysis
                raise InvalidParams(f"{analysis.name} cannot hold code", fix="choose another name")
            self._drop_others(graph, set(wanted))
            for number, (repo, path) in enumerate(wanted.items()):
                progress(number, len(wanted), f"reading {repo}")
                try:
                    row, text = self._taken_in(opened, graph, repo, path, incremental=incremental)
                except (HindbrainError, OSError) as failure:
                    skipped.append({"name": repo, "path": path, "reason": str(failure)})
                    continue
                ingested.append(row)
                texts.append(text)
            found = crossings(texts) if detect else []
            graph.merge(_CROSS, [], [_edge(one) for one in found])
            nodes, edges, _ = graph.counts()
            opened.brain = replace(opened.brain, ingest_roots=tuple(sorted(main_path(path) for path in wanted.values())))
            self._brains.home.save(opened.brain, nodes=nodes, edges=edges)
        progress(len(wanted), len(wanted), "done")
        answer = {
            "schema": "m1nd-federate-v0",
            "brain": analysis.name,
            "repos_ingested": ingested,
            "total_nodes": nodes,
            "total_edges": edges,
            "cross_repo_edges": [_told(one) for one in found],
            "cross_repo_edge_count": len(found),
            "incremental": incremental,
            "skipped_repos": skipped,
            "elapsed_ms": round((time.perf_counter() - start) * 1000, 3),
            "next_step_hint": f'Ask it with brain: "{analysis.name}", for example impact or why over a cross edge.',
        }
        answer["rendered"] = "\n".join(
            [
                f"{analysis.name}: {len(ingested)} repositories, {nodes} nodes, {edges} edges, {len(found)} between them",
                *(
                    f"  {one.kind}  {one.source_repo}::{one.source} - {one.target_repo}::{one.target}  ({one.key})"
                    for one in found[:20]
                ),
                *(f"  skipped {one['name']}: {one['reason']}" for one in skipped),
            ]
        )
        return answer

    def _checked(self, repos: Sequence[Mapping[str, str]]) -> dict[str, str]:
        if not 1 <= len(repos) <= MOST_REPOSITORIES:
            raise InvalidParams(f"{len(repos)} repositories cannot be federated", fix=f"name 1 to {MOST_REPOSITORIES}")
        wanted: dict[str, str] = {}
        for repo in repos:
            name, path = repo.get("name", ""), repo.get("path", "")
            if not _NAME.fullmatch(name) or name in wanted or name == _CROSS:
                raise InvalidParams(f"{name[:64]!r} is no name for a repository here", fix="give each a short name of its own")
            if repo.get("adapter", "code") != "code":
                raise InvalidParams("only the adapter code is federated", fix="leave adapter out")
            wanted[name] = path
            refuse_home_directory(wanted[name])
        return wanted

    def _analysis(self, caller: Caller, name: str) -> Brain:
        if not _NAME.fullmatch(name):
            raise InvalidParams(f"{name[:64]!r} is no name for an analysis", fix="use letters, digits, dots and dashes")
        home = self._brains.home
        root = ANALYSIS + name
        known = home.project(root)
        if known is not None:
            check_member(caller, self._router.route(caller).brain, known)
        return known or home.register(root, brain_id=None, now=self._clock())

    @staticmethod
    def _drop_others(graph: LocalGraph, names: set[str]) -> None:
        """Repositories of an earlier federation under this name leave it."""
        for owner in set(json.loads(graph.meta("federated") or "[]")) - names:
            graph.merge(owner, [], [])
        graph.set_meta("federated", json.dumps(sorted(names)))

    def _taken_in(
        self, opened: OpenBrain, graph: LocalGraph, repo: str, path: str, *, incremental: bool
    ) -> tuple[dict[str, Any], RepositoryText]:
        start = time.perf_counter()
        if not os.path.isdir(path):
            raise InvalidParams(f"{path} is not a directory", fix="give the directory of the repository")
        directory = opened.directory / "repos" / repo
        self._brains.home.make(directory)
        part = OpenBrain(
            Brain(id=BrainId(repo), root=main_path(path), created_ms=self._clock()), directory, MemoryStore(BrainId(repo))
        )
        try:
            own = part.graph
            if own is None:  # a brain with a root has a graph
                raise InvalidParams(f"{path} has no graph", fix="give the directory of the repository")
            known = own.counts()[0]
            done = self._graphs.ingest(part, Wish(root=path, anew=not incremental, only_changed=incremental), _silent)
            cached = incremental and known > 0 and not done.changed and not done.removed
            if not cached or not self._holds(graph, repo):
                graph.merge(repo, _nodes(own, repo), _edges(own.arrays(), repo))
            nodes, edges, _ = own.counts()
            text = _texts(repo, path, own.files())
        finally:
            part.close()
        row = {
            "name": repo,
            "path": path,
            "node_count": nodes,
            "edge_count": edges,
            "from_cache": cached,
            "ingest_ms": round((time.perf_counter() - start) * 1000, 3),
        }
        return row, text

    @staticmethod
    def _holds(graph: LocalGraph, repo: str) -> bool:
        prefix = f"{repo}::"
        return any(one.startswith(prefix) for one in graph.arrays().ids)

    # -- proposals ---------------------------------------------------------------------------------------------------

    def propose(self, caller: Caller, *, scope: str | None, max_repos: int, execute: bool, progress: Progress) -> dict[str, Any]:
        """Repositories that the caller's own one speaks of, with what says so; ingested only on request."""
        root = self._router.write_route(caller).root or ""
        start = scope or root
        if start != root and not start.startswith(root.rstrip("/") + "/"):
            raise InvalidParams(f"{scope!r} lies outside {root}", fix="name a directory of your own project")
        own = _texts("", start, _listed(start))
        found: dict[str, dict[str, Any]] = {}
        for path, text in sorted(own.files.items()):
            for relative, evidence, confidence in named_paths(path, text):
                _note(found, canonical_root(os.path.join(start, relative)), evidence, f"{path} names {relative}", confidence)
        for neighbour in (one for one in _neighbours(root) if self._authority.reaches(caller, one)):
            theirs = _texts("", neighbour, _listed(neighbour))
            packages = package_names(theirs.files)
            for path, text in sorted(own.files.items()):
                for package in packages:
                    if re.search(rf"""(?:import|from|require\(?|["'])\s*["']?{re.escape(package)}(?![\w-])""", text):
                        _note(found, neighbour, "import", f"{path} uses {package}", "medium")
            pair = [
                RepositoryText(name="here", files=own.files),
                RepositoryText(name="there", files=theirs.files, packages=packages),
            ]
            for one in crossings(pair):
                if one.kind in ("api_contract", "shared_config"):
                    _note(found, neighbour, one.kind, f"both have {one.key}", "medium" if one.kind == "api_contract" else "low")
        others = {path: told for path, told in found.items() if path != root and self._authority.reaches(caller, path)}
        places = {path: told for path, told in others.items() if _is_repository(path)}
        rank = {"high": 0, "medium": 1, "low": 2}
        order = sorted(places, key=lambda path: (rank[places[path]["confidence"]], path))[:max_repos]
        proposed = [{"name": _short(path, order), "path": path, **places[path]} for path in order]
        answer: dict[str, Any] = {
            "schema": "m1nd-federate-auto-v0",
            "scope": start,
            "proposed": proposed,
            "executed": False,
            "next_step_hint": "federate_auto with execute: true builds an analysis of these and your project.",
        }
        answer["rendered"] = (
            "\n".join(f"{one['confidence']:<6} {one['path']}  ({', '.join(one['evidence'])})" for one in proposed)
            or "no other repository is named here"
        )
        if execute and proposed:
            here = {"name": _short(root, [root]), "path": root}
            repos = [here, *({"name": one["name"], "path": one["path"]} for one in proposed)]
            answer["federation"] = self.federate(
                caller, repos=repos, name=None, detect=True, incremental=False, progress=progress
            )
            answer["executed"] = True
        return answer


def _silent(done: int, total: int, text: str) -> None:
    """The federation reports by repository."""


def _nodes(graph: LocalGraph, repo: str) -> Iterator[Node]:
    ids = list(graph.arrays().ids)
    for start in range(0, len(ids), _BATCH):
        for node in graph.nodes(ids[start : start + _BATCH]).values():
            yield Node(
                id=f"{repo}::{node.id}",
                label=node.label,
                kind=node.kind,
                path=f"{repo}/{node.path}" if node.path else "",
                line_start=node.line_start,
                line_end=node.line_end,
                excerpt=node.excerpt,
                namespace=repo,
                tags=node.tags,
                last_modified=node.last_modified,
                change_frequency=node.change_frequency,
            )


def _edges(arrays: GraphArrays, repo: str) -> Iterator[Edge]:
    for at in range(len(arrays.source)):
        yield Edge(
            source=f"{repo}::{arrays.ids[arrays.source[at]]}",
            target=f"{repo}::{arrays.ids[arrays.target[at]]}",
            relation=arrays.relations[arrays.relation[at]],
            weight=float(arrays.weight[at]),
            causal=float(arrays.causal[at]),
            bidirectional=bool(arrays.bidirectional[at]),
            inhibitory=bool(arrays.inhibitory[at]),
        )


def _edge(one: Crossing) -> Edge:
    return Edge(
        source=f"{one.source_repo}::file::{one.source}",
        target=f"{one.target_repo}::file::{one.target}",
        relation=one.kind,
        weight=one.weight,
        causal=one.causal,
        bidirectional=one.both,
    )


def _told(one: Crossing) -> dict[str, Any]:
    return {
        "type": one.kind,
        "source": f"{one.source_repo}::file::{one.source}",
        "target": f"{one.target_repo}::file::{one.target}",
        "key": one.key,
        "weight": one.weight,
        "causal_strength": one.causal,
    }


def _listed(root: str) -> list[str]:
    """The files at the top of a directory and one below: where a project says what it is made of."""
    found = []
    for directory in (Path(root), *sorted(one for one in Path(root).iterdir() if one.is_dir() and not one.name.startswith("."))):
        found += [str(one.relative_to(root)) for one in sorted(directory.iterdir()) if one.is_file()]
    return found[:MOST_FILES]


def _texts(name: str, root: str, paths: Sequence[str] | Mapping[str, object]) -> RepositoryText:
    """The texts of some files, as far as they are small and really lie in the repository."""
    files: dict[str, str] = {}
    for path in list(paths)[:MOST_FILES]:
        full = os.path.join(root, path)
        try:
            if os.path.islink(full) or os.path.getsize(full) > MOST_BYTES:
                continue
            with open_ordinary(full, follow=False) as file:
                files[path] = file.read(MOST_BYTES).decode("utf-8")
        except (OSError, ValueError, PathRefused):
            continue  # gone meanwhile, or no text
    return RepositoryText(name=name, files=files, packages=package_names(files))


def _neighbours(root: str) -> list[str]:
    parent = Path(root).parent
    return [str(one) for one in sorted(parent.iterdir()) if one.is_dir() and str(one) != root and _is_repository(str(one))]


def _is_repository(path: str) -> bool:
    return os.path.isdir(path) and any(os.path.exists(os.path.join(path, sign)) for sign in _SIGNS)


def _note(found: dict[str, dict[str, Any]], path: str, evidence: str, reason: str, confidence: str) -> None:
    """One more reason for a repository; the strongest decides."""
    rank = ("low", "medium", "high")
    had = found.setdefault(path, {"confidence": "low", "evidence": [], "reasons": []})
    if evidence not in had["evidence"]:
        had["evidence"].append(evidence)
    if len(had["reasons"]) < 5 and reason not in had["reasons"]:
        had["reasons"].append(reason)
    had["confidence"] = max(had["confidence"], confidence, key=rank.index)


def _short(path: str, among: Sequence[str]) -> str:
    """A short name for a directory that none of the others has."""
    base = re.sub(r"[^\w.-]", "-", os.path.basename(path)) or "repo"
    same = [one for one in among if os.path.basename(one) == os.path.basename(path)]
    return base if len(same) < 2 else f"{base}-{same.index(path) + 1}"
