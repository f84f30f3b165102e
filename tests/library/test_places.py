from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentctx_nb.library.places import find_place
from agentctx_nb.library.regions import is_region, split_region

PLACES = [
    # questions, as they are typed
    ("What's the weather in Oslo?", "Oslo"),
    ("What’s the weather like in Oslo?", "Oslo"),
    ("whats the weather in oslo", "oslo"),
    ("How is the weather in New York tomorrow?", "New York"),
    ("in New York tomorrow", "New York"),
    ("is it raining in São Paulo?", "São Paulo"),
    ("is it raining in são paulo right now", "são paulo"),
    ("what should I wear in Oslo tonight", "Oslo"),
    ("Do I need an umbrella in Seattle this afternoon?", "Seattle"),
    ("do i need a jacket in san francisco tonight", "san francisco"),
    ("will it rain in london when i arrive", "london"),
    ("Will there be snow in Zürich on Monday?", "Zürich"),
    ("How hot does it get in Phoenix in July?", "Phoenix"),
    ("how hot is phoenix right now", "phoenix"),
    ("How cold is Reykjavík today?", "Reykjavík"),
    ("What's it like in Lisbon vs Porto?", "Lisbon"),
    ("weather in Paris and London", "Paris"),
    ("Is it sunny in Nice?", "Nice"),
    ("Should I pack boots for my trip to Rome in November?", "Rome"),
    ("i'm going to rome tomorrow, will it rain", "rome"),
    ("we are flying to Tokyo next week, what's the forecast?", "Tokyo"),
    ("I land in Chicago at 5pm, will it storm?", "Chicago"),
    ("Can you tell me the temperature at Lake Tahoe?", "Lake Tahoe"),
    ("Will it snow on Mount Fuji?", "Mount Fuji"),
    ("any rain around Manchester later", "Manchester"),
    ("current temp near boulder", "boulder"),
    ("what about Bergen?", "Bergen"),
    ("and how about bergen?", "bergen"),
    ("In Oslo, will it rain today?", "Oslo"),
    ("In the morning in Rome, is there fog?", "Rome"),
    ("Is it warm enough to swim in Barcelona in May?", "Barcelona"),
    ("what will the weather be like in kuala lumpur over the weekend", "kuala lumpur"),
    ("How's the weather for hiking in Zermatt?", "Zermatt"),
    ("tell me if it's going to rain in Mumbai or not", "Mumbai"),
    ("is it windy in wellington?", "wellington"),
    ("rain in Spain", "Spain"),
    ("please check the weather in Munich for Alice", "Munich"),
    ("Can you check for Alice the weather in oslo", "oslo"),
    ("what's the weather in Paris in French", "Paris"),
    ("the weather in Cork is nice", "Cork"),
    ("weather in downtown Chicago", "Chicago"),
    ("Weather in the city of Leeds", "Leeds"),
    ("I walk in rubber shoes near Boston, will it rain?", "Boston"),
    ("forecast los angeles 5 day", "los angeles"),
    ("what's the temp in vegas rn", "vegas"),
    ("tomorrow weather kyoto", "kyoto"),
    ("how much rain did Portland get yesterday?", "Portland"),
    ("weather in 75001 Paris", "Paris"),
    ("I live in Berlin. What's the weather?", "Berlin"),
    ("should we go to the beach in Tel Aviv this weekend?", "Tel Aviv"),
    ("Weather forecast London UK", "London UK"),
    ("is it nice in nice", "nice"),
    # the word for weather beside the place
    ("weather london", "london"),
    ("Weather: Berlin", "Berlin"),
    ("London weather", "London"),
    ("new york weather", "new york"),
    ("london weather tomorrow please", "london"),
    ("show me the Paris forecast", "Paris"),
    ("Tokyo's forecast", "Tokyo"),
    ("What's Berlin's weather like?", "Berlin"),
    ("What is Tokyo's current temperature?", "Tokyo"),
    ("current weather sydney", "sydney"),
    ("Give me Cape Town weather for Friday", "Cape Town"),
    ("NYC weather today", "NYC"),
    ("oslo temperature", "oslo"),
    ("get rio de janeiro weather", "rio de janeiro"),
    ("forecast Rio de Janeiro", "Rio de Janeiro"),
    ("What's the temperature of Helsinki?", "Helsinki"),
    ("weather for Berlin", "Berlin"),
    ("forecast for paris in celsius", "paris"),
    ("forecast for Rome in flip flops", "Rome"),
    # the place as the subject
    ("Is Dublin rainy today?", "Dublin"),
    ("is london foggy this morning", "london"),
    ("Will London get rain this week?", "London"),
    ("Is Buenos Aires expecting thunderstorms?", "Buenos Aires"),
    # names with small words, marks and articles
    ("Weather in St. Louis", "St. Louis"),
    ("Weather in Washington, D.C.?", "Washington, D.C."),
    ("weather in Washington DC", "Washington DC"),
    ("Is it raining in Stratford-upon-Avon?", "Stratford-upon-Avon"),
    ("weather on the Isle of Skye", "Isle of Skye"),
    ("weather in isle of man", "isle of man"),
    ("Weather in Frankfurt am Main", "Frankfurt am Main"),
    ("weather in Newcastle upon Tyne", "Newcastle upon Tyne"),
    ("How is the weather in Xi'an?", "Xi'an"),
    ("Weather in Coeur d'Alene, Idaho", "Coeur d'Alene, Idaho"),
    ("what's the weather like in trinidad and tobago", "trinidad and tobago"),
    ("Is it cold in the Netherlands?", "Netherlands"),
    ("what's it like in the uk", "uk"),
    ("Is it raining in the US?", "US"),
    ("weather in The Hague", "The Hague"),
    ("weather in the hague today", "the hague"),
    ("Is there fog at the Grand Canyon?", "Grand Canyon"),
    ("weather in 東京", "東京"),
    ("What's the weather in Москва today?", "Москва"),
    ("WHAT IS THE WEATHER IN NEW YORK TODAY", "NEW YORK"),
    ("WEATHER OSLO", "OSLO"),
    # which one of several
    ("weather for Portland, OR tomorrow", "Portland, OR"),
    ("Is it hot in Paris, Texas?", "Paris, Texas"),
    ("forecast for paris, france this weekend", "paris, france"),
    ("weather in portland oregon", "portland oregon"),
    ("Weather in Paris France", "Paris France"),
    ("austin, tx forecast", "austin, tx"),
    ("weather in austin, tx", "austin, tx"),
    ("rain in London, Ontario?", "London, Ontario"),
    ("Seattle, Washington, USA weather", "Seattle, Washington, USA"),
    ("Is it cold in Oslo, Paris and Rome?", "Oslo"),
    ("Will it rain in London, Bob?", "London"),
    # postal codes
    ("weather for 90210", "90210"),
    ("what's the weather in 10001 today", "10001"),
    ("SW1A 1AA weather", "SW1A 1AA"),
    ("forecast for K1A 0B1", "K1A 0B1"),
    ("weather in zip code 60614?", "60614"),
]  # fmt: skip

