"""What Tab offers, by both ways into IPython's completer."""

from __future__ import annotations

import pytest
from IPython.core.completer import provisionalcompleter
from IPython.utils.capture import capture_output

from agentctx_nb.notebook.extension import unload

SIGN = "▌"  # where the cursor is


def by_cell(shell, marked):
    """Complete as a kernel does: with the whole cell, and where each offer would go."""
    text, offset = marked.replace(SIGN, ""), marked.index(SIGN)
    with provisionalcompleter():
        found = list(shell.ip.Completer.completions(text, offset))
    return [text[: offer.start] + offer.text + text[offer.end :] for offer in found]


def by_line(shell, marked):
    """Complete as a plain terminal does: with the line, and what replaces the word."""
    before = marked.partition(SIGN)[0].split("\n")[-1]
    with pytest.warns(PendingDeprecationWarning):  # terminals and other clients still call it
        fragment, offers = shell.ip.Completer.complete(line_buffer=before, cursor_pos=len(before))
    head = marked.partition(SIGN)[0]
    return [head[: len(head) - len(fragment)] + offer + marked.partition(SIGN)[2] for offer in offers]


WAYS = {"cell": by_cell, "line": by_line}


@pytest.fixture(params=WAYS)
def tab(request, shell):
    """A function that returns the cells Tab would make of one, in a shell with some names."""
    shell.run("%%provider WEATHER --dynamic --keywords rain\n'Rain.'")
    shell.run("%%provider NEWS --private\n'News.'")
    shell.run("words = ['rain']; weather_memory = 1")
    shell.run("%config AgentContext.presets = {'quick': {'fresh': True}}")
    return lambda marked: WAYS[request.param](shell, marked)


@pytest.mark.parametrize(
    ("marked", "made"),
    [
        ("%%provider A --dy▌", ["%%provider A --dynamic"]),
        ("%%provider A --p▌\n'a'", ["%%provider A --position\n'a'", "%%provider A --private\n'a'"]),
        ("%%provider W▌", ["%%provider WEATHER"]),
        ("%%provider A --keywords $wo▌", ["%%provider A --keywords $words"]),
        ("%%provider A --after WEATHER,N▌", ["%%provider A --after WEATHER,NEWS"]),
        ("%%provider A --after WEATHER, ▌", ["%%provider A --after WEATHER, NEWS"]),
        ("%provider we▌", ["%provider WEATHER"]),
        ("%provider WEATHER --hi▌", ["%provider WEATHER --history"]),
        ("%compose --in▌", ["%compose --include"]),
        ("%compose --include W▌", ["%compose --include WEATHER"]),
        ("%compose --include=W▌", ["%compose --include=WEATHER"]),
        ("%compose --preset ▌", ["%compose --preset quick"]),
        ("%compose -o weather_▌", ["%compose -o weather_memory"]),
        ("%compose $weat▌", ["%compose $weather_memory"]),
        ("%%compose --st▌\nhello", ["%%compose --strict\nhello"]),
        ("state = %compose --fr▌", ["state = %compose --fresh"]),
        ("%time %compose --fr▌", ["%time %compose --fresh"]),
        ("%pin --of▌", ["%pin --off"]),
        ("%providers --▌", ["%providers --all"]),
        ("%learn --pat▌", ["%learn --pattern"]),
    ],
)
def test_tab_offers(tab, marked, made):
    assert tab(marked) == made


def test_an_option_given_once_is_not_offered_again(tab):
    offered = tab("%compose --only --fresh --▌")
    assert "%compose --only --fresh --strict" in offered
    assert not [cell for cell in offered if cell.count("--only") + cell.count("--fresh") > 2]


@pytest.mark.parametrize(
    "marked",
    [
        "%compose what of --in▌",
        "%compose -- --in▌",
        "%remember facts Ada --ro▌",
        "%unknown --in▌",
        "x = 1 --in▌",
    ],
)
def test_nothing_of_ours_is_offered_in_a_message_or_elsewhere(tab, marked):
    assert not [cell for cell in tab(marked) if "--include" in cell or "--room" in cell]


def test_a_name_of_several_words_or_with_a_secret_in_it_is_not_offered(shell):
    for name in ("PLAIN", "PL TWO", "PL-s3cr3t-value"):
        shell.runtime.register_provider({"name": name, "get": lambda: "x"})
    shell.runtime.set_setting("KEY", "s3cr3t-value", secret=True)
    for way in WAYS.values():
        assert way(shell, "%provider PL▌") == ["%provider PLAIN"]


@pytest.mark.parametrize(
    "marked",
    [
        "%%provider A\n%compose --in▌",
        "%%compose\nwhat does %compose --in▌",
        "%%compose\n%compose --in▌",
        "\n\n%%provider A\n#| keywords: x\n%compose --in▌",
        "# told\n%%provider A\n%compose --in▌",
        "%%bash\n%compose --in▌",
    ],
)
def test_nothing_is_offered_in_the_body_of_a_cell_magic(shell, marked):
    assert not [cell for cell in by_cell(shell, marked) if "--include" in cell]


@pytest.mark.parametrize("above", ["x = 1\n", "# told\n", "%%time\n", "%%capture\n", "\n", "if True:\n    "])
def test_a_line_of_python_above_does_not_matter(shell, above):
    assert by_cell(shell, f"{above}%compose --in▌") == [f"{above}%compose --include"]


@pytest.mark.parametrize("use_jedi", [True, False])
def test_it_works_with_jedi_and_without(shell, use_jedi):
    before = shell.ip.Completer.use_jedi
    shell.ip.Completer.use_jedi = use_jedi
    assert by_cell(shell, "%compose --in▌") == ["%compose --include"]
    shell.ip.Completer.use_jedi = before


def test_names_of_prompts_and_actions_are_offered(shell):
    shell.runtime.register_prompt("REPLY", "Dear {{name}}")
    shell.runtime.register_action({"name": "SEND", "handler": lambda: None})
    for way in WAYS.values():
        assert way(shell, "%prompt RE▌") == ["%prompt REPLY"]
        assert way(shell, "%act SE▌") == ["%act SEND"]


def test_after_unloading_nothing_is_offered_and_nothing_is_left(shell):
    assert by_cell(shell, "%compose --in▌")
    unload(shell.ip)
    assert shell.ip.Completer.custom_matchers == []
    with capture_output() as captured:
        assert not [cell for cell in by_cell(shell, "%compose --in▌") if "--include" in cell]
    assert captured.stderr == ""


@pytest.mark.parametrize("marked", ["%comp▌", "%%prov▌", "%act▌"])
def test_what_awaits_in_place_of_a_magic_is_offered_as_no_magic(tab, shell, marked):
    assert [made for made in tab(marked) if "_await" in made] == []
    assert any(made.startswith(marked.replace(SIGN, "")) for made in tab(marked))
    assert not [
        name for table in shell.ip.magics_manager.magics.values() for name in table if "_await" in name
    ]
