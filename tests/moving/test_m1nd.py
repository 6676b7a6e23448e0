"""Import of m1nd: claims with their age and author, keyed values, and letters as the bytes they were."""

import json
import os
from pathlib import Path

import pytest

from tests.imports.test_mempal import opened, state, taken
from tests.support.moving_sources import M1nd, secret, tree
from tests.support.world import World


@pytest.fixture
def m1nd(world: World) -> M1nd:
    """One runtime with doctrine, a brain of `app`, one of another project, and one that does not say whose it is."""
    made = M1nd(world.place / ".m1nd")
    app, other = made.brain(world.directory("app"), "aa" * 8), made.brain("/elsewhere/other", "bb" * 8)
    made.claim(app, "retry-policy", "The worker retries three times.", more="X-Mood: calm\n")
    made.claim(app, "old-pointer", "Moved away.", state="outdated")
    made.claim(app, "leaky", f"The key is {secret()}.")
    made.claim(app, ".hidden", "Not a claim.")
    made.claim(app / "agent-memory" / ".history", "retry-policy.1", "The worker retries twice.")
    made.boot(app, focus={"task": "ferry"}, leaky=f"key {secret()}")
    made.claim(other, "vault", "The vault opens at nine.")
    made.claim(made.runtime, "house-rule", "Always answer in short sentences.")
    made.boot(made.runtime, doctrine="be brief")
    (made.runtime / "project-brains" / "cc").mkdir()
    return made


def test_claims_and_keyed_values_of_the_project_come_with_their_age_once(world: World, m1nd: M1nd) -> None:
    root = world.brain("app")
    files, before = tree(m1nd.base), state(world, root)

    plan = world.at(root).call("memory.import", path=str(m1nd.base))
    assert state(world, root) == before
    assert not world.home.medulla_dir.exists(), "a plan makes no medulla"
    first = taken(world.at(root), str(m1nd.base))
    second = taken(world.at(root), str(m1nd.base), kind="m1nd")

    assert plan["kind"] == "m1nd"
    assert (first["counts"]["claims"], first["counts"]["boot_entries"], first["counts"]["other_projects"]) == (1, 1, 1)
    assert first["refused_by_code"] == {"human_needed": 2, "hygiene": 2}
    assert [one["items"] for one in plan["needs_human"]] == [2]
    assert first["left_out"] == {"brains that do not say whose they are": 1, "older versions": 2, "outdated claims": 1}
    assert (second["counts"]["claims_unchanged"], second["counts"]["boot_entries_unchanged"], second["writes"]) == (1, 1, False)
    assert not world.home.medulla_dir.exists(), "an agent fills no medulla from a file"
    assert secret() not in str(first)
    assert tree(m1nd.base) == files

    source = m1nd.runtime / "project-brains" / ("aa" * 8) / "agent-memory" / "retry-policy.light.md"
    assert world.file(root, "retry-policy").read_bytes() == source.read_bytes(), "the file as it was"
    told = world.at(root).seek("how often does the worker retry")["results"][0]
    assert (told["source_agent"], told["age_ms"]) == ("claude:old", world.clock() - 1_700_000_000_000)
    kept = world.at(root).call("boot_memory", action="get", key="focus")["entry"]
    assert (kept["value"], kept["updated_by_agent"], kept["updated_at_ms"]) == (
        {"task": "ferry"},
        "claude:old",
        1_700_000_000_000,
    )
    assert "vault" not in str(world.at(root).seek("when does the vault open")["results"])


def test_doctrine_goes_to_the_medulla_by_a_person(world: World, m1nd: M1nd) -> None:
    root = world.brain("app")

    answer = taken(world.human(root), str(m1nd.base))

    assert (answer["counts"]["claims"], answer["counts"]["boot_entries"]) == (2, 2)
    assert world.file(None, "house-rule").exists()
    assert not world.file(root, "house-rule").exists()
    with opened(world, None) as medulla:
        assert [one.key for one in medulla.store.boot()] == ["doctrine"]
    assert taken(world.human(root), str(m1nd.base))["writes"] is False


