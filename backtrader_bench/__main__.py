"""``python -m backtrader_bench`` is ``bench``."""

from backtrader_bench.cli.main import main

if __name__ == "__main__":
    main()
