"""The name under which experience is kept."""

import hashlib

from hindbrain.engines.slug import intent_slug, intent_space, path_entity, tool_space


def test_ctl_058_the_space_is_the_first_three_words_of_the_intent():
    assert intent_space("DB migration task for staging") == "intent:db_migration_task"
    assert intent_space("  List   BIG files, now") == "intent:list_big_files"


def test_ctl_059_letters_of_every_script_are_kept_and_a_text_without_spaces_is_one_word():
    one, other = intent_space("整理下载文件夹"), intent_space("统计代码行数")
    assert one == "intent:整理下载文件夹"
    assert one != other
    assert intent_slug("长" * 80) == "长" * 32
    assert intent_slug("ﬁnd Ｆiles हिन्दी में") == "find_files_हिन्दी"
    assert intent_slug("fix_it-now please") == "fixitnow_please"


def test_ctl_059_an_intent_without_a_word_has_the_digest_of_its_text():
    assert intent_slug("🎉🎉") == "h_" + hashlib.sha256("🎉🎉".encode()).hexdigest()[:12]
    assert intent_slug("🎉🎉") != intent_slug("🎉")


def test_ctl_070_acts_are_kept_under_tool_and_target():
    assert (tool_space("run"), path_entity("ls"), path_entity(None)) == ("tool:run", "path:ls", "path:*")