def test_what_changed_here_since_is_never_overwritten_and_what_is_newer_there_comes(world: World, m1nd: M1nd) -> None:
    root = world.brain("app")
    store = m1nd.runtime / "project-brains" / ("aa" * 8)
    m1nd.claim(store, "harbour", "The harbour has two piers.")
    world.at(root).memorize("Vault", "Written here.")
    m1nd.claim(store, "vault", "Written there.")
    first = taken(world.at(root), str(m1nd.base))

    m1nd.claim(store, "harbour", "The harbour has three piers.", created=1_700_000_000_500)
    newer = taken(world.at(root), str(m1nd.base))
    world.at(root).memorize("harbour", "The harbour has four piers.", confidence="0.9")
    kept = taken(world.at(root), str(m1nd.base))
    m1nd.claim(store, "harbour", "The harbour has five piers.", created=1_700_000_000_900)
    refused = taken(world.at(root), str(m1nd.base))

    assert {one["name"].rpartition("/")[2] for one in first["refused"] if one["code"] == "stale_write"} == {"vault.light.md"}
    assert newer["counts"]["claims"] == 1
    assert len(world.history(root, "harbour")) == 2, "each version that stood is kept"
    assert kept["counts"]["claims"] == 0
    assert "stale_write" in refused["refused_by_code"]
    assert "four piers" in world.file(root, "harbour").read_text()
    assert "Written here." in world.file(root, "vault").read_text()

    assert world.human(root).call("forget", claim="retry-policy", reason="private")["ok"]
    forgotten = taken(world.at(root), str(m1nd.base))
    assert "rejected_value" in forgotten["refused_by_code"]
    assert not world.file(root, "retry-policy").exists()


def test_a_repository_brings_its_own_store_and_no_other_one_takes_it(world: World) -> None:
    app, web = world.brain("app"), world.brain("web")
    M1nd.claim(Path(app, ".m1nd"), "tide", "Low water at six.")

    own = taken(world.at(app), app)
    other = taken(world.human(web), str(Path(app, ".m1nd")))

    assert own["counts"]["claims"] == 1
    assert (other["writes"], other["counts"]["other_projects"]) == (False, 1)
    assert not world.file(web, "tide").exists()


def test_links_pipes_bad_bytes_and_endless_files_stay_out(world: World, m1nd: M1nd, tmp_path: Path) -> None:
    root = world.brain("app")
    store = m1nd.runtime / "project-brains" / ("aa" * 8) / "agent-memory"
    outside = tmp_path / "outside.light.md"
    outside.write_text("---\nNode: outside\n---\nread by accident\n")
    (store / "link.light.md").symlink_to(outside)
    (store / "bytes.light.md").write_bytes(b"---\nNode: bytes\n---\n\xff\xfe\x00\n")
    (store / "endless.light.md").write_text("x" * 70_000)
    os.mkfifo(store / "pipe.light.md")
    linked = m1nd.runtime / "project-brains" / "dd"
    linked.symlink_to(tmp_path, target_is_directory=True)
    (m1nd.runtime / "boot_memory_state.json").write_text('{"entries": []}')

    answer = taken(world.human(root), str(m1nd.base))

    named = {one["name"].rpartition("/")[2]: one["code"] for one in answer["refused"]}
    assert named["link.light.md"] == named["endless.light.md"] == "path_refused"
    assert named["bytes.light.md"] == named["boot_memory_state.json"] == "invalid_params"
    assert "pipe.light.md" not in named
    assert not world.file(root, "link").exists()
    assert "read by accident" not in str(world.at(root).seek("accident"))


def line(number: int, **more: object) -> bytes:
    told = {"ts": "2026-01-01T00:00:00Z", "agent": "claude:old", "class": "friction", "what": f"letter {number}", **more}
    return json.dumps(told).encode()


