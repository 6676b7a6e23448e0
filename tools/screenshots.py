"""Pictures of every view of the Hall, in the light, in the dark and on a phone, of the world that `hindbrain demo` makes.

make screenshots                      # docs/screenshots/VIEW-light.webp, VIEW-dark.webp, VIEW-phone.webp
make screenshots ARGS="--only mail graph --into /tmp/shots"
"""

import argparse
import base64
import os
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, os.fspath(Path(__file__).resolve().parents[1]))

from playwright.sync_api import Page
from tests.hall.views import VIEWS, View
from tests.support.browser import DESKTOP, PHONE, chromium
from tests.support.hall import Hall, opened

from hindbrain.surfaces.demo.world import build_world

ROOT = Path(__file__).resolve().parents[1]
SHAPES = (("light", DESKTOP, False), ("dark", DESKTOP, True), ("phone", PHONE, False))
LARGEST = 60_000  # bytes of one picture, so that all of them stay small enough for a checkout
QUALITIES = (0.9, 0.8, 0.7, 0.6, 0.5)

# The browser itself is the encoder: a picture of flat colours and text is a third of its PNG, and no library is needed.
_SMALLER = """async ([png, quality]) => {
  const bytes = Uint8Array.from(atob(png), one => one.charCodeAt(0));
  const image = await createImageBitmap(new Blob([bytes], {type: 'image/png'}));
  const canvas = new OffscreenCanvas(image.width, image.height);
  canvas.getContext('2d').drawImage(image, 0, 0);
  const blob = await canvas.convertToBlob({type: 'image/webp', quality});
  const url = await new Promise(done => {
    const reader = new FileReader();
    reader.onload = () => done(reader.result);
    reader.readAsDataURL(blob);
  });
  return url.split(',')[1];
}"""


def smaller(blank: Page, png: bytes) -> bytes:
    """The picture as WebP, as good as its size allows."""
    picture = b""
    for quality in QUALITIES:
        picture = base64.b64decode(blank.evaluate(_SMALLER, [base64.b64encode(png).decode(), quality]))
        if len(picture) <= LARGEST:
            break
    return picture


def taken(hall: Hall, view: View, blank: Page, into: Path) -> int:
    """The pictures of one view; how many bytes they have."""
    total = 0
    for shape, size, dark in SHAPES:
        hall.page.set_viewport_size({"width": size[0], "height": size[1]})
        hall.page.emulate_media(color_scheme="dark" if dark else "light", reduced_motion="reduce")
        page = hall.open(view.route)
        page.locator(view.shows).first.wait_for()
        page.evaluate("document.fonts.ready")
        picture = smaller(blank, page.screenshot())
        (into / f"{view.name}-{shape}.webp").write_bytes(picture)
        total += len(picture)
    return total


def main() -> int:
    """Take the pictures; what a page did wrong is told and fails the run."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--into", type=Path, default=ROOT / "docs" / "screenshots")
    parser.add_argument("--only", nargs="*", default=[])
    chosen = parser.parse_args()
    chosen.into.mkdir(parents=True, exist_ok=True)
    total = 0
    with tempfile.TemporaryDirectory(prefix="hindbrain-demo-") as place, chromium() as browser:
        world = build_world(Path(place))
        with opened(browser, world) as hall, browser.new_context() as context:
            blank = context.new_page()
            for view in VIEWS:
                if not chosen.only or view.name in chosen.only:
                    total += taken(hall, view, blank, chosen.into)
                    print(f"  {view.name}", flush=True)
            faults = hall.watch.told()
    print(f"{total / 1e6:.1f} MB in {chosen.into}")
    print("\n".join(faults), file=sys.stderr)
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
