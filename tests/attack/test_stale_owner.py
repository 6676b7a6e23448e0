"""An owner file that outlived its owner: the number and the port in it may be a stranger's, who must not get the token."""

import os
import socket
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from hindbrain.surfaces.exchange import OwnerAddress, OwnerGone, connect


@contextmanager
def as_nobody() -> Iterator[None]:
    """Without the rights of root, for whom no process is a stranger's."""
    if os.getuid() != 0:
        yield
        return
    os.setresuid(65534, 65534, 0)
    try:
        yield
    finally:
        os.setresuid(0, 0, 0)


def test_a_process_of_another_user_is_not_asked() -> None:
    with socket.create_server(("127.0.0.1", 0)) as stranger:
        stranger.setblocking(False)
        address = OwnerAddress("127.0.0.1", stranger.getsockname()[1], 1, "0.1.0", 0)

        with as_nobody(), pytest.raises(OwnerGone):
            connect(address, 1.0)

        with pytest.raises(BlockingIOError):
            stranger.accept()
