"""Pictures: a curve as a PNG, drawn by hand, since nothing else here needs a library for it."""

import struct
import zlib
from itertools import pairwise

from hindbrain.engines.curves import HEIGHT, INK, MARGIN, WIDTH, Colour, Curve, figures, lines

__all__ = ["png"]


def png(curve: Curve) -> bytes:
    """The same lines as pixels, without words."""
    pixels = bytearray(b"\xff" * (WIDTH * HEIGHT * 3))
    for colour, points in [*lines(curve), *figures(curve)]:
        for start, end in pairwise(points):
            _stroke(pixels, start, end, colour)
    frame = [(MARGIN, MARGIN), (MARGIN, HEIGHT - MARGIN), (WIDTH - MARGIN, HEIGHT - MARGIN)]
    for start, end in pairwise(frame):
        _stroke(pixels, start, end, INK)
    rows = b"".join(b"\x00" + bytes(pixels[at : at + WIDTH * 3]) for at in range(0, len(pixels), WIDTH * 3))
    header = struct.pack(">IIBBBBB", WIDTH, HEIGHT, 8, 2, 0, 0, 0)
    chunks = [(b"IHDR", header), (b"IDAT", zlib.compress(rows, 9)), (b"IEND", b"")]
    return b"\x89PNG\r\n\x1a\n" + b"".join(
        struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data)) for name, data in chunks
    )


def _stroke(pixels: bytearray, start: tuple[float, float], end: tuple[float, float], colour: Colour) -> None:
    steps = max(round(max(abs(end[0] - start[0]), abs(end[1] - start[1]))), 1)
    for step in range(steps + 1):
        x = round(start[0] + (end[0] - start[0]) * step / steps)
        y = round(start[1] + (end[1] - start[1]) * step / steps)
        for wide in (0, 1):
            if 0 <= x < WIDTH and 0 <= y + wide < HEIGHT:
                at = ((y + wide) * WIDTH + x) * 3
                pixels[at : at + 3] = bytes(colour)
