"""The owner keeps to its own OpenAPI document: schemathesis makes the calls, from a fixed seed, a few for each operation.

A longer run: `python -m tests.http.test_schema_conformance 100` makes about a hundred times 240 calls on a home of its own."""

import json
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator, MutableMapping
from pathlib import Path
from typing import Any

import pytest
import requests
import schemathesis
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import seed as seeded
from schemathesis.checks import (
    content_type_conformance,
    response_headers_conformance,
    response_schema_conformance,
    status_code_conformance,
)
from schemathesis.core.failures import Failure, FailureGroup
from schemathesis.generation import GenerationMode

from tests.http.test_brains import a_project, bootstrap, memorize
from tests.support.owner import RunningOwner, start_owner

CHECKS = [status_code_conformance, content_type_conformance, response_headers_conformance, response_schema_conformance]
LEFT_OUT = {
    "/api/stop": "ends the owner",
    "/api/events": "a stream without an end",
    "/api/op/cowork.wait": "waits for minutes when that is asked",
    "/api/op/run": "starts commands",
    "/api/op/task.show": "waits for minutes when that is asked",
    "/api/op/model.install": "fetches a model",
}


_DOORS = ("brain", "caller_root")


class Campaign:
    """Calls every operation of one owner, and counts what came of it."""

    def __init__(self, running: RunningOwner, root: Path) -> None:
        self.document: dict[str, Any] = running.get("/api/openapi.json").json
        self._schema = schemathesis.openapi.from_dict(self.document)
        self._schema.config.generation.update(with_security_parameters=False, allow_x00=False)
        self._session = requests.Session()
        self._url = running.url
        self._headers = {"Authorization": f"Bearer {running.token}", "Hindbrain-Caller-Root": str(root)}
        self.statuses: Counter[int] = Counter()
        self.failures: dict[str, str] = {}

    def run(self, examples: int, *, seed: int) -> None:
        for result in self._schema.get_all_operations():
            operation = result.ok()
            if operation.path in LEFT_OUT or operation.path.startswith("/api/op/test."):
                continue
            self._operation(operation, GenerationMode.POSITIVE, examples, seed)
            self._operation(operation, GenerationMode.NEGATIVE, max(1, examples // 2), seed)

    def _operation(self, operation: Any, mode: GenerationMode, examples: int, seed: int) -> None:
        if mode is GenerationMode.NEGATIVE and not operation.body and not operation.query:
            return  # there is nothing to say wrongly

        @seeded(seed)
        @settings(
            max_examples=examples,
            phases=[Phase.generate],
            deadline=None,
            database=None,
            suppress_health_check=list(HealthCheck),
        )
        @given(case=operation.as_strategy(generation_mode=mode))
        def call(case: Any) -> None:
            self._call(case, operation)

        call()

    def _call(self, case: Any, operation: Any) -> None:
        if self.statuses.total() % 4:  # mostly a plain caller asks its own brain: a strange name ends the call at the door
            for words in (case.query, case.headers, case.body):
                if isinstance(words, MutableMapping):
                    for name in [one for one in words if one in _DOORS or one.startswith("Hindbrain-")]:
                        del words[name]
        response = case.call(base_url=self._url, session=self._session, headers=self._headers, timeout=60)
        self.statuses[response.status_code] += 1
        where = f"{operation.method.upper()} {operation.path}"
        try:
            case.validate_response(response, checks=CHECKS)
        except (Failure, FailureGroup) as wrong:
            told = "; ".join(str(one) for one in getattr(wrong, "exceptions", [wrong]))
            self.failures.setdefault(f"{where}: {told[:80]}", f"{response.text[:300]} {told[:600]}")
            return
        answer = json.loads(response.text) if "json" in response.headers.get("content-type", [""])[0] else {}
        if isinstance(error := answer.get("error"), dict):
            self._check_code(where, operation, response.status_code, error["code"])

    def _check_code(self, where: str, operation: Any, status: int, code: str) -> None:
        """An error is one that the document names for this address, and none of them says that Hindbrain is broken."""
        named = self.document["paths"][operation.path][operation.method]["responses"][str(status)]["description"].split(", ")
        if code == "internal" or (status != 200 and code not in named):
            self.failures.setdefault(f"{where}: {code}", f"{status} {code} is not among {named}")


@pytest.fixture(scope="module")
def campaign(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Campaign]:
    yield from _campaign(tmp_path_factory.mktemp("conformance").resolve())


def _campaign(place: Path) -> Iterator[Campaign]:
    root = a_project(place, "repo")
    running = start_owner(place / "home")
    bootstrap(running, root)
    memorize(running, root, "a fact")
    yield Campaign(running, root)
    running.kill()


@pytest.mark.req("GR-174")
def test_f30_every_answer_is_as_the_document_says(campaign: Campaign) -> None:
    campaign.run(2, seed=18)

    assert campaign.failures == {}
    assert campaign.statuses.total() > 500
    assert campaign.statuses[200] > 100, "some calls are understood"
    assert 500 not in campaign.statuses


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as directory:
        for made in _campaign(Path(directory).resolve()):
            made.run(int(sys.argv[1]), seed=int(sys.argv[2]) if len(sys.argv) > 2 else 18)
            told = {"calls": made.statuses.total(), "statuses": made.statuses, "failures": made.failures}
            print(json.dumps(told, indent=2))
