"""Size, time and first paint of `bench page` on 1,000 questions, each with a backtest of its own.

    python benchmarks/page.py
    python benchmarks/page.py --questions 5000 --share 5 --keep bank.html

Ends with 1 when the page is 10 MB or larger, or when a Chromium that is there says a word, asks for anything but the
file, or takes more than 2 s to paint the list.
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
import time
from pathlib import Path

sys.path.append(str(Path(__file__).parents[1]))

MOST_BYTES, MOST_SECONDS = 10_000_000, 2.0
PAINT = "performance.getEntriesByName('first-contentful-paint')[0]?.startTime ?? null"


def main() -> int:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--questions", type=int, default=1000)
    parser.add_argument("--share", type=int, default=1, help="questions a backtest")
    parser.add_argument("--keep", type=Path, metavar="FILE", help="leave the page here")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as home:
        os.environ["BENCH_HOME"] = home
        return measured(options, Path(home))


def measured(options: argparse.Namespace, home: Path) -> int:
    """Make a bank, write its page, look at it."""
    from backtrader_bench import api
    from benchmarks.report import make_bank

    bank = make_bank(home, options.questions, options.share)
    target = options.keep or home / "bank.html"
    began = time.process_time()
    made = api.page(bank, html=target)
    print(f"{made.questions:,} questions, {made.charts:,} backtests: {made.size / 1e6:.2f} MB, "
          f"{time.process_time() - began:.1f} s of CPU")  # fmt: skip
    public = api.page(bank, html=home / "public.html", answers=False)
    print(f"without answers: {public.size / 1e6:.2f} MB")
    good = made.size < MOST_BYTES and not made.missing
    return 0 if good and painted(target, made.questions) else 1


def painted(page: Path, questions: int) -> bool:
    """Whether a browser shows the page soon and in silence; True where there is none."""
    from tests.agents.reports import chromium

    program = chromium.program()
    if program is None:
        print("no Chromium: not looked at")
        return True
    with chromium.Page(program) as tab:
        tab.open(page)
        tab.wait(f"document.querySelector('#count').textContent.startsWith('{questions:,} questions')")
        listed = tab.run("performance.now()")
        tab.wait(f"({PAINT}) !== null")
        first = tab.run(PAINT)
        began = time.monotonic()
        tab.run("document.querySelector('#list a').click()")
        tab.wait("document.querySelector('.secret button')")
        tab.run("document.querySelector('.secret button').click()")
        tab.wait("document.querySelector('.chart svg path.close')")
        opened = 1000 * (time.monotonic() - began)
        tab.open(page, "#questions?text=nothing+says+this")
        began = time.monotonic()
        tab.run("list()")
        searched = 1000 * (time.monotonic() - began)
        print(f"first paint {first:.0f} ms, list complete {listed:.0f} ms, a question with its chart {opened:.0f} ms, "
              f"text search through all {searched:.0f} ms")  # fmt: skip
        return first < 1000 * MOST_SECONDS and not tab.complaints and set(tab.requests) <= {page.absolute().as_uri(),
               page.absolute().as_uri() + "#questions"}  # fmt: skip


if __name__ == "__main__":
    sys.exit(main())
