"""Code beside claims: what the graph knows of files never competes with memory and is never counted as memory."""

import pytest

from tests.support.world import World


@pytest.mark.req("MED-136")
def test_med_136_code_never_competes_with_claims(world: World) -> None:
    files = {f"src__kettle{number}_py": "kettle = 1\n" for number in range(500)}
    x = world.brain("x", **files)
    world.at(x).memorize("Descale", "The kettle needs descaling in spring.")

    found = world.at(x).seek("kettle", scope="light::")
    beat = world.at(x).north("kettle")

    assert beat["binding"]["node_count"] > 500
    assert [row["claim"] for row in found["results"]] == ["Descale"]
    assert [row["claim"] for row in beat["memory"]] == ["Descale"]
    assert beat["memory_exists"] == 1


@pytest.mark.req("MED-161")
def test_med_161_code_carries_no_memory_provenance_and_is_not_counted_as_memory(world: World) -> None:
    x = world.brain("x", **{f"src__kettle{number}_py": "kettle = 1\n" for number in range(20)})
    world.at(x).memorize("Descale", "The kettle needs descaling in spring.")

    for scope in (None, "light::", "file::src", "src"):
        answer = world.at(x).seek("kettle", scope=scope)
        memory = [row for row in answer["results"] if row.get("kind") == "light"]
        assert len(memory) == (scope in (None, "light::")), "a scope of code holds no claim"
        assert all("origin_brain" not in row for row in answer["results"] if row not in memory)
        assert answer["memory_exists"] == 1
        assert answer["agent_runtime_contract"]["graph_identity"]["node_count"] > 20
