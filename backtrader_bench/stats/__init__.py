"""Statistics of runs: pure functions of scores, with a frozen result type each. See docs/statistics.md.

Scores are 1 for right and 0 for wrong (shares of repeats between them); failures never enter as 0. What is undefined is
``None``, never 0 or NaN. Whatever draws takes a seed. numpy and scipy load with the modules here, statsmodels where it
is called: nothing else may import them at start-up.
"""
