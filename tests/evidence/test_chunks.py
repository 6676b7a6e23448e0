"""Chunks: cut where structure allows, word for word, never more than an embedder reads (MIND-219, MIND-220)."""

import itertools

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hindbrain.engines.chunking import Chunk, Shape, chunked, estimated_tokens, is_short, shape_of, without
from hindbrain.policy.evidence import CODE, MESSAGE, OVERLAP, SECTION, WINDOW

WORDS = " ".join(f"word{i}" for i in range(400))


@pytest.mark.req("MIND-219")
def test_mind_219_plain_text_is_cut_into_windows_that_overlap() -> None:
    text = WORDS[:2000]

    chunks = chunked(text, Shape.PLAIN)

    assert len(chunks) == 3
    assert all(one.end - one.start <= WINDOW for one in chunks)
    shared = [before.end - after.start for before, after in itertools.pairwise(chunks)]
    assert all(0.8 * OVERLAP <= size <= OVERLAP for size in shared)
    assert all(text[one.start - 1 : one.start].isspace() for one in chunks[1:])


@pytest.mark.req("MIND-219")
def test_mind_219_a_document_is_cut_at_its_headings_and_keeps_its_fences_whole() -> None:
    fence = "```python\n# not a heading\nprint(1)\n\nprint(2)\n```"
    text = f"# Ferry\n\nIt leaves at noon.\n\n## Code\n\n{fence}\n\n## Ports\n\nThe second pier.\n"

    chunks = chunked(text, Shape.MARKDOWN)

    assert [one.headings for one in chunks] == [("Ferry",), ("Ferry", "Code"), ("Ferry", "Ports")]
    assert fence in text[chunks[1].start : chunks[1].end]


def test_code_is_cut_between_blocks() -> None:
    block = "def number_{0}(value):\n    total = value + {0}\n    return total\n"
    text = "\n\n".join(block.format(i) for i in range(60))

    chunks = chunked(text, Shape.CODE)

    assert len(chunks) > 3
    assert all(text[one.start : one.end].startswith("def number_") for one in chunks)
    assert all(text[one.start : one.end].endswith("return total") for one in chunks)


def test_a_short_message_is_one_chunk_and_a_long_one_is_cut_by_sentences() -> None:
    sentence = "The ferry leaves the second pier at noon and comes back in the evening. "

    assert chunked("see you", Shape.MESSAGE) == [Chunk(start=0, end=7)]
    long = sentence * 40
    parts = [long[one.start : one.end] for one in chunked(long, Shape.MESSAGE)]
    assert len(parts) > 2
    assert all(len(part.split()) <= MESSAGE.words and part.endswith("evening.") for part in parts)


@pytest.mark.req("MIND-220")
@pytest.mark.parametrize("shape", list(Shape))
@pytest.mark.parametrize(
    "text",
    ["x" * 30_000, "字" * 5_000, "a.b," * 8_000, "\n" * 9_000 + "end", "één " * 6_000, "`" * 5_000, "# h\n" * 3_000],
    ids=["run", "cjk", "marks", "blank", "accents", "fences", "headings"],
)
def test_mind_220_no_chunk_is_larger_than_an_embedder_reads(shape: Shape, text: str) -> None:
    most = max(SECTION.tokens, CODE.tokens, MESSAGE.tokens)

    chunks = chunked(text, shape)

    assert chunks
    assert all(0 < estimated_tokens(text[one.start : one.end]) <= most for one in chunks)


@settings(max_examples=150, deadline=None)
@given(text=st.text(alphabet=st.sampled_from("ab .\n#`-*字é\t>"), max_size=3_000), shape=st.sampled_from(list(Shape)))
def test_every_word_is_in_a_chunk_and_chunks_stand_in_order(text: str, shape: Shape) -> None:
    chunks = chunked(text, shape)

    covered = set()
    for one in chunks:
        assert 0 <= one.start < one.end <= len(text)
        covered |= set(range(one.start, one.end))
    assert [one.start for one in chunks] == sorted(one.start for one in chunks)
    assert all(text[at].isspace() or at in covered for at in range(len(text)))


def test_what_is_taken_out_of_a_chunk_leaves_the_pieces_around_it() -> None:
    text = "Before it. THE VALUE. After it. THE VALUE."
    spans = [(11, 21), (32, 42)]

    left = without(Chunk(start=0, end=len(text)), spans, text)

    assert [text[one.start : one.end] for one in left] == ["Before it.", "After it."]


@pytest.mark.parametrize(
    ("name", "shape"),
    [("a.md", Shape.MARKDOWN), ("src/a.py", Shape.CODE), ("notes.txt", Shape.PLAIN), ("LICENSE", Shape.PLAIN)],
)
def test_a_file_has_the_shape_of_its_name(name: str, shape: Shape) -> None:
    assert shape_of(name) is shape


def test_a_turn_is_short_below_sixty_words() -> None:
    assert is_short("word " * 59)
    assert not is_short("word " * 60)
