"""Vectors: the same for the same text whatever comes beside it, near to those of the exact model, and about what is said."""

import base64
import hashlib
import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from hindbrain.engines.minilm import codes, directions, mixed, projection
from hindbrain.engines.wordpiece import WordPiece
from hindbrain.policy.embedding import LATE_DIMS
from hindbrain.services.embedder import Embedder
from hindbrain.settings import Settings
from hindbrain.stores.home import Home
from hindbrain.stores.model import session
from hindbrain.stores.model_build import Shape, build, read_weights

EXACT = Path(__file__).with_name("exact_vectors.json")  # text -> codes of the vector that 32-bit floats give
TEXTS = tuple(json.loads(EXACT.read_text(encoding="utf-8")))


@pytest.fixture(scope="module")
def embedder(real_model: str, tmp_path_factory: pytest.TempPathFactory) -> Embedder:
    return Embedder(Home(tmp_path_factory.mktemp("home")), Settings({"model_dir": real_model}))


def vector(embedder: Embedder, text: str) -> np.ndarray:
    unit = embedder.embed(text)
    assert unit is not None
    return unit.vector


def test_int8_is_near_to_exact(embedder: Embedder) -> None:
    exact = {text: directions(base64.b64decode(raw), 384)[0] for text, raw in json.loads(EXACT.read_text("utf-8")).items()}

    cosines = {text: float(vector(embedder, text) @ exact[text]) for text in exact}

    assert min(cosines.values()) > 0.98, cosines


def test_a_tiny_int8_model_is_near_to_its_exact_twin(tiny: Path) -> None:
    weights, shape = (
        read_weights((tiny / "model.safetensors").read_bytes()),
        Shape.read(json.loads((tiny / "config.json").read_text())),
    )
    tokenizer = WordPiece((tiny / "vocab.txt").read_text().split("\n")[:-1])
    small, exact = session(build(weights, shape)), session(build(weights, shape, exact=True))

    for text in ("the worker retries", "bees dance", "x", "the river " * 200):
        ids = np.array(tokenizer.ids(text), dtype=np.int64)
        (states, mean), (true_states, true_mean) = small(ids), exact(ids)
        assert states.shape == true_states.shape == (len(ids), 32)
        assert float(mean @ true_mean) > 0.99
        assert np.allclose(np.linalg.norm([mean, true_mean], axis=1), 1, atol=1e-5)


DIGEST = """
import sys, hashlib, json
from pathlib import Path
from hindbrain.services.embedder import Embedder
from hindbrain.settings import Settings
from hindbrain.stores.home import Home
embedder = Embedder(Home(Path(sys.argv[1])), Settings({"model_dir": sys.argv[2]}))
units = list(embedder.embed_all(json.loads(sys.argv[3]), threads=int(sys.argv[4])))
print(hashlib.sha256(b"".join(u.vector.tobytes() + u.late.tobytes() for u in units)).hexdigest())
"""


@pytest.mark.parametrize("threads", [1, 2])
def test_vectors_are_the_same_to_the_bit_in_every_process_and_on_every_thread(
    embedder: Embedder, real_model: str, tmp_path: Path, threads: int
) -> None:
    here = [embedder.embed(text) for text in reversed(TEXTS)][::-1]
    expected = hashlib.sha256(b"".join(u.vector.tobytes() + u.late.tobytes() for u in here if u is not None)).hexdigest()

    words = (str(tmp_path), real_model, json.dumps(TEXTS), str(threads))
    there = subprocess.run([sys.executable, "-c", DIGEST, *words], capture_output=True, text=True, check=True)

    assert there.stdout.strip() == expected


def test_meaning_is_nearer_than_words(embedder: Embedder) -> None:
    question = embedder.query("How often is a broken task tried again?")
    assert question is not None
    texts = ("The worker repeats a failed job three times.", "A broken vase is often found again.", "We dance on the bridge.")

    near = [float(question.vector @ vector(embedder, text)) for text in texts]

    assert max(near) == near[0]


def test_a_question_says_which_word_each_row_is_of(embedder: Embedder) -> None:
    question = embedder.query("What is the retryPolicy of Zürich's workers?")
    assert question is not None

    assert set(question.words) == {"retrypolicy", "zurich", "workers"}
    assert question.late.shape == (len(question.words), LATE_DIMS)
    assert np.allclose(np.linalg.norm(question.late, axis=1), 1, atol=1e-5)


@pytest.mark.parametrize("text", ["", "the of and", "?!", "日本語", "\x00", "🙂"])
def test_every_text_has_a_vector(embedder: Embedder, text: str) -> None:
    unit = embedder.embed(text)

    assert unit is not None
    assert np.isclose(np.linalg.norm(unit.vector), 1, atol=1e-5)
    assert codes(unit.late) == b"" or len(codes(unit.late)) % LATE_DIMS == 0


def test_only_short_texts_keep_their_token_states(embedder: Embedder) -> None:
    short, long = embedder.embed("worker " * 59), embedder.embed("worker " * 60)

    assert short is not None
    assert long is not None
    assert (len(short.late) > 0, len(long.late)) == (True, 0)


def test_codes_keep_the_direction() -> None:
    rng = np.random.default_rng(3)
    vectors = rng.normal(size=(50, 384)).astype(np.float32)
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)

    back = directions(codes(vectors), 384)

    assert float((back * vectors).sum(axis=1).min()) > 0.9999
    assert codes(np.zeros((0, 32), np.float32)) == b""


def test_a_turn_leans_on_its_neighbours_by_their_share() -> None:
    east, north = np.array([1, 0], np.float32), np.array([0, 1], np.float32)

    leaning = mixed(east, [north, north], 0.5)

    assert np.allclose(leaning, np.array([1, 1]) / np.sqrt(2))
    assert np.allclose(mixed(east, [], 0.5), east)


def test_the_projection_keeps_what_differs() -> None:
    rng = np.random.default_rng(5)
    states = np.zeros((500, 40), np.float32)
    states[:, :8] = rng.normal(size=(500, 8)) * 3
    states += rng.normal(size=states.shape).astype(np.float32) * 0.01

    first, again = projection(states, 8), projection(states, 8)

    assert (first == again).all()
    kept = np.linalg.norm(states @ first, axis=1) / np.linalg.norm(states, axis=1)
    assert kept.min() > 0.99
