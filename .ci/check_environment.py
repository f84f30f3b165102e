"""Read environment.yml as conda would: real YAML, and every line a MatchSpec. Needs pyyaml and py-rattler."""

from __future__ import annotations

import sys
from pathlib import Path

import yaml
from rattler import MatchSpec

path = Path(__file__).resolve().parents[1] / "environment.yml"
read = yaml.safe_load(path.read_text(encoding="utf-8"))
if set(read) != {"name", "channels", "dependencies"}:
    sys.exit(f"environment.yml has the keys {sorted(read)}")
specs = [MatchSpec(entry) for entry in read["dependencies"] if isinstance(entry, str)]
nested = [entry for entry in read["dependencies"] if not isinstance(entry, str)]
if nested != [{"pip": ["-e .[http,pdf]"]}]:
    sys.exit(f"environment.yml has nested entries other than pip's: {nested}")
print(f"environment.yml: {len(specs)} package specifications are valid")
