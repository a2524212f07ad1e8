"""Can a script that runs no backtest guess the keys of a bank? Attackers, their statistics, and the verdict."""
