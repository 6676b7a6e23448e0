"""The tokenizer: the pieces that the model was trained on."""

from pathlib import Path

import pytest

from hindbrain.engines.wordpiece import MAX_TOKENS, WordPiece
from hindbrain.stores.model import VOCABULARY as VOCABULARY_FILE
from hindbrain.stores.model import ModelDirectory

VOCABULARY = [
    "[UNK]",
    "[CLS]",
    "[SEP]",
    "un",
    "##aff",
    "##able",
    "the",
    "cafe",
    "naive",
    ",",
    "!",
    "日",
    "本",
    "a",
    "##b",
    "$",
    "[",
    "]",
]


def pieces(text: str) -> list[str]:
    return [VOCABULARY[number] for number in WordPiece(VOCABULARY).ids(text)][1:-1]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        pytest.param("unaffable", ["un", "##aff", "##able"], id="the longest piece from the left"),
        pytest.param("The, THE!", ["the", ",", "the", "!"], id="lower case, signs apart"),
        pytest.param("café naïve CAFÉ", ["cafe", "naive", "cafe"], id="accents dropped, composed"),
        pytest.param("cafe\u0301", ["cafe"], id="accents dropped, combining"),
        pytest.param("日本the", ["日", "本", "the"], id="ideographs apart"),
        pytest.param("the\u200bcafe", ["[UNK]"], id="invisible characters glue"),
        pytest.param("the\tcafe\n a\u3000a", ["the", "cafe", "a", "a"], id="every kind of space"),
        pytest.param("th\x00e \x07a", ["the", "a"], id="control characters dropped"),
        pytest.param("unknownword the", ["[UNK]", "the"], id="unknown as a whole"),
        pytest.param("a" + "b" * 99, ["a", *["##b"] * 99], id="a hundred characters"),
        pytest.param("a" + "b" * 100, ["[UNK]"], id="more than a hundred"),
        pytest.param("$a", ["$", "a"], id="ASCII symbols are signs"),
        pytest.param("[CLS]", ["[", "[UNK]", "]"], id="a mark in a text is text"),
        pytest.param("", [], id="nothing"),
        pytest.param(" \n ", [], id="only space"),
    ],
)
def test_a_text_becomes_pieces(text: str, expected: list[str]) -> None:
    assert pieces(text) == expected


def test_a_long_text_is_cut_between_marks() -> None:
    tokens = WordPiece(VOCABULARY).tokens("the cafe " * 100_000)

    assert len(tokens.ids) == MAX_TOKENS
    assert (tokens.ids[0], tokens.ids[-1]) == (1, 2)


def test_a_word_that_does_not_fit_is_cut_inside() -> None:
    tokens = WordPiece(VOCABULARY).tokens("the unaffable", limit=5)

    assert [VOCABULARY[number] for number in tokens.ids] == ["[CLS]", "the", "un", "##aff", "[SEP]"]


def test_every_piece_knows_its_word() -> None:
    tokens = WordPiece(VOCABULARY).tokens("The unaffable!")

    assert tokens.words == ("the", "unaffable", "!")
    assert tokens.sources == (-1, 0, 1, 1, 1, 2, -1)


# Ids that the reference tokenizer of the published model gives.
KNOWN = {
    "Hello, world!": [101, 7592, 1010, 2088, 999, 102],
    "The worker retries failed jobs.": [101, 1996, 7309, 2128, 21011, 3478, 5841, 1012, 102],
    "snake_case and camelCase": [101, 7488, 1035, 2553, 1998, 19130, 18382, 102],
    "Ünïcödé naïve café": [101, 27260, 15743, 7668, 102],
    "日本語 text": [101, 1864, 1876, 1950, 3793, 102],
    "Привет": [101, 1194, 16856, 10325, 25529, 15290, 22919, 102],
    "emoji 😀 fine": [101, 7861, 29147, 2072, 100, 2986, 102],
}


@pytest.mark.parametrize("text", KNOWN)
def test_the_ids_are_those_of_the_published_tokenizer(text: str, real_model: str) -> None:
    directory = ModelDirectory(Path(real_model)).current()
    assert directory is not None

    vocabulary = (directory / VOCABULARY_FILE).read_text(encoding="utf-8").split("\n")

    assert list(WordPiece(vocabulary).ids(text)) == KNOWN[text]
