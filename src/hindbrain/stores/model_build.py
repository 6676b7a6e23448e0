"""Building a model: weights of the BERT family into one int8 ONNX file. Knows the graph, neither where weights come from nor
where the file goes.

The graph takes the token ids of one text and gives the state of each token and the vector of the text. It takes one text only, so
it needs no mask, and a text has the same vector whichever texts come before and after it: a batch would share one scale of its
int8 activations.
"""

import json
import struct
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from hindbrain.domain.errors import ModelRefused

__all__ = ["BUILD_VERSION", "Shape", "build", "read_weights"]

# Part of the stamp: another number means other vectors, so everything is embedded again.
BUILD_VERSION = 2

Floats = npt.NDArray[np.float32]
Weights = Mapping[str, Floats]

_TYPES: dict[str, Any] = {"F32": np.float32, "F16": np.float16, "F64": np.float64}
_OPSET = 17
_IR = 8  # the oldest file format that holds this opset, so that the oldest allowed runtime reads it
_CONTRIB = "com.microsoft"

# Seven bits, not eight: processors without VNNI add two products in sixteen bits, which overflows with eight. Seven give the same
# sums on every processor, and so the same vectors.
_WEIGHT_MAX = 64
_TABLE_MAX = 127  # the word table is looked up, never multiplied


@dataclass(frozen=True, slots=True, kw_only=True)
class Shape:
    """What a BERT encoder looks like, as its config.json says."""

    layers: int
    hidden: int
    heads: int
    inner: int
    positions: int
    epsilon: float

    @classmethod
    def read(cls, config: Mapping[str, Any]) -> "Shape":
        """Refuses what this graph cannot compute; a model that looks alike and is not would give vectors without meaning."""
        if config.get("model_type") != "bert" or config.get("hidden_act") != "gelu":
            raise ModelRefused(
                f"config.json says {config.get('model_type')} with {config.get('hidden_act')}; only BERT with gelu is read",
                fix="give weights of the MiniLM family",
            )
        try:
            return cls(
                layers=int(config["num_hidden_layers"]),
                hidden=int(config["hidden_size"]),
                heads=int(config["num_attention_heads"]),
                inner=int(config["intermediate_size"]),
                positions=int(config["max_position_embeddings"]),
                epsilon=float(config.get("layer_norm_eps", 1e-12)),
            )
        except (KeyError, TypeError, ValueError) as broken:
            raise ModelRefused(f"config.json lacks a number: {broken}", fix="give the whole model directory") from broken


def read_weights(raw: bytes) -> dict[str, Floats]:
    """The arrays of a safetensors file, as 32-bit floats. Names lose a leading `bert.`."""
    try:
        (length,) = struct.unpack_from("<Q", raw)
        header = json.loads(raw[8 : 8 + length])
        body = memoryview(raw)[8 + length :]
        found: dict[str, Floats] = {}
        for name, entry in header.items():
            if name == "__metadata__" or entry["dtype"] not in _TYPES:
                continue
            start, end = entry["data_offsets"]
            array = np.frombuffer(body[start:end], dtype=_TYPES[entry["dtype"]]).reshape(entry["shape"])
            found[name.removeprefix("bert.")] = array.astype(np.float32)
    except (struct.error, ValueError, KeyError, TypeError, AttributeError) as broken:
        raise ModelRefused(f"the weights are no safetensors file: {broken}", fix="download them again") from broken
    return found


def build(weights: Weights, shape: Shape, *, exact: bool = False) -> bytes:
    """The ONNX file. `exact` keeps 32-bit floats: the yardstick that the int8 file is held against."""
    graph = _Graph(weights, shape, exact=exact)
    try:
        return graph.finished()
    except KeyError as missing:
        raise ModelRefused(f"the weights lack {missing}", fix="give weights of the MiniLM family") from missing


def _quantised(array: Floats, axis: int, top: int) -> tuple[npt.NDArray[np.int8], Floats]:
    """Whole numbers and the scale of each slice along the other axis."""
    scale = np.maximum(np.abs(array).max(axis=axis), np.float32(1e-12)) / np.float32(top)
    return np.round(array / np.expand_dims(scale, axis)).astype(np.int8), scale.astype(np.float32)


