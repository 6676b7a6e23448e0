"""The graph in a browser: found, walked and asked by keyboard and in words, with the canvas showing the same."""

import re
from itertools import pairwise

from playwright.sync_api import Locator, Page, expect

from hindbrain.domain.brain import fingerprint
from tests.support.hall import Hall

GRAPH = "#/b/{harbor-shop}/graph"
BASKET, RETRY, MONEY = (f"file::src/harbor/{name}.py" for name in ("basket", "retry", "money"))
_COLOURS = """canvas => {
  const seen = new Set(), pixels = canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height).data;
  for (let at = 0; at < pixels.length; at += 4) if (pixels[at + 3] > 200) seen.add(pixels.slice(at, at + 3).join());
  return seen.size;
}"""
# How many frames a zoom takes: counted until none was drawn for a while.
_FRAMES = """canvas => new Promise(kept => {
  let seen = 0, idle = 0;
  canvas.addEventListener('graph-frame', () => { seen += 1; idle = 0; });
  const look = () => { idle += 1; idle > 12 ? kept(seen) : requestAnimationFrame(look); };
  document.querySelector('[aria-label="Zoom in"]').click();
  requestAnimationFrame(look);
})"""


def canvas(page: Page) -> Locator:
    return page.get_by_role("img", name="A map of")


def row(page: Page, node: str) -> Locator:
    """The row of a node in a list."""
    return page.locator(f'.graph-side button[data-node="{node}"]')


def title(page: Page) -> Locator:
    """The name of the selected node."""
    return page.locator(".graph-node h2")


def test_hall_graph_is_drawn_with_a_legend_and_said_in_words(hall: Hall, page: Page) -> None:
    hall.open(GRAPH)

    expect(canvas(page)).to_have_attribute("data-settled", "true")
    assert canvas(page).evaluate(_COLOURS) > 20
    legend = page.get_by_role("list", name="Colours")
    expect(legend).to_contain_text(re.compile(r"File 15"))
    expect(legend).to_contain_text("Cited by a claim")
    expect(row(page, BASKET)).to_be_visible()


def test_hall_graph_a_node_is_found_as_one_types_and_chosen_by_keyboard(hall: Hall, page: Page) -> None:
    hall.open(GRAPH)

    page.keyboard.press("/")
    page.keyboard.type("basket.py")
    expect(row(page, BASKET).first).to_be_visible()
    page.keyboard.press("ArrowDown")
    expect(page.get_by_role("list", name="Nodes found").get_by_role("button").first).to_be_focused()
    page.keyboard.press("Enter")

    expect(title(page)).to_have_text("basket.py")
    expect(page.locator(".graph-node")).to_contain_text("src/harbor/basket.py")
    expect(page).to_have_url(re.compile("node=file"))


def test_hall_graph_neighbours_are_walked_by_keyboard_and_back(hall: Hall, page: Page) -> None:
    hall.open(f"{GRAPH}?node={BASKET}")

    neighbours = page.get_by_role("list", name="imports →").get_by_role("button")
    expect(neighbours.first).to_be_visible()
    neighbours.first.focus()
    page.keyboard.press("End")
    expect(neighbours.last).to_be_focused()
    named = neighbours.last.locator(".node-name").inner_text()
    page.keyboard.press("Enter")
    expect(title(page)).to_have_text(named)
    expect(title(page)).to_be_focused()
    page.go_back()

    expect(title(page)).to_have_text("basket.py")


def test_hall_graph_a_neighbourhood_grows_with_its_depth(hall: Hall, page: Page) -> None:
    hall.open(f"{GRAPH}?node={MONEY}")
    expect(page.get_by_role("heading", name="Neighbours")).to_be_visible()

    page.get_by_label("Depth of the neighbourhood").select_option("2")

    expect(page.get_by_role("heading", name="2 edges away")).to_be_visible()
    expect(page).to_have_url(re.compile("depth=2"))


def test_hall_graph_impact_lists_what_an_edit_reaches_by_hop(hall: Hall, page: Page) -> None:
    hall.open(f"{GRAPH}?node={RETRY}")

    page.get_by_role("button", name="Impact", exact=True).press("Enter")
    expect(page.get_by_role("button", name="Impact", exact=True)).to_be_focused()

    expect(page.get_by_role("heading", name="Impact of retry.py")).to_be_visible()
    near = page.get_by_role("list", name="1 hop")
    expect(near.locator('[data-node="file::src/harbor/payments.py"]')).to_be_visible()
    expect(near).to_contain_text("cites it")
    expect(page).to_have_url(re.compile("mode=impact"))


def test_hall_graph_a_path_is_shown_between_two_chosen_nodes(hall: Hall, page: Page) -> None:
    hall.open(f"{GRAPH}?node={BASKET}")

    page.get_by_role("button", name="Path to…").click()
    expect(page.get_by_label("Find the other end")).to_be_focused()
    page.keyboard.type("retry.py")
    page.keyboard.press("Enter")

    way = page.get_by_role("list", name="The way")
    expect(way.get_by_role("button").first).to_contain_text("basket.py")
    expect(way.get_by_role("button").last).to_contain_text("retry.py")
    expect(page).to_have_url(re.compile(r"to=file"))


