"""The OpenAPI document says what the owner really offers."""

from typing import Any

import pytest

from hindbrain.domain.errors import ERRORS
from tests.support.owner import RunningOwner


@pytest.fixture(scope="module")
def document(owner: RunningOwner) -> dict[str, Any]:
    found: dict[str, Any] = owner.get("/api/openapi.json").json
    return found


def test_gr_174_every_operation_is_in_the_document_with_its_schema_and_its_errors(
    owner: RunningOwner, document: dict[str, Any]
) -> None:
    for op in owner.get("/api/operations").json["operations"]:
        if "http" not in op["surfaces"]:
            assert f"/api/op/{op['name']}" not in document["paths"]
            continue
        described = document["paths"][f"/api/op/{op['name']}"]["post"]
        assert described["requestBody"]["content"]["application/json"]["schema"] == op["schema"]
        assert described["description"] == op["help"]
        for code in op["raises"]:
            assert code in described["responses"][str(ERRORS[code].http_status)]["description"].split(", ")


def test_gr_174_every_read_of_the_document_answers(owner: RunningOwner, document: dict[str, Any]) -> None:
    reads = [path for path, methods in document["paths"].items() if "get" in methods]

    assert {"/api/health", "/api/instances", "/api/instance/self", "/api/events"} <= set(reads)
    for path in reads:
        if path == "/api/events":
            with owner.stream(path) as stream:
                assert stream.status == 200
                assert stream.next() is not None
        else:
            answer = owner.get(path, hindbrain_challenge="0" * 32)
            assert answer.status in (200, 404, 409)
            assert isinstance(answer.json, dict)


def test_gr_174_the_document_is_openapi_3_1_and_consistent(document: dict[str, Any]) -> None:
    operations = [method for methods in document["paths"].values() for method in methods.values()]
    ids = [one["operationId"] for one in operations]

    assert document["openapi"].startswith("3.1.")
    assert len(set(ids)) == len(ids)
    assert document["security"] == [{"token": []}]
    for reference in references(document):
        assert resolved(document, reference)


def references(node: Any) -> list[str]:
    if isinstance(node, dict):
        return [v for k, v in node.items() if k == "$ref"] + [ref for v in node.values() for ref in references(v)]
    return [ref for one in node for ref in references(one)] if isinstance(node, list) else []


def resolved(document: dict[str, Any], reference: str) -> Any:
    node: Any = document
    for step in reference.removeprefix("#/").split("/"):
        node = node[step]
    return node