NO_PLACE = [
    "",
    "   ",
    "weather?",
    "What's the weather?",
    "How's the weather today?",
    "What's the weather like today?",
    "Is it raining?",
    "is it going to rain",
    "Will it rain in the morning?",
    "will it rain on Monday",
    "rain in 2 hours?",
    "will it rain in 10000 days",
    "Will it be cold in December?",
    "temperature in celsius",
    "Tell me the weather in French",
    "weather near me",
    "what's the weather in my area",
    "is it cold outside",
    "weather for tomorrow",
    "forecast for the weekend",
    "forecast for hiking",
    "Hi Alice, what's the weather?",
    "Will it rain, Bob?",
    "Does Alice know whether it will rain?",
    "Nice weather!",
    "I love rainy weather",
    "Beautiful weather today, isn't it?",
    "do I need to bring an umbrella",
    "Do you think it's warm enough to swim?",
    "is it nice at the beach",
    "What's the temperature in here?",
    "what temperature should I bake bread at?",
    "Is it cold in Bob's garden?",
    "is there snow at Alice's place",
    "My stock price forecast for Q3?",
    "The temperature of the server room is high",
    "temperature outside?",
    "under the weather today, sorry",
    "Purple Rain is a great song",
    "weather app",
    "Weather API docs",
    "show me the current weather",
    "local forecast please",
    "tomorrow's weather",
    "in case of rain, take a coat",
    "I'll be at work, will it snow?",
    "at 5pm will it rain",
    "in general I like rain",
    "weather in",
    "I wear shorts in summer, is it hot?",
    "What is the weather forecast for next week?",
]


@pytest.mark.parametrize(("text", "place"), PLACES)
def test_the_place_is_found_as_it_was_written(text, place):
    assert find_place(text) == place


@pytest.mark.parametrize("text", NO_PLACE)
def test_a_message_without_a_place_has_none(text):
    assert find_place(text) is None


def test_the_table_has_at_least_sixty_phrasings():
    assert len({text for text, _ in PLACES}) == len(PLACES) >= 60
    assert len(set(NO_PLACE)) == len(NO_PLACE) >= 30


@given(
    st.text(max_size=60)
    | st.lists(
        st.sampled_from(
            ("weather", "in", "the", "The", "for", ",", "D.C.", "'s", "O'", "St.", "x", "90210", "'", "-")
        )
    ).map(" ".join)
)
def test_any_text_gives_a_part_of_itself_or_nothing(text):
    found = find_place(text)
    assert found is None or found.strip() == found != ""


def test_a_long_message_is_read_at_its_beginning_only():
    assert find_place("rain " * 100_000 + "in Oslo") is None
    assert find_place("weather in Oslo " + "x" * 1_000_000) == "Oslo"


@pytest.mark.parametrize(
    ("place", "town", "region"),
    [
        ("Oslo", "Oslo", ""),
        ("Portland, OR", "Portland", "OR"),
        ("Washington, D.C.", "Washington", "D.C."),
        ("Seattle, Washington, USA", "Seattle", "Washington, USA"),
        ("paris texas", "paris", "texas"),
        ("Cape Town South Africa", "Cape Town", "South Africa"),
        ("Las Vegas NV", "Las Vegas", "NV"),
        ("New Mexico", "New Mexico", ""),
        ("South Korea", "South Korea", ""),
        ("Lake Washington", "Lake Washington", ""),
        ("new york new york", "new york", "new york"),
        ("Ciudad de Mexico", "Ciudad de Mexico", ""),
        ("Kansas City", "Kansas City", ""),
        ("Mexico", "Mexico", ""),
    ],
)
def test_a_region_after_a_town_is_told_from_the_town(place, town, region):
    assert split_region(place) == (town, region)


@pytest.mark.parametrize(
    ("text", "known"),
    [("Oregon", True), ("OR", True), ("or", False), ("D.C.", True), ("Oslo", False), ("", False)],
)
def test_known_regions(text, known):
    assert is_region(text) is known
