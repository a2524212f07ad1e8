"""From backtests to questions."""
