"""Scripted agents decide alike whenever they know alike, and each in its own way."""

from hindbrain.engines.gym_agents import AGENTS, Action, View, disciplined, graph_happy, greedy_reader, sweeping

FILES = ("README.md", "docs/c.md", "src/a.py", "src/b.py", "tests/test_a.py")


def view(**changes: object) -> View:
    given = {"task": "find defects", "queries": ("one", "two"), "files": FILES, "calls_left": 10, "files_left": 5}
    return View(**{**given, **changes})  # type: ignore[arg-type]


def test_aol_230_the_same_view_gives_the_same_action() -> None:
    assert all(agent(view()) == agent(view()) for agent in AGENTS.values())
    assert all(agent(view(calls_left=0)) == Action(kind="stop") for agent in AGENTS.values())


def test_aol_230_the_greedy_reader_lists_and_reads_sources_in_order() -> None:
    assert greedy_reader(view(files=None)).kind == "list"
    assert greedy_reader(view()).target == "src/a.py"
    assert greedy_reader(view(read=("src/a.py", "src/b.py"))).target == "README.md"


def test_aol_230_the_graph_happy_agent_asks_the_same_again_before_it_reads() -> None:
    first = graph_happy(view(files=None))
    second = graph_happy(view(files=None, asked=("one",), hits=("src/b.py",)))
    third = graph_happy(view(files=None, asked=("one", "one.", "src/b.py"), hits=("src/b.py",)))

    assert (first.kind, second.kind, third) == ("ask", "ask", Action(kind="read", target="src/b.py"))
    assert second.target.rstrip(".") == first.target


def test_aol_230_the_disciplined_agent_asks_once_and_keeps_room_for_the_contracts() -> None:
    asked = {"asked": ("one",), "hits": ("src/b.py",)}

    assert disciplined(view(files=None)).kind == "ask"
    assert disciplined(view(**asked)).target == "src/b.py"
    assert disciplined(view(**asked, files_left=2)).target == "README.md"
    assert disciplined(view(**asked, read=("docs/c.md",), examples=("docs/c.md",))) == Action(kind="probe", target="docs/c.md")


def test_aol_230_a_sweep_goes_to_sources_of_which_nothing_is_known() -> None:
    read = ("README.md", "docs/c.md")

    assert sweeping(view(read=read, suspected=frozenset({"src/a.py"}))).target == "src/b.py"
    assert sweeping(view(read=FILES)).kind == "test"
    assert sweeping(view(read=FILES, tested=True)).kind == "stop"
