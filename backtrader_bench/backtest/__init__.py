"""Backtests: what is run, how backtrader runs it, what comes out."""
