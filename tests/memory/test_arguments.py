from __future__ import annotations

import pytest

from agentctx_nb.memory.arguments import GET_MEMORIES, SEARCH_MEMORIES, read_arguments


def test_arguments_come_as_a_dict_or_keywords_in_either_spelling():
    given = {"tableName": "messages", "roomId": "r"}
    assert read_arguments(given, {"limit": 3}, known=GET_MEMORIES, of="get_memories") == {
        "table_name": "messages",
        "room_id": "r",
        "count": 3,
    }


@pytest.mark.parametrize("count", ["match_count", "matchCount", "count", "limit"])
@pytest.mark.parametrize("threshold", ["match_threshold", "matchThreshold"])
def test_a_search_is_asked_as_the_reference_page_does(count, threshold):
    given = {"tableName": "documents", "embedding": [1.0], count: 3, threshold: 0.75, "query": "q"}
    assert read_arguments(given, {}, known=SEARCH_MEMORIES, of="search_memories") == {
        "table_name": "documents",
        "embedding": [1.0],
        "count": 3,
        "match_threshold": 0.75,
        "query": "q",
    }


@pytest.mark.parametrize(
    ("given", "more", "words"),
    [
        (None, {"tablename": "x"}, "get_memories has no argument 'tablename'; did you mean 'table_name'"),
        (None, {"colour": 1}, "it takes table_name, room_id"),
        (None, {"embedding": [1.0]}, "get_memories has no argument 'embedding'"),
        ({3: 1}, {}, "has no argument 3"),
        ({"limit": 1}, {"count": 2}, "is given count twice, as 'limit' and as 'count'"),
        ("messages", {}, "takes keywords or one dict of them, not str"),
    ],
)
def test_a_wrong_argument_is_a_type_error_naming_the_nearest(given, more, words):
    with pytest.raises(TypeError, match=words):
        read_arguments(given, more, known=GET_MEMORIES, of="get_memories")


@pytest.mark.parametrize(
    ("wrong", "right"),
    [
        ("match_treshold", "match_threshold"),
        ("embeding", "embedding"),
        ("match_counts", "count"),
        ("aproximate", "approximate"),
    ],
)
def test_a_wrong_argument_of_a_search_names_the_nearest(wrong, right):
    with pytest.raises(
        TypeError, match=rf"search_memories has no argument '{wrong}'; did you mean .*'{right}'"
    ):
        read_arguments({wrong: 1}, {}, known=SEARCH_MEMORIES, of="search_memories")
