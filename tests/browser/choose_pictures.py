"""Copy the pictures the docs show out of those the browser tests took, made smaller where that loses nothing."""

from __future__ import annotations

import shutil

from tests.browser.servers import ROOT

SHOWN = {
    "explorer-lab-light": "explorer",
    "explorer-lab-dark": "explorer-dark",
    "state-lab-light": "state",
    "source-map-lab-light": "source-map",
    "timeline-lab-light": "timeline",
    "diff-lab-light": "diff",
    "cache-lens-lab-light": "cache-lens",
}


def main():
    """Copy each, or fail where a test has not taken one."""
    target = ROOT / "docs" / "pictures"
    target.mkdir(exist_ok=True)
    for taken, name in SHOWN.items():
        shutil.copy(ROOT / "build" / "pictures" / f"{taken}.png", target / f"{name}.png")


if __name__ == "__main__":
    main()
