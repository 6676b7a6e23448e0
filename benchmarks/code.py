"""How often the file that is meant is found: issues of SWE-bench Lite and messages of commits against the files they changed.

    make bench NAME=code ARGS="--repos DIR --data DIR"                 # every question whose repository lies in DIR
    make bench NAME=code ARGS="--repos DIR --data DIR --limit 12"      # at most so many of each repository
    make bench NAME=code ARGS="--repos DIR --data DIR --check"         # and fails below the limits

Each question is asked of the tree as it was before the change, through the operations `ingest`, `seek` and `activate`, beside
three rankings without any of it: BM25 over whole files, counting the question's words as grep would, and a repo map (PageRank
over what files define and use, started from the names in the question). Repositories are git directories named owner+name,
owner/name or name, with history; nothing of them is kept.
"""

import argparse
import collections
import gzip
import json
import math
import os
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from hindbrain.app import App
from hindbrain.domain.caller import AgentId, Caller, RootSource, SessionId
from hindbrain.settings import Settings
from hindbrain.stores.home import Home

CUTS = (1, 5, 10)
LIMITS = {("swe", "seek", 5): 83.0, ("swe", "seek", 10): 88.0, ("commits", "seek", 5): 90.0}
SOURCES = (".py", ".ts", ".tsx", ".js", ".jsx", ".mjs", ".cjs", ".go", ".rs", ".java", ".rb", ".c", ".h", ".cpp", ".cs", ".php")
TEST = re.compile(
    r"(^|/)(tests?|testing|__tests__|spec|e2e|fixtures)(/|$)|(^|/)(test_[^/]*|[^/]*_test|conftest|[^/]*\.(test|spec))\.[a-z]+$",
    re.I,
)
WORD = re.compile(r"[A-Za-z_]\w+")
STOPS = {
    "the",
    "and",
    "for",
    "with",
    "that",
    "this",
    "from",
    "not",
    "are",
    "was",
    "but",
    "when",
    "have",
    "has",
    "can",
    "use",
    "how",
}


@dataclass(frozen=True, slots=True)
class Question:
    """A text, the tree it is asked of, and the files that answer it."""

    kind: str
    repo: str
    commit: str
    order: str
    text: str
    gold: frozenset[str]
    id: str


@dataclass(slots=True)
class Tally:
    """Ranks of the first right file, by ranking."""

    ranks: dict[str, list[int]] = field(default_factory=lambda: collections.defaultdict(list))
    seconds: dict[str, list[float]] = field(default_factory=lambda: collections.defaultdict(list))

    def share(self, name: str, cut: int) -> float:
        ranks = self.ranks[name]
        return 100 * sum(rank <= cut for rank in ranks) / len(ranks) if ranks else 0.0


def questions(data: Path) -> Iterator[Question]:
    with gzip.open(data / "swebench_lite_loc" / "instances.jsonl.gz", "rt", encoding="utf-8") as lines:
        for row in map(json.loads, lines):
            gold = frozenset(one["file"] for one in row["gold"])
            yield Question(
                "swe", row["repo"], row["base_commit"], row["created_at"], row["problem_statement"], gold, row["instance_id"]
            )
    with gzip.open(data / "commit_files" / "commits.jsonl.gz", "rt", encoding="utf-8") as lines:
        for row in map(json.loads, lines):
            gold = frozenset(row["files"])
            yield Question("commits", row["repo"], row["parent"], f"{row['time']:012}", row["message"], gold, row["commit"])


def git_directory(repos: Path, name: str) -> Path | None:
    owner, _, short = name.partition("/")
    for place in (repos / f"{owner}+{short}" / "repo", repos / f"{owner}+{short}", repos / owner / short, repos / short):
        for found in (place / ".git", place):
            if (found / "HEAD").is_file():
                return found
    return None


def git(where: Path, *words: str) -> bytes:
    return subprocess.run(["git", "-C", str(where), *words], capture_output=True, check=True).stdout


