"""Templates render as npm's ``handlebars`` renders them: those of ``@elizaos/core``, random ones, and some of our own.

The first two need npm's registry. Where it cannot be reached, the tests say so in the output and compare
nothing; the templates in ``tests/templates`` are always compared, with answers recorded from ``handlebars``.
"""

from __future__ import annotations

import json
import random
import re
import shutil
import subprocess
import tarfile
from pathlib import Path

import pytest

from agentctx_nb.templates import render_template
from tests.core.template_grammar import VALUES, Grammar

TEMPLATES = Path(__file__).parents[1] / "templates"
HANDLEBARS = "handlebars@4.7.10"
CORES = {"@elizaos/core@1.7.2": 5, "@elizaos/core@2.0.0-alpha.537": 78}  # templates with tags in each
EXPORTED = re.compile(r'export declare const (\w+) = ("(?:[^"\\]|\\.)*");')
TEXTS = [
    "Ada",
    "",
    "two words",
    "<b> & \"q\" 'x'",
    "{{agentName}}",
    "$& \\1",
    "one\ntwo",
    "東京 ☀",
    "{",
    "}}",
]
OURS = {path.stem: path.read_text(encoding="utf-8") for path in sorted(TEMPLATES.glob("*.hbs"))}


class Registry:
    """What was fetched: one folder a package; ``problem`` says why there is none."""

    def __init__(self, folder):
        self.folder = folder
        self.problem = self._fetch([HANDLEBARS, *CORES])

    def _fetch(self, packages):
        npm = shutil.which("npm")
        if npm is None or shutil.which("node") is None:
            return "node and npm are not installed"
        options = ["--loglevel=error", "--prefer-offline", "--fetch-retries=0", "--fetch-timeout=20000"]
        command = [npm, "pack", *options, *packages]
        try:
            done = subprocess.run(
                command, cwd=self.folder, capture_output=True, text=True, timeout=120, check=False
            )
        except subprocess.TimeoutExpired:
            return "npm did not answer within 120 s"
        return " ".join(done.stderr.split())[:200] if done.returncode else None

    def archive(self, package):
        name = package.removeprefix("@").replace("/", "-").replace("@", "-")
        return tarfile.open(self.folder / f"{name}.tgz")

    def render(self, cases):
        bundle = self.folder / "handlebars.js"
        if not bundle.exists():
            with self.archive(HANDLEBARS) as archive:
                bundle.write_bytes(archive.extractfile("package/dist/handlebars.js").read())
        done = subprocess.run(
            ["node", TEMPLATES / "render.js", bundle],
            input=json.dumps(cases), capture_output=True, text=True, timeout=120, check=True,
        )  # fmt: skip
        return json.loads(done.stdout)

    def templates(self, package):
        """Return the strings with tags in them that the package exports, by name and file."""
        found = {}
        with self.archive(package) as archive:
            for member in archive:
                if member.name.endswith(".d.ts"):
                    text = archive.extractfile(member).read().decode()
                    found |= {
                        (member.name, name): json.loads(written) for name, written in EXPORTED.findall(text)
                    }
        return {key: template for key, template in found.items() if "{{" in template}


@pytest.fixture(scope="module")
def registry(tmp_path_factory):
    return Registry(tmp_path_factory.mktemp("npm"))


@pytest.fixture
def reached(registry, capsys):
    """Return the registry, or None once the output has said that it was not reached."""
    if registry.problem is None:
        return registry
    with capsys.disabled():  # a comparison that did not take place must be seen not to have
        print(  # noqa: T201
            f"\nnpm's registry was not reached, so nothing was compared with it: {registry.problem}"
        )
    return None


def crlf(text):
    return text.replace("\n", "\r\n")


def drawn_values(template, draw):
    """Return values for most of the names in a template, of every kind that both sides write alike."""
    makers = [
        lambda: draw.choice(TEXTS),
        lambda: draw.randint(-5, 10**6),
        lambda: draw.choice([0.5, -2.25, 1e21, 1e-7]),
        lambda: draw.choice([True, False]),
        lambda: [draw.choice(TEXTS) for _ in range(draw.randint(0, 3))],
        lambda: [[draw.choice(TEXTS)], draw.randint(0, 9)],
    ]
    names = sorted(set(re.findall(r"\{\{[#{&]*\s*(?:\w+ )?([\w.]+)", template)))
    values = {}
    for name in names:
        if draw.random() < 0.85:
            first, *rest = name.split(".")
            value = draw.choice(makers)()
            for part in reversed(rest):
                value = {part: value}
            values[first] = value
    return values


def test_the_templates_elizaos_exports_render_as_handlebars_renders_them(reached):
    if reached is None:
        return
    draw = random.Random(4)
    cases = []
    for package, count in CORES.items():
        templates = reached.templates(package)
        assert len(templates) == count
        cases += [(t, drawn_values(t, draw)) for t in templates.values() for _ in range(8)]
    answers = reached.render(cases)
    assert [answer for answer in answers if "error" in answer] == []
    for (template, values), answer in zip(cases, answers, strict=True):
        assert render_template(template, extra=values) == answer["text"]


@pytest.mark.parametrize("seed", range(2))
def test_random_templates_render_as_handlebars_renders_them(reached, seed):
    if reached is None:
        return
    grammar = Grammar(random.Random(seed))
    cases = [(grammar.template(), VALUES) for _ in range(800)]
    compared = 0
    for (template, values), answer in zip(cases, reached.render(cases), strict=True):
        if "error" in answer or "[object Object]" in answer["text"]:  # a dict is JSON here
            continue
        compared += 1
        assert render_template(template, extra=values) == answer["text"], template
    assert compared > 400


def test_the_recorded_answers_are_those_of_handlebars(reached):
    if reached is None:
        return
    values = json.loads((TEMPLATES / "values.json").read_text(encoding="utf-8"))
    recorded = json.loads((TEMPLATES / "answers.json").read_text(encoding="utf-8"))
    cases = [(made(text), values) for text in OURS.values() for made in (str, crlf)]
    names = [name + end for name in OURS for end in ("", " crlf")]
    answers = [answer.get("text") for answer in reached.render(cases)]
    assert dict(zip(names, answers, strict=True)) == recorded


@pytest.mark.parametrize("name", OURS)
@pytest.mark.parametrize("line_ends", ["", " crlf"])
def test_a_template_of_our_own_renders_as_it_was_recorded(name, line_ends):
    values = json.loads((TEMPLATES / "values.json").read_text(encoding="utf-8"))
    recorded = json.loads((TEMPLATES / "answers.json").read_text(encoding="utf-8"))
    template = crlf(OURS[name]) if line_ends else OURS[name]
    assert render_template(template, extra=values) == recorded[name + line_ends]


def test_every_answer_is_of_a_template_that_is_there():
    recorded = json.loads((TEMPLATES / "answers.json").read_text(encoding="utf-8"))
    assert set(recorded) == {name + end for name in OURS for end in ("", " crlf")}
    assert len(OURS) >= 8


def test_a_registry_that_is_not_reached_is_told(tmp_path, monkeypatch):
    monkeypatch.setenv("npm_config_registry", "http://127.0.0.1:9")
    assert "ECONNREFUSED" in Registry(tmp_path).problem or shutil.which("npm") is None
    monkeypatch.setenv("PATH", str(tmp_path))
    assert Registry(tmp_path).problem == "node and npm are not installed"