def test_hall_graph_a_path_over_a_claim_counts_its_parts_as_one_node(hall: Hall, page: Page) -> None:
    hall.open(f"{GRAPH}?node={RETRY}&mode=path&to=file%3A%3Asrc%2Fharbor%2Fapp.py")

    way = page.get_by_role("list", name="The way").get_by_role("button")
    expect(way.last).to_contain_text("app.py")
    kinds = [one.inner_text() for one in way.all()]
    assert any("claim" in words for words in kinds)
    assert not any("claim" in one and "claim" in other for one, other in pairwise(kinds))
    expect(page.get_by_text(f"{len(kinds) - 1} steps from one to the other.")).to_be_visible()


def test_hall_graph_a_question_shows_its_heat_ranked_and_teaches_nothing(hall: Hall, page: Page) -> None:
    before = hall.call("drift", root="harbor-shop")
    hall.open(GRAPH)

    page.get_by_label("Ask what a question wakes").fill("retry of a payment")
    page.keyboard.press("Enter")

    ranked = page.get_by_role("list", name="Hottest first").get_by_role("button")
    expect(ranked.first).to_contain_text("100 %")
    expect(page.locator(".graph-result")).to_contain_text("retry.py")
    expect(page).to_have_url(re.compile("q=retry"))
    assert hall.call("drift", root="harbor-shop").get("edges") == before.get("edges")


def test_hall_graph_claims_lead_from_the_code_they_cite_to_memory(hall: Hall, page: Page) -> None:
    hall.open(f"{GRAPH}?node={RETRY}")

    expect(page.locator(".graph-node")).to_contain_text("cited by")
    claims = page.get_by_role("list", name="Claims that cite it").get_by_role("link")
    expect(claims.filter(has_text="Retry policy")).to_have_attribute("href", hall.route("#/b/{harbor-shop}/memory/retry-policy"))


def test_hall_graph_an_address_holds_the_whole_state(hall: Hall, page: Page) -> None:
    hall.open(f"{GRAPH}?node={BASKET}&mode=path&to={RETRY}")
    expect(page.get_by_role("heading", name="Path to retry.py")).to_be_visible()

    hall.open(f"{GRAPH}?node=file%3A%3Agone.py")
    expect(page.locator(".graph-node")).to_contain_text("not among the drawn nodes")
    expect(page.locator(".graph-node")).to_contain_text("there is no node")


def test_hall_graph_the_canvas_is_dragged_zoomed_and_clicked(hall: Hall, page: Page) -> None:
    hall.open(f"{GRAPH}?node={MONEY}&mode=path")  # the one node that is lit stands in the middle
    expect(canvas(page)).to_have_attribute("data-settled", "true")
    box = canvas(page).bounding_box()
    assert box is not None
    x, y = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2

    page.mouse.move(x, y)
    page.mouse.down()
    page.mouse.move(x + 60, y + 40, steps=4)
    page.mouse.up()
    expect(page.locator(".graph-node")).to_be_visible()
    page.mouse.wheel(0, -200)
    expect(page.locator(".graph-over")).to_contain_text("money.py")
    page.mouse.click(x + 60, y + 40)

    expect(page.get_by_role("heading", name="Neighbours")).to_be_visible()
    expect(page).not_to_have_url(re.compile("mode="))


def test_hall_graph_moves_only_for_who_wants_motion(hall: Hall, page: Page) -> None:
    hall.open(GRAPH)
    expect(canvas(page)).to_have_attribute("data-settled", "true")

    still = canvas(page).evaluate(_FRAMES)
    page.emulate_media(color_scheme="light", reduced_motion="no-preference")
    page.reload()
    expect(canvas(page)).to_have_attribute("data-settled", "true")
    moving = canvas(page).evaluate(_FRAMES)

    assert still <= 3 < moving


def test_hall_graph_that_changed_is_offered_anew(hall: Hall, page: Page) -> None:
    hall.open(GRAPH)
    again = page.get_by_role("button", name="The graph may have changed")
    found = page.get_by_role("list", name="Nodes found").get_by_text("Cents only").first

    def drawn_anew() -> None:
        page.locator("canvas").evaluate("canvas => { canvas.dataset.old = ''; }")
        again.click()
        expect(page.locator("canvas[data-old]")).to_have_count(0)
        page.get_by_label("Find a node").fill("cents only")

    hall.call("memorize", root="harbor-shop", node_label="Cents only", text="Money is whole.", evidence=["src/harbor/money.py"])
    drawn_anew()
    expect(found.or_(again).first).to_be_visible()
    if again.is_visible():  # the first offer was for what the owner saw before the claim came
        drawn_anew()

    expect(found).to_be_visible()


def test_hall_graph_without_its_worker_still_has_its_lists(hall: Hall, page: Page) -> None:
    hall.watch.expect(r"worker\.js")
    page.route("**/graph/worker.js", lambda route: route.abort())
    try:
        hall.open(f"{GRAPH}?node={RETRY}")

        expect(page.get_by_text("The picture cannot be drawn here")).to_be_visible()
        expect(page.get_by_role("list", name="contains →")).to_be_visible()
    finally:
        page.unroute("**/graph/worker.js")


def test_hall_graph_that_is_not_there_says_how_one_comes_about(hall: Hall, page: Page) -> None:
    bare = hall.world.directory / "bare"
    bare.mkdir()
    hall.owner.call("ingest", root=bare, path=str(bare), project_root=str(bare))
    hall.open(f"#/b/{fingerprint(str(bare))}/graph")
    expect(page.get_by_text("There is no graph yet")).to_be_visible()
    expect(page.locator("main code")).to_have_text("hindbrain ingest")

    hall.open("#/b/medulla/graph")
    expect(page.get_by_text("The medulla has none of this")).to_be_visible()
