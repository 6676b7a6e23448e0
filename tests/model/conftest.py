"""What tests of the model may ask for."""

from pathlib import Path

import pytest

from tests.support.model import real_model, tiny_weights

__all__ = ["real_model", "tiny"]


@pytest.fixture
def tiny(tmp_path: Path) -> Path:
    """Weights of a tiny model."""
    return tiny_weights(tmp_path / "weights")
