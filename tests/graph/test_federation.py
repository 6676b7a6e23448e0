"""Several repositories in one graph: only on purpose, in a brain of its own, with what binds them and without any memory."""

from pathlib import Path
from typing import Any

import pytest

from hindbrain.engines.crossing import Crossing, RepositoryText, crossings, package_names
from tests.support.given_graph import brain_of
from tests.support.world import World

SERVER = """import os

TOKEN = os.environ["SHOP_PAYMENT_TOKEN"]


@app.get("/api/orders/{order_id}")
def order(order_id):
    return 1
"""
WEB = """const token = process.env.SHOP_PAYMENT_TOKEN;
export function load(id) { return fetch(`/api/orders/${id}`); }
"""
SHOP = {"server_py": SERVER, "pyproject_toml": '[project]\nname = "shop-core"\n'}
CLIENT = {"client_js": WEB, "package_json": '{"name": "shop-web"}\n'}


def two(world: World) -> tuple[str, str]:
    return world.brain("shop", **SHOP), world.repository("web", **CLIENT)


def federated(world: World, **more: Any) -> tuple[str, dict[str, Any]]:
    shop, web = two(world)
    repos = [{"name": "shop", "path": shop}, {"name": "web", "path": web}]
    answer = world.at(shop).call("federate", repos=repos, name="both", **more)
    assert answer["ok"], answer
    return shop, answer


def test_gr_139_ids_begin_with_the_name_of_their_repository(world: World) -> None:
    shop, answer = federated(world)

    shown = world.at(shop).call("panoramic", brain="analysis:both")

    assert answer["brain"] == "analysis:both"
    assert {"shop::file::server.py", "web::file::client.js"} <= {module["node_id"] for module in shown["modules"]}


def test_gr_140_a_shared_variable_and_a_shared_route_are_edges_with_their_weights(world: World) -> None:
    _, answer = federated(world)

    found = {
        edge["type"]: (edge["source"], edge["target"], edge["key"], edge["weight"], edge["causal_strength"])
        for edge in answer["cross_repo_edges"]
    }
    assert found["shared_config"] == ("shop::file::server.py", "web::file::client.js", "SHOP_PAYMENT_TOKEN", 0.7, 0.8)
    assert found["api_contract"] == ("shop::file::server.py", "web::file::client.js", "/api/orders/*", 0.8, 0.9)


def text(name: str, **files: str) -> RepositoryText:
    named = {path.replace("__", "/").replace("_dot_", "."): value for path, value in files.items()}
    return RepositoryText(name=name, files=named, packages=package_names(named))


def kinds(*repositories: RepositoryText) -> dict[str, Crossing]:
    return {one.kind: one for one in crossings(repositories)}


NEEDS_CORE = {"package_dot_json": '{"dependencies": {"shop-core": "1"}}'}
IS_CORE = {"pyproject_dot_toml": 'name = "shop-core"\n'}
HAS_CLASS = {"a_dot_py": "class OrderLine:\n    x = 1\n"}
HAS_INTERFACE = {"b_dot_ts": "export interface OrderLine {\n}\n"}
STARTS_IT = {"docker-compose_dot_yml": "services:\n  there:\n    image: there\n"}
SERVES_TOOLS = {"_dot_mcp_dot_json": '{"mcpServers": {"x": {"command": "there"}}}'}
PLAIN = {"b_dot_py": "x = 1\n"}


@pytest.mark.parametrize(
    ("kind", "here", "there", "key"),
    [
        ("package_dep", NEEDS_CORE, IS_CORE, "shop-core"),
        ("shared_type", HAS_CLASS, HAS_INTERFACE, "OrderLine"),
        ("deployment_dep", STARTS_IT, PLAIN, "there"),
        ("mcp_contract", SERVES_TOOLS, PLAIN, "there"),
    ],
)
def test_gr_140_each_kind_of_edge_is_found(kind: str, here: dict[str, str], there: dict[str, str], key: str) -> None:
    found = kinds(text("here", **here), text("there", **there))

    assert found[kind].key == key
    assert {found[kind].source_repo, found[kind].target_repo} == {"here", "there"}


def test_gr_140_what_every_program_has_binds_nothing() -> None:
    same = {"a_dot_py": 'import os\nos.environ["HOME"]\nclass Config:\n    x = 1\n'}

    assert crossings([text("here", **same), text("there", **same)]) == []