class Tree:
    """A checkout that is moved from commit to commit by writing only what differs.

    `git checkout` would refuse a history from which single large files are missing; here such a file is left out.
    """

    def __init__(self, source: Path, place: Path) -> None:
        subprocess.run(["git", "clone", "-q", "--shared", "--no-checkout", str(source), str(place)], check=True)
        self.place = place
        self._have: dict[str, str] = {}

    def move(self, commit: str) -> None:
        files = self._listed(commit)
        for path in self._have.keys() - files.keys():
            (self.place / path).unlink(missing_ok=True)
        changed = [(path, blob) for path, blob in files.items() if self._have.get(path) != blob]
        for (path, _), content in zip(changed, self._contents([blob for _, blob in changed]), strict=True):
            target = self.place / path
            if content is not None:
                if target.parent.is_file():
                    target.parent.unlink()
                target.parent.mkdir(parents=True, exist_ok=True)
                target.write_bytes(content)
        self._have = files
        git(self.place, "update-ref", "--no-deref", "HEAD", commit)
        git(self.place, "read-tree", commit)

    def _listed(self, commit: str) -> dict[str, str]:
        found = {}
        for line in git(self.place, "ls-tree", "-r", "-z", commit).decode("utf-8", "replace").split("\0"):
            if line:
                facts, path = line.split("\t", 1)
                mode, kind, blob = facts.split()
                if kind == "blob" and mode != "120000":
                    found[path] = blob
        return found

    def _contents(self, blobs: Sequence[str]) -> Iterator[bytes | None]:
        asked = subprocess.Popen(
            ["git", "-C", str(self.place), "cat-file", "--batch"], stdin=subprocess.PIPE, stdout=subprocess.PIPE
        )
        assert asked.stdin is not None
        assert asked.stdout is not None
        with asked:
            for blob in blobs:
                asked.stdin.write(blob.encode() + b"\n")
                asked.stdin.flush()
                head = asked.stdout.readline().split()
                if head[-1] == b"missing":
                    yield None
                else:
                    yield asked.stdout.read(int(head[2]))
                    asked.stdout.read(1)
            asked.stdin.close()

    def candidates(self, kind: str) -> dict[str, str]:
        """Source files of the tree that are no tests -> id of their content."""
        ending = ".py" if kind == "swe" else SOURCES
        return {p: b for p, b in self._have.items() if p.endswith(ending) and not TEST.search(p) and (self.place / p).is_file()}


# -- rankings without the product -----------------------------------------------------------------------------------------


def plain_bm25(texts: dict[str, collections.Counter[str]], text: str) -> list[str]:
    asked = {word.lower() for word in WORD.findall(text)} - STOPS
    total = len(texts)
    usual = sum(map(collections.Counter.total, texts.values())) / max(1, total)
    holding = {word: sum(word in counts for counts in texts.values()) for word in asked}
    scores = {}
    for path, counts in texts.items():
        share = counts.total() / max(1.0, usual)
        scores[path] = sum(
            math.log(1 + (total - holding[w] + 0.5) / (holding[w] + 0.5))
            * counts[w]
            * 2.2
            / (counts[w] + 1.2 * (0.25 + 0.75 * share))
            for w in asked
            if w in counts
        )
    return ordered(scores)


def grep_count(texts: dict[str, collections.Counter[str]], text: str) -> list[str]:
    asked = {word.lower() for word in WORD.findall(text)} - STOPS
    return ordered({path: float(sum(counts[word] for word in asked)) for path, counts in texts.items()})


