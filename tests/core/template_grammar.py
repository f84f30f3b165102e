"""Random templates, for comparing two renderers: every construct Handlebars has and this package supports.

Left out is what differs on purpose or is told by lint: numbers printed side by side, blocks that step into
``this``, a null inside of a list, and a section over one character of a text.
"""

from __future__ import annotations

VALUES = {
    "a": "A",
    "b": "two words",
    "s": "",
    "n": 3,
    "z": 0,
    "t": True,
    "f": False,
    "nul": None,
    "l": ["x", "y"],
    "ll": [["p"], ["q", "r"]],
    "e": [],
    "o": {"a": "oa", "k": "ok", "n": "7"},
    "oo": {"o": {"a": "deep", "l": ["1", "2"]}},
    "lo": [{"a": "1", "o": {"a": "2"}}, {"a": "3"}, {"b": "4"}],
}
PRINTED = ("a", "b", "s", "nul", "l", "ll", "e", "o", "oo", "lo", "miss")
BETWEEN = (
    "", "", "", " ", "\n", "\n\n", "  ", "\n  ", " \n", "\t", "\r\n", "x", "text ", "q\n", "\n- ", "{ ", " }", '"',
    "\\{{raw}}", " \\{{r}} ", "$&", "\\ ",
)  # fmt: skip


class Grammar:
    """Draws templates from ``draw``, a `random.Random`."""

    def __init__(self, draw):
        self.draw = draw

    def template(self):
        return self.body(0)

    def body(self, depth):
        made = self.between()
        for _ in range(self.draw.randint(0, 3 if depth < 3 else 1)):
            made += self.block(depth) if self.draw.random() < 0.4 and depth < 3 else self.value()
            made += self.between()
        return made

    def between(self):
        return "".join(self.draw.choice(BETWEEN) for _ in range(self.draw.randint(0, 2)))

    def path(self, names=PRINTED, *, entered=False):
        name = self.draw.choice(names)
        other = self.draw.choice(PRINTED)
        return self.draw.choices(
            [
                name, f"{name}.{other}", f"{name}/{other}", f"{name}.length" if entered else name, f"{name}.[0]", f"{name}.0.a", f"this.{name}",
                f"./{name}", f"../{name}", f"../../{name}", f"@root.{name}", f"[{name}]", f"oo.o.{name}", "@key", name if entered else "x", "x.a",
            ],
            [12, 3, 1, 1, 1, 1, 1, 1, 2, 1, 1, 1, 1, 1, 1, 1],
        )[0]  # fmt: skip

    def value(self):
        kind = self.draw.random()
        if kind < 0.08:
            return f"{{{{{{{self.path()}}}}}}}"
        if kind < 0.12:
            return self.tag(self.path(), "&")
        if kind < 0.2:
            return self.tag(self.draw.choice(["! c", "!-- c }} d --", "!"]))
        if kind < 0.26:
            return self.tag(
                f"lookup {self.path()} {self.draw.choice(['0', '1', 'a', '@key'])}".replace(" a", ' "a"')
            )
        return self.tag(self.path())

    def tag(self, body, mark=""):
        before, after = ("~" * (self.draw.random() < 0.1) for _ in range(2))
        return f"{{{{{before}{mark}{body}{after}}}}}"

    def argument(self):
        if self.draw.random() < 0.08:
            return f'(lookup {self.path()} "a")'
        return self.path((*PRINTED, "n", "z", "t", "f"), entered=True)

    def block(self, depth):
        kind = self.draw.choice(["if", "if", "unless", "each", "each", "with", "section", "inverse"])
        if kind in ("section", "inverse"):
            name = self.path((*PRINTED, "t", "f"), entered=True).replace(".[0]", "")
            opening, closing = self.tag(name, "#" if kind == "section" else "^"), self.tag(name, "/")
            return opening + self.body(depth + 1) + self.otherwise(depth, chained=kind == "section") + closing
        more = ""
        if kind in ("each", "with") and self.draw.random() < 0.15:
            more = self.draw.choice([" as |x|", " as |x i|"])
        elif kind in ("if", "unless") and self.draw.random() < 0.08:
            more = " includeZero=true"
        opening = self.tag(f"{kind} {self.argument()}{more}", "#")
        return opening + self.body(depth + 1) + self.otherwise(depth, chained=True) + self.tag(kind, "/")

    def otherwise(self, depth, *, chained):
        made = ""
        if self.draw.random() > 0.4:
            return made
        for _ in range(self.draw.randint(0, 2) * chained):
            helper = self.draw.choice(["if", "if", "unless", "each", "with"])
            made += self.tag(f"else {helper} {self.argument()}") + self.body(depth + 1)
        if self.draw.random() < 0.7:
            made += self.tag(self.draw.choice(["else", "^"])) + self.body(depth + 1)
        return made
