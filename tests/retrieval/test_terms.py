"""Terms: the words a text is found by, in English and other scripts, and a brain whose words are of another making."""

import pytest

from hindbrain.engines.text import query_terms, terms
from hindbrain.services.gateway import TERMS_META
from tests.support.world import World


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("retries retried retrying", ["retri", "retri", "retri"]),
        ("max_retries HTTPServer", ["maxretries", "max", "retri", "httpserver", "http", "server"]),
        ("re-index v2", ["reindex", "re", "index", "v2", "v", "2"]),
        ("café Straße Łódź", ["cafe", "strass", "lodz"]),
        ("東京都", ["東京", "京都"]),
        ("東京API", ["東京", "api"]),
        ("안녕하세요", ["안녕", "녕하", "하세", "세요"]),
        ("кошками кошка", ["кошк", "кошк"]),
        ("الكتب", ["كتب"]),
        ("βιβλία", ["βιβλ"]),
        ("", []),
        ("!? -- ...", []),
    ],
)
def test_terms_are_stems_pairs_and_parts(text: str, expected: list[str]) -> None:
    assert terms(text) == expected


@pytest.mark.parametrize("text", ["ประเทศไทย", "हिन्दी", "မြန်မာ", "ខ្មែរ", "עברית"])
def test_words_of_scripts_with_vowel_signs_are_not_lost(text: str) -> None:
    """Given a word with signs that Python counts as no letters; when it is cut into terms; then none is a lone letter."""
    assert terms(text)
    assert all(len(term) > 1 for term in terms(text))


def test_a_question_keeps_the_words_that_carry_meaning_once_and_in_order() -> None:
    assert query_terms("What does the worker do before the workers retry?") == ["worker", "retri"]
    assert query_terms("Does it, was it, any of the?") == []


def test_conf_06_a_brain_whose_words_are_of_another_making_is_indexed_anew_when_it_is_opened(world: World) -> None:
    # Given a brain whose claims are stored under words that nobody looks for any more
    root = world.brain("x")
    world.at(root).memorize("Retry policy", "The worker retries three times.")
    brain = world.app.house.brains.covering(root)
    assert brain is not None
    with world.app.house.brains.use(brain) as opened:
        opened.store.rebuild_index(lambda version: ["zzz"])
        with opened.store.writing() as writer:
            writer.set_meta(TERMS_META, "1")
    assert world.at(root).seek("retrying workers")["results"] == []

    # When the brain is opened by another process
    world.restart()

    # Then the claim is found by its words again
    assert [row["claim"] for row in world.at(root).seek("retrying workers")["results"]] == ["Retry policy"]