def repo_map(texts: dict[str, collections.Counter[str]], names: dict[str, set[str]], text: str) -> list[str]:
    """PageRank from file to file over names that one uses and another defines, started where the question's names are defined."""
    paths = sorted(texts)
    place = {path: at for at, path in enumerate(paths)}
    defined: dict[str, list[int]] = collections.defaultdict(list)
    for path, own in names.items():
        for name in own:
            if len(name) > 2 and path in place:
                defined[name.lower()].append(place[path])
    flow: dict[tuple[int, int], float] = collections.defaultdict(float)
    for path in paths:
        for name in texts[path].keys() & defined.keys():
            if len(defined[name]) <= 5:
                for target in defined[name]:
                    if target != place[path]:
                        flow[place[path], target] += math.sqrt(texts[path][name]) / len(defined[name])
    start = np.full(len(paths), 1e-3)
    for word in {word.lower() for word in WORD.findall(text)} - STOPS:
        for target in defined.get(word, ()):
            start[target] += 1 / len(defined[word])
    start /= start.sum()
    rank = start.copy()
    if flow:
        source, goal = (np.array(side) for side in zip(*flow, strict=True))
        weight = np.array(list(flow.values()))
        weight = weight / np.bincount(source, weights=weight, minlength=len(paths))[source]
        for _ in range(25):
            rank = 0.15 * start + 0.85 * np.bincount(goal, weights=weight * rank[source], minlength=len(paths))
    return ordered(dict(zip(paths, rank.tolist(), strict=True)))


def ordered(scores: dict[str, float]) -> list[str]:
    return [path for path, score in sorted(scores.items(), key=lambda one: (-one[1], one[0])) if score > 0]


class Texts:
    """Words of files by the id of their content, so that a file is read once for all the trees it is in."""

    def __init__(self, tree: Path) -> None:
        self._tree = tree
        self._words: dict[str, tuple[collections.Counter[str], set[str]]] = {}

    def of(self, paths: dict[str, str]) -> tuple[dict[str, collections.Counter[str]], dict[str, set[str]]]:
        for path, blob in paths.items():
            if blob not in self._words:
                text = (self._tree / path).read_text(encoding="utf-8", errors="replace")
                defined = re.findall(
                    r"^[ \t]*(?:export |async |pub )*(?:def|class|func|function|interface|type|fn)\s+(\w+)", text, re.M
                )
                self._words[blob] = (collections.Counter(word.lower() for word in WORD.findall(text)), set(defined))
        return {p: self._words[b][0] for p, b in paths.items()}, {p: self._words[b][1] for p, b in paths.items()}


# -- the run --------------------------------------------------------------------------------------------------------------


def rank_of(order: Sequence[str], allowed: dict[str, str], gold: frozenset[str]) -> int:
    place = 0
    for path in dict.fromkeys(order):
        if path in allowed:
            place += 1
            if path in gold:
                return place
    return 10**6


def ask(app: App, caller: Caller, question: Question) -> dict[str, Callable[[], list[str]]]:
    def seek() -> list[str]:
        answer = app.call("seek", {"query": question.text, "top_k": 200, "min_score": 0.0, "node_types": ["file"]}, caller=caller)
        return [row["file_path"] for row in checked(answer)["results"]]

    def activate() -> list[str]:
        answer = app.call("activate", {"query": question.text, "top_k": 200, "learn": False}, caller=caller)
        return [one["node_id"].removeprefix("file::").split("::", 1)[0] for one in checked(answer)["activated"]]

    return {"seek": seek, "activate": activate}


def checked(answer: dict[str, Any]) -> dict[str, Any]:
    if not answer.get("ok"):
        raise SystemExit(json.dumps(answer)[:800])
    return answer


def run_repository(source: Path, asked: Sequence[Question], tallies: dict[str, Tally], plain: bool) -> dict[str, float]:
    told: dict[str, float] = {"files": 0, "ingest_s": 0.0, "next_s": 0.0}
    with tempfile.TemporaryDirectory(prefix="hb") as place:
        moved = Tree(source, Path(os.path.realpath(place), "tree"))
        tree = moved.place
        app = App(Home(Path(place, "home")), Settings({}))
        caller = Caller(agent=AgentId("bench:code"), root=str(tree), root_source=RootSource.CALL, session=SessionId("code"))
        texts = Texts(tree)
        try:
            for number, question in enumerate(asked):
                moved.move(question.commit)
                began = time.perf_counter()
                more = {"incremental": True, "mode": "merge"} if number else {"project_root": str(tree)}
                done = checked(app.call("ingest", {"path": str(tree), **more}, caller=caller))
                taken = time.perf_counter() - began
                told["files"] = done["ingest"]["files_scanned"]
                told["ingest_s" if not number else "next_s"] += taken if not number else taken / max(1, len(asked) - 1)
                answer(app, caller, question, moved.candidates(question.kind), texts, tallies[question.kind], plain)
        finally:
            app.close()
    return told


