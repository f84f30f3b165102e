"""The words around a place in a message: what may stand before one, what ends one, and what never is one."""

from __future__ import annotations

__all__ = [
    "ADJECTIVES",
    "AFTER_GOING_TO",
    "AFTER_NOUN",
    "AFTER_THE",
    "COMMANDS",
    "CONDITIONS",
    "EXPECTING",
    "GENERIC",
    "LEADS",
    "NOUNS",
    "PARTICLES",
    "STOPS",
    "TIMES",
    "TRAVEL",
    "UNITS",
]


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


TIMES = _words(
    """
    today tonight tomorrow yesterday now rn asap atm currently later soon early earlier late morning noon midday afternoon
    evening night midnight dawn dusk sunrise sunset weekend week month year day days hour hours minute minutes
    weeks months years lunchtime overnight daily hourly weekly nowadays then
    monday tuesday wednesday thursday friday saturday sunday mondays tuesdays wednesdays thursdays fridays
    saturdays sundays mon tue tues wed thu thur thurs fri sat sun
    january february march april may june july august september october november december
    jan feb mar apr jun jul aug sep sept oct nov dec
    spring summer autumn fall winter springtime summertime wintertime
    christmas easter halloween thanksgiving diwali ramadan eid hanukkah
    am pm utc gmt est edt pst pdt cet cest
    one two three four five six seven eight nine ten twelve several few couple
    """
)
"""What says when: it ends a place and never is one."""

COMMANDS = _words(
    """
    a about again all also an and any anyone are be been bring bring's but can check could current currently did
    do does fetch find for from get getting give go going got had has have having hello hey hi how how's hows i
    i'd i'll i'm im in is isn't it it's its let let's like local look looking lookup love me my need of ok okay on
    or our out please pls read report say see should show so some talk tell tell's thanks thx that that's the their
    there these this those to us was want was watch we what what's whats when where which who why will with won't
    would you your
    """
)
"""What a request begins with; none of it is part of a place."""

NOUNS = _words(
    "weather forecast forecasts temperature temperatures temp temps humidity conditions climate wx meteo"
)
"""What is asked for, right beside the place: "London weather", "weather London"."""

CONDITIONS = NOUNS | _words(
    """
    rain raining rainy snow snowing snowy sun sunny cloud cloudy clouds wind windy hot cold warm cool chilly wet dry
    humid foggy fog icy freezing storm storms stormy thunderstorm thunderstorms hail hailing muggy mild sunshine
    degrees umbrella showers drizzle overcast pouring frost heatwave hurricane tornado typhoon
    """
)
"""What makes a sentence about weather."""

STOPS = (
    COMMANDS
    | TIMES
    | _words(
        """
        above after against along although amid among as at away because before below beside besides between both
        by compared despite doing down during each either else every everyone everything feel feels few forecasted
        he her here him his however if inside instead into just less lot many might mine more most much must near
        neither never no nor not off often once only other over per perhaps really right same she since something
        still such than them they though through till too toward towards under unless until up upon usually versus
        very via vs well were whatever whenever wherever whether while within without yet
        celsius fahrenheit kelvin metric imperial rains rained snows going expected supposed likely wear pack
        """
    )
    | CONDITIONS
)
"""What ends a place that is written in small letters."""

GENERIC = _words(
    """
    case general advance total order fact short addition particular detail details words english spanish german
    french italian portuguese dutch japanese chinese korean russian arabic hindi
    area city town village country countryside neighborhood neighbourhood region state province valley mountains
    hills woods forest desert coast beach sea ocean river lake park garden yard backyard houses home office work
    school campus bed airport station hotel house place location outdoors indoors outside air sky shade open
    world universe car bus train plane boat danger love trouble turn person private public shorts jeans boots
    sandals sneakers flip jacket coat python javascript json markdown html text bullet bullets summary
    dinner lunch breakfast golf picnic picnics bbq kids children sports soccer football tennis travel travels
    travelers everybody anybody somebody nobody example instance sure free fun real
    least worst first last next moment present budget cash demand market price revenue sales stock traffic
    """
)
"""What is no place by itself; "Lake Tahoe" is one."""

ADJECTIVES = _words(
    """
    actual awful average bad beautiful better best bright calm clear cold cool crazy current daily detailed dry
    expected extended extreme exact fine foul gloomy good great harsh heavy high horrible hot hourly humid latest
    live local lovely low mild new nice normal outdoor outside perfect rainy real severe snowy stormy sunny
    terrible today's todays tomorrow's tomorrows tonight's tropical typical usual warm weekend weekly wet wild
    windy winter worst
    """
)
"""What may stand between a place and "weather", or before "weather" with no place at all."""

LEADS = _words("central downtown greater northern southern eastern western inner upper lower old rural")
"""What narrows a place without being part of its name: "downtown Chicago"."""

PARTICLES = _words("al am an ar auf da das de del della den der des di do dos du e el ibn la las le les los")
"""Small words inside a name, between capitalised ones."""

AFTER_THE = _words(
    """
    alps andes bahamas bronx caribbean catskills cotswolds dolomites gambia hague hamptons highlands himalayas
    maldives midlands netherlands ozarks philippines poconos pyrenees rockies seychelles smokies uae uk
    ukraine us usa
    """
)
"""Places written with an article, recognised in small letters as well."""

TRAVEL = _words(
    """
    drive driving flight fly flying go going head heading journey move moving off road travel traveling travelling
    trip way
    """
)
"""What stands before "to" and a place."""

AFTER_GOING_TO = _words(
    """
    bake boil boost break burn carry cause change clear come cook die drizzle drop eat end fall feel flood freeze
    hail happen heat hike hit improve keep last leave make melt play plan pour reach ride rise roast run ski sleep
    start stay stop sweat swim take try turn use visit walk wash
    """
)
"""What stands after "going to" and is no place."""

AFTER_NOUN = _words(
    """
    advisory alert alerts api app apps balloon balloons bureau channel data girl guy info information map maps
    model models news page pattern patterns proof provider providers radar readings report reports satellite
    sensor service services site source station stations update updates vane warning warnings website widget
    """
)
"""What stands after "weather" and is no place."""

EXPECTING = _words("be being expect expecting experience get getting have having see seeing")
"""What a place does with its weather."""

UNITS = _words("day days degrees hour hours minute minutes months people seconds weeks years")
"""What makes a number beside it no postal code."""
