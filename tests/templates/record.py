"""Write down how Handlebars renders the templates of this folder, with ``\\n`` and with ``\\r\\n`` at line ends.

Run ``npm pack handlebars@4.7.10``, unpack it, and give ``package/dist/handlebars.js`` as the argument.
"""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).parent


def main(handlebars):
    values = json.loads((HERE / "values.json").read_text(encoding="utf-8"))
    templates = {}
    for path in sorted(HERE.glob("*.hbs")):
        templates[path.stem] = path.read_text(encoding="utf-8")
        templates[f"{path.stem} crlf"] = templates[path.stem].replace("\n", "\r\n")
    done = subprocess.run(
        ["node", HERE / "render.js", handlebars],
        input=json.dumps([[template, values] for template in templates.values()]),
        capture_output=True, text=True, check=True,
    )  # fmt: skip
    answers = [answer["text"] for answer in json.loads(done.stdout)]
    recorded = json.dumps(dict(zip(templates, answers, strict=True)), ensure_ascii=False, indent=2)
    (HERE / "answers.json").write_text(recorded + "\n", encoding="utf-8")


if __name__ == "__main__":
    main(sys.argv[1])
