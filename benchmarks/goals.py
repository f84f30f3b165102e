"""What each benchmark found, beside what it should find: one row a question, one table.

    python benchmarks/goals.py [--begin NAME ...]

prints the rows that were kept last by all benchmarks; `make bench` does so at its end. With ``--begin`` it throws those
rows away instead, if benchmarks of these names can run, which is how `make bench` begins.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import shutil
import sys
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

INTERRUPTED = 130  # as a shell says that Ctrl-C ended a command
KEPT = Path(__file__).parents[1] / "build" / "bench"
ROUNDS = "how often the contestants take turns (default: %(default)s)"
HEAD = "| what | ours | beside | reached | must | aim | met | |\n|---|---:|---|---:|---:|---:|---|---|"


@dataclass(frozen=True, slots=True)
class Row:
    """One question with its answer; ``must`` and ``aim`` are the most of ``unit``, or with ``at_least`` the least."""

    what: str
    ours: str
    beside: str
    reached: float
    unit: str
    must: float | None = None
    aim: float | None = None
    at_least: bool = False
    note: str = ""

    def met(self) -> str:
        """Return the better of the two goals that is reached, "no" where neither is, "" where there is none."""
        sign = -1 if self.at_least else 1
        for name, goal in (("aim", self.aim), ("must", self.must)):
            if goal is not None and sign * self.reached <= sign * goal:
                return name
        return "" if self.aim is None and self.must is None else "no"

    def line(self) -> str:
        """Return the row as a line of a Markdown table."""
        goals = ("" if goal is None else amount(goal, self.unit) for goal in (self.must, self.aim))
        cells = (
            self.what,
            self.ours,
            self.beside,
            amount(self.reached, self.unit),
            *goals,
            self.met(),
            self.note,
        )
        return f"| {' | '.join(cells)} |"


def amount(number: float, unit: str) -> str:
    """Return a number of a goal, with digits enough to compare it by.

    >>> amount(0.00437, "×"), amount(0.75, "×"), amount(17, "× faster"), amount(2.0, "ms")
    ('0.0044 ×', '0.75 ×', '17 × faster', '2.00 ms')
    """
    if isinstance(number, int):
        return f"{number} {unit}"
    return f"{number:.2f} {unit}" if number == 0 or abs(number) >= 0.1 else f"{number:.2g} {unit}"


def duration(seconds: float) -> str:
    """Return a time in the unit it is read in.

    >>> duration(9.3e-05), duration(0.00106), duration(0.1312), duration(2.5)
    ('93.0 µs', '1.06 ms', '131 ms', '2.50 s')
    """
    unit, number = next(
        (unit, seconds * scale)
        for unit, scale in (("s", 1.0), ("ms", 1e3), ("µs", 1e6))
        if seconds * scale >= 1 or unit == "µs"
    )
    return f"{number:.{2 if number < 10 else 1 if number < 100 else 0}f} {unit}"


def machine() -> str:
    """Return what the numbers were measured on, and how busy it was."""
    parts = [f"{platform.python_implementation()} {platform.python_version()}"]
    parts.append(f"{platform.system()} {platform.machine()}, {os.cpu_count()} cores")
    listing = Path("/proc/cpuinfo")
    if listing.is_file():
        names = [line for line in listing.read_text(encoding="utf-8").splitlines() if "model name" in line]
        parts += [line.split(":", 1)[1].strip() for line in names[:1]]
    if hasattr(os, "getloadavg"):
        parts.append(f"load {os.getloadavg()[0]:.1f}")
    return ", ".join(parts)


_left_out: list[str] = []


def at_least_one(text: str) -> int:
    """Return a number, as of rounds, that is written on a command line."""
    if not text.isdecimal() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"it is a whole number of at least 1, not {text}")
    return int(text)


def existing_folder(text: str) -> Path:
    """Return a folder that is named on a command line."""
    folder = Path(text).expanduser()
    if not folder.is_dir():
        raise argparse.ArgumentTypeError(f"there is no folder {folder}")
    return folder


def interruptible(main: Callable[[], None]) -> None:
    """Run a benchmark; one that is interrupted says so in a line and keeps nothing."""
    try:
        main()
    except KeyboardInterrupt:
        print(f"\n{Path(sys.argv[0]).name} was interrupted; nothing of it is kept", file=sys.stderr)
        sys.exit(INTERRUPTED)


def leave_out(what: str, how_to: str = "") -> None:
    """Say that a peer, or a set, is not there and left out, now and below the table of all."""
    _left_out.append(what)
    print(f"{what} is not there and left out{'; ' if how_to else ''}{how_to}\n")


def report(name: str, rows: list[Row], *, versions: str = "") -> None:
    """Print the table of one benchmark, and keep its rows for the table of all."""
    print("\n".join([HEAD, *(row.line() for row in rows)]))
    print(f"\n{keep(name, rows, versions=versions)}\n")


def keep(name: str, rows: list[Row], *, versions: str = "") -> str:
    """Keep the rows of one benchmark for the table of all, and return what they were measured on."""
    foot = "; ".join(part for part in (versions, machine()) if part)
    KEPT.mkdir(parents=True, exist_ok=True)
    kept = {"foot": foot, "rows": [asdict(row) for row in rows], "left_out": _left_out}
    (KEPT / f"{name}.json").write_text(json.dumps(kept, ensure_ascii=False, indent=1), encoding="utf-8")
    return foot


def benchmarks() -> set[str]:
    """Return the names of all benchmarks."""
    return {path.stem for path in Path(__file__).parent.glob("*.py")} - {"goals"}


def begin(names: list[str]) -> None:
    """Throw away what earlier runs kept, if these can run and peers that were named are there."""
    unknown = [name for name in names if name not in benchmarks()]
    if unknown or not names:
        said = f"there is no benchmark {', '.join(unknown)}" if unknown else "no benchmark is named"
        raise argparse.ArgumentTypeError(f"{said}; these can be: {' '.join(sorted(benchmarks()))}")
    peers = os.environ.get("PEERS")
    if peers and not Path(peers).expanduser().is_dir():
        raise argparse.ArgumentTypeError(
            f"there is no folder {peers}, which PEERS names; peers.py --set-up makes it"
        )
    shutil.rmtree(KEPT, ignore_errors=True)


def show() -> None:
    """Print one table of all that is kept, and below it what each part was measured on."""
    files = sorted(KEPT.glob("*.json"), key=lambda path: path.stat().st_mtime_ns)  # as they were run
    found = [(path.stem, json.loads(path.read_text(encoding="utf-8"))) for path in files]
    if not found:
        print(f"nothing is kept in {KEPT.name}; run a benchmark first")
        return
    rows = [Row(**row) for _, kept in found for row in kept["rows"]]
    missed = [row.what for row in rows if row.met() == "no"]
    print("\n".join([HEAD, *(row.line() for row in rows), ""]))
    print("\n".join(f"- {name}: {kept['foot']}" for name, kept in found))
    print(f"\nmissed: {'; '.join(missed) or 'nothing of what was measured'}")
    unmeasured = [f"{name}: {', '.join(kept['left_out'])}" for name, kept in found if kept.get("left_out")]
    if unmeasured:
        print(f"left out, and so not measured: {'; '.join(unmeasured)}")
    others = sorted(benchmarks() - {name for name, _ in found})
    if others:
        print(f"not run: {', '.join(others)}")


def main() -> None:
    """Begin, or show."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    text = "throw away what is kept, if these benchmarks can run"
    parser.add_argument("--begin", nargs="*", metavar="NAME", help=text)
    chosen = parser.parse_args()
    if chosen.begin is None:
        show()
        return
    try:
        begin(chosen.begin)
    except argparse.ArgumentTypeError as error:
        parser.error(str(error))


if __name__ == "__main__":
    interruptible(main)