def test_gr_141_a_missing_path_is_skipped_and_the_rest_is_built(world: World) -> None:
    shop, web = two(world)

    answer = world.at(shop).call(
        "federate", repos=[{"name": "web", "path": web}, {"name": "gone", "path": str(Path(web).parent / "gone")}], name="some"
    )

    assert [row["name"] for row in answer["repos_ingested"]] == ["web"]
    assert [row["name"] for row in answer["skipped_repos"]] == ["gone"]
    assert set(answer["repos_ingested"][0]) == {"name", "path", "node_count", "edge_count", "from_cache", "ingest_ms"}
    assert answer["total_nodes"] >= answer["repos_ingested"][0]["node_count"] > 0
    assert answer["cross_repo_edge_count"] == len(answer["cross_repo_edges"]) == 0


def test_gr_141_an_unchanged_repository_comes_from_the_cache(world: World) -> None:
    shop, web = two(world)
    repos = [{"name": "shop", "path": shop}, {"name": "web", "path": web}]
    world.at(shop).call("federate", repos=repos, name="both")
    Path(web, "client.js").write_text("export const other = 1;\n", encoding="utf-8")

    answer = world.at(shop).call("federate", repos=repos, name="both", incremental=True)

    assert {row["name"]: row["from_cache"] for row in answer["repos_ingested"]} == {"shop": True, "web": False}
    assert answer["cross_repo_edges"] == []


def test_gr_142_the_project_it_was_asked_from_is_unchanged_and_the_analysis_is_listed(world: World) -> None:
    shop, web = two(world)
    agent = world.at(shop)
    before = agent.call("panoramic")["modules"]

    agent.call("federate", repos=[{"name": "shop", "path": shop}, {"name": "web", "path": web}], name="both")

    assert agent.call("panoramic")["modules"] == before
    assert "analysis:both" in [row["project_root"] for row in agent.call("instances")["instances"]]
    with world.app.house.brains.use(brain_of(world, shop)) as opened:
        assert opened.graph is not None
        assert not [one for one in opened.graph.arrays().ids if one.startswith(("shop::", "web::"))]


def test_gr_143_no_claim_of_a_repository_is_in_the_analysis(world: World) -> None:
    shop, web = two(world)
    agent = world.at(shop)
    agent.memorize("Orders are paid first", "Always.", evidence=["server.py"])

    agent.call("federate", repos=[{"name": "shop", "path": shop}, {"name": "web", "path": web}], name="both")

    with world.app.house.brains.use(brain_of(world, "analysis:both")) as opened:
        assert opened.store.counts().active_claims == 0
    answer = agent.call("activate", query="orders are paid first", brain="analysis:both")
    assert not [row for row in answer["activated"] if "light::" in row["node_id"]]


def test_gr_145_impact_crosses_from_one_repository_to_the_other(world: World) -> None:
    shop, _ = federated(world)

    answer = world.at(shop).call("impact", node_id="shop::file::server.py", brain="analysis:both")

    reached = {row["node_id"].split("::")[0] for row in answer["blast_radius"]}
    assert reached == {"shop", "web"}


@pytest.mark.parametrize(
    "repos",
    [
        [],
        [{"name": "a b", "path": "/x"}],
        [{"name": "a", "path": "/x"}, {"name": "a", "path": "/y"}],
        [{"name": "a", "path": "/x", "adapter": "light"}],
    ],
)
def test_gr_139_what_cannot_be_federated_is_refused(world: World, repos: list[dict[str, str]]) -> None:
    root = world.brain("app")

    assert world.human(root).call("federate", repos=repos)["error"]["code"] in ("invalid_params", "path_refused")


def test_gr_144_a_neighbour_that_a_manifest_names_is_proposed_and_nothing_is_read_in(world: World) -> None:
    core = world.repository("core", lib_py="x = 1\n")
    root = world.brain("app", package_json='{"dependencies": {"core": "file:../core"}, "workspaces": ["../core"]}\n')
    agent = world.at(root)

    answer = agent.call("federate_auto")

    assert [(one["path"], one["confidence"]) for one in answer["proposed"]] == [(core, "high")]
    assert "manifest" in answer["proposed"][0]["evidence"]
    assert answer["executed"] is False
    assert not [row for row in agent.call("instances")["instances"] if row["project_root"].startswith("analysis:")]


def test_gr_144_with_execute_the_proposed_ones_are_federated(world: World) -> None:
    world.repository("core", lib_py="x = 1\n")
    root = world.brain("app", package_json='{"workspaces": ["../core"]}\n')

    answer = world.at(root).call("federate_auto", execute=True)

    assert answer["executed"] is True
    assert sorted(row["name"] for row in answer["federation"]["repos_ingested"]) == ["app", "core"]


def test_gr_144_a_scope_outside_the_project_is_refused(world: World) -> None:
    root = world.brain("app")

    assert world.at(root).call("federate_auto", scope="../elsewhere")["error"]["code"] == "invalid_params"