def answer(
    app: App, caller: Caller, question: Question, allowed: dict[str, str], texts: Texts, tally: Tally, plain: bool
) -> None:
    rankings = ask(app, caller, question)
    if plain:
        words, names = texts.of(allowed)
        rankings |= {
            "BM25 whole files": lambda: plain_bm25(words, question.text),
            "grep count": lambda: grep_count(words, question.text),
            "repo map": lambda: repo_map(words, names, question.text),
        }
    for name, ranking in rankings.items():
        began = time.process_time()
        tally.ranks[name].append(rank_of(ranking(), allowed, question.gold))
        tally.seconds[name].append(time.process_time() - began)


def report(tallies: dict[str, Tally]) -> None:
    for kind, tally in tallies.items():
        count = max(map(len, tally.ranks.values()), default=0)
        if count:
            print(f"\n{kind}: {count} questions\n{'ranking':20}" + "".join(f"{f'@{cut}':>8}" for cut in CUTS) + f"{'CPU ms':>10}")
        for name in tally.ranks:
            median = sorted(tally.seconds[name])[len(tally.seconds[name]) // 2] * 1000
            print(f"{name:20}" + "".join(f"{tally.share(name, cut):8.1f}" for cut in CUTS) + f"{median:10.0f}")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--repos", type=Path, required=True, help="directory of git repositories")
    parser.add_argument("--data", type=Path, required=True, help="directory with swebench_lite_loc and commit_files")
    parser.add_argument("--limit", type=int, default=10**6, help="questions of each repository and set at most")
    parser.add_argument("--only", default="", help="only repositories whose name contains this")
    parser.add_argument("--set", choices=("swe", "commits"), help="only this set")
    parser.add_argument("--no-plain", action="store_true", help="leave the rankings without the product out")
    parser.add_argument("--check", action="store_true")
    chosen = parser.parse_args()
    by_repo: dict[tuple[str, str], list[Question]] = collections.defaultdict(list)
    for question in questions(chosen.data):
        if chosen.only in question.repo and chosen.set in (None, question.kind):
            by_repo[question.kind, question.repo].append(question)
    tallies = {"swe": Tally(), "commits": Tally()}
    print(f"{'set':8} {'repository':28} {'asked':>6} {'files':>7} {'first ingest s':>15} {'next s':>8}")
    for (kind, repo), asked in sorted(by_repo.items()):
        source = git_directory(chosen.repos, repo)
        if source is None:
            print(f"{kind:8} {repo:28} no git directory in {chosen.repos}", file=sys.stderr)
            continue
        chosen_here = sorted(asked, key=lambda one: one.id)[: chosen.limit]
        told = run_repository(source, sorted(chosen_here, key=lambda one: one.order), tallies, not chosen.no_plain)
        row = f"{len(chosen_here):6} {told['files']:7.0f} {told['ingest_s']:15.1f} {told['next_s']:8.2f}"
        print(f"{kind:8} {repo:28} {row}", flush=True)
    report(tallies)
    below = [
        f"{kind} {name}@{cut}: {tallies[kind].share(name, cut):.1f} is below {least}"
        for (kind, name, cut), least in LIMITS.items()
        if tallies[kind].ranks[name] and tallies[kind].share(name, cut) < least
    ]
    print("\n".join(below), file=sys.stderr)
    return 1 if chosen.check and below else 0


if __name__ == "__main__":
    sys.exit(main())