def test_med_330_letters_of_m1nd_reach_their_boxes_byte_for_byte_and_a_second_run_appends_nothing(
    world: World, m1nd: M1nd, monkeypatch: pytest.MonkeyPatch
) -> None:
    # The shape of the mail that m1nd left behind: 53 letters of every odd kind.
    root = world.brain("m1nd", docs__a_md="hello\n")
    monkeypatch.setenv("HOME", str(world.place))
    plain = [line(n, repo=root) for n in range(20)]
    variants = [
        line(20 + n, repo=name) for n, name in enumerate(["m1nd", " m1nd ", "project:m1nd", f"{root}/", f"{root}/docs"] * 3)
    ]
    worktrees = [line(35 + n, repo=f"m1nd (worktree m1nd-hall-{n})") for n in range(4)]
    tilde = [line(39, repo="~/m1nd")]
    nobody = [line(40, repo="all"), line(41), line(42, repo="")]
    runtime = [line(43 + n, repo=str(world.home.path / "runtimes" / "default")) for n in range(7)]
    away = [line(50, repo="/gone/away"), line(51, repo="unheard-of")]
    triage = [line(52, **{"class": "triage", "what": "answers L1 and L2, and L99"})]
    everything = [*plain, *variants, *worktrees, *tilde, *nobody, *runtime, *away, *triage]
    assert len(everything) == len(set(everything)) == 53
    m1nd.letters(*everything, b"not a letter", b"")

    agent = taken(world.at(root), str(m1nd.base))
    assert agent["refused_by_code"]["human_needed"] >= 53
    assert not world.home.field_reports_file.exists()
    plan = world.human(root).call("memory.import", path=str(m1nd.base))
    assert not world.home.field_reports_file.exists()
    first = taken(world.human(root), str(m1nd.base))
    spool = world.home.field_reports_file.read_bytes()
    second = taken(world.human(root), str(m1nd.base))
    assert plan["counts"]["letters"] == first["counts"]["letters"] == 53
    assert second["counts"]["letters_unchanged"] == 53
    assert world.home.field_reports_file.read_bytes() == spool == b"".join(one + b"\n" for one in everything)

    receipt = world.human(root).call("mailbox.distribute")
    boxes = [Path(root, ".hindbrain", "inbox.jsonl"), world.home.medulla_box]
    filed = [box.read_bytes().splitlines() for box in boxes]
    again = world.human(root).call("mailbox.distribute")
    assert receipt["ok"]
    assert again["ok"]
    assert [box.read_bytes().splitlines() for box in boxes] == filed
    assert set(filed[1]) == {*nobody, *runtime, *triage}, "the medulla box has exactly those without a project"
    assert set(filed[0]) == {*plain, *variants, *worktrees, *tilde}
    assert len(filed[0]) + len(filed[1]) + len(away) == 53, "each letter is in one box or waits"
    assert {one["name"] for one in receipt["pending"]} == {"/gone/away", "unheard-of"}
    assert (receipt["appended"], again["appended"]) == (51, 0)

    links = json.loads(world.home.links_file.read_text())
    (answered,) = links["links"].values()
    (lost,) = links["unresolved"].values()
    assert (len(answered), lost) == (2, ["L99"])


def test_a_letter_with_a_secret_is_refused_and_the_rest_comes(world: World, m1nd: M1nd) -> None:
    root = world.brain("app")
    m1nd.letters(line(1), line(2, snippet=secret()), b"\xff\xfe", b"[]")

    answer = taken(world.human(root), str(m1nd.base))

    assert answer["counts"]["letters"] == 1
    refused = {one["name"]: one["code"] for one in answer["refused"] if one["name"].startswith("field-reports")}
    assert refused == {
        "field-reports.jsonl:2": "hygiene",
        "field-reports.jsonl:3": "invalid_params",
        "field-reports.jsonl:4": "invalid_params",
    }
    assert world.home.field_reports_file.read_bytes() == line(1) + b"\n"


def test_a_person_restores_a_brain_into_which_an_agent_moved(world: World, m1nd: M1nd, tmp_path: Path) -> None:
    """What an import remembers of what it brought is nobody's setting."""
    root, archive = world.brain("app"), tmp_path / "app.tar.gz"
    taken(world.at(root), str(m1nd.base))
    assert world.at(root).call("export", target=str(archive))["ok"]
    there = World(tmp_path / "there")

    answer = there.human(there.brain("app")).call("import", source=str(archive))

    assert (answer.get("mode"), answer["needs_human"]) == ("restore", []), answer
    there.close()


def test_the_name_of_a_file_is_told_on_one_line_and_gives_no_orders(world: World, m1nd: M1nd) -> None:
    root = world.brain("app")
    claims = m1nd.runtime / "project-brains" / ("aa" * 8) / "agent-memory"
    for name in (b"a\nRefused: nothing\x1b[31m.light.md", b"\xff.light.md", "\u202e.light.md".encode()):
        Path(os.fsdecode(os.fsencode(claims) + b"/" + name)).write_bytes(b"\xff")

    answer = world.at(root).call("memory.import", path=str(m1nd.base))

    assert answer["refused_by_code"]["invalid_params"] == 3
    told = "".join(one["name"] + one["reason"] for one in answer["refused"])
    assert told.isprintable(), "no line break, no escape, no lone half of a character"
    assert answer["rendered"].replace("\n", "").isprintable()