class _Graph:
    """The nodes and constants of one model, in the order in which they are computed."""

    def __init__(self, weights: Weights, shape: Shape, *, exact: bool) -> None:
        self._weights = weights
        self._shape = shape
        self._exact = exact
        self._nodes: list[Any] = []
        self._constants: list[Any] = []

    def finished(self) -> bytes:
        from onnx import TensorProto, checker, helper

        states = self._embeddings()
        for number in range(self._shape.layers):
            states = self._layer(states, f"encoder.layer.{number}.")
        self._outputs(states)
        graph = helper.make_graph(
            self._nodes,
            "encoder",
            [helper.make_tensor_value_info("ids", TensorProto.INT64, ["tokens"])],
            [
                helper.make_tensor_value_info("states", TensorProto.FLOAT, ["tokens", self._shape.hidden]),
                helper.make_tensor_value_info("vector", TensorProto.FLOAT, [self._shape.hidden]),
            ],
            initializer=self._constants,
        )
        opsets = [helper.make_opsetid("", _OPSET), helper.make_opsetid(_CONTRIB, 1)]
        model = helper.make_model(graph, opset_imports=opsets, producer_name="hindbrain", ir_version=_IR)
        checker.check_model(model)
        written: bytes = model.SerializeToString(deterministic=True)
        return written

    # -- parts of the model ------------------------------------------------------------------------------------------

    def _embeddings(self) -> str:
        words = self._weights["embeddings.word_embeddings.weight"]
        # Every token is of type 0, so its embedding is added to the positions once and for all.
        places = (
            self._weights["embeddings.position_embeddings.weight"] + self._weights["embeddings.token_type_embeddings.weight"][0]
        )
        if self._exact:
            looked_up = self._node("Gather", self._constant("words", words), "ids")
        else:
            whole, scale = _quantised(words, 1, _TABLE_MAX)
            codes = self._node("Cast", self._node("Gather", self._constant("words", whole), "ids"), to=1)
            looked_up = self._node("Mul", codes, self._node("Gather", self._constant("word_scales", scale[:, None]), "ids"))
        length = self._node("Shape", "ids")
        first = self._node("Slice", self._constant("places", places), self._constant("zero", np.zeros(1, np.int64)), length)
        one_text = self._node("Unsqueeze", self._node("Add", looked_up, first), self._constant("batch", np.zeros(1, np.int64)))
        return self._normalised(one_text, "embeddings.LayerNorm.")

    def _layer(self, states: str, prefix: str) -> str:
        joined = [prefix + f"attention.self.{part}." for part in ("query", "key", "value")]
        weight = np.concatenate([self._weights[name + "weight"] for name in joined])
        bias = np.concatenate([self._weights[name + "bias"] for name in joined])
        query, key, value = self._split(self._product(states, prefix + "qkv", weight, bias))
        attended = self._node("MultiHeadAttention", query, key, value, domain=_CONTRIB, num_heads=self._shape.heads)
        mixed = self._dense(attended, prefix + "attention.output.dense.")
        states = self._normalised(mixed, prefix + "attention.output.LayerNorm.", skip=states)
        inner = self._node("Gelu", self._dense(states, prefix + "intermediate.dense."), domain=_CONTRIB)
        return self._normalised(self._dense(inner, prefix + "output.dense."), prefix + "output.LayerNorm.", skip=states)

    def _outputs(self, states: str) -> None:
        batch = "batch"
        self._node("Squeeze", states, batch, into="states")
        mean = self._node("ReduceMean", "states", axes=[0], keepdims=0)
        self._node("LpNormalization", mean, axis=0, p=2, into="vector")

    def _dense(self, given: str, prefix: str) -> str:
        return self._product(given, prefix + "product", self._weights[prefix + "weight"], self._weights[prefix + "bias"])

    def _product(self, given: str, name: str, weight: Floats, bias: Floats) -> str:
        added = self._constant(name + ".bias", bias)
        if self._exact:
            return self._node("Add", self._node("MatMul", given, self._constant(name, weight.T)), added)
        codes, scale = _quantised(weight.T, 0, _WEIGHT_MAX)
        zero = self._constant(name + ".zero", np.zeros(len(scale), np.int8))
        constants = (self._constant(name, codes), self._constant(name + ".scale", scale), zero, added)
        return self._node("DynamicQuantizeMatMul", given, *constants, domain=_CONTRIB)

    def _normalised(self, given: str, prefix: str, *, skip: str | None = None) -> str:
        gamma = self._constant(prefix + "weight", self._weights[prefix + "weight"])
        beta = self._constant(prefix + "bias", self._weights[prefix + "bias"])
        # Two nodes: the one that does both at once takes a tenth longer for the whole model.
        summed = given if skip is None else self._node("Add", given, skip)
        return self._node("LayerNormalization", summed, gamma, beta, axis=-1, epsilon=self._shape.epsilon)

    # -- the pieces of a graph ---------------------------------------------------------------------------------------

    def _constant(self, name: str, array: npt.NDArray[Any]) -> str:
        from onnx import numpy_helper

        self._constants.append(numpy_helper.from_array(np.ascontiguousarray(array), name))
        return name

    def _node(self, kind: str, *given: str, into: str | None = None, **attributes: Any) -> str:
        from onnx import helper

        made = into or f"n{len(self._nodes)}"
        self._nodes.append(helper.make_node(kind, list(given), [made], name=made, **attributes))
        return made

    def _split(self, given: str) -> tuple[str, str, str]:
        from onnx import helper

        number = len(self._nodes)
        query, key, value = (f"n{number}.{part}" for part in ("query", "key", "value"))
        self._nodes.append(helper.make_node("Split", [given], [query, key, value], name=f"n{number}", axis=-1))
        return query, key, value
