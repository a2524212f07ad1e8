# Drawdown and trades by analyzers; an undefined ratio is caught by name.
import json
import os

import backtrader as bt
import numpy as np
import pandas as pd

seed = int(os.environ["MCQ_SEED"])
START = 40 + seed % 60


def bars(n):
    rng = np.random.default_rng(seed)
    close = START * np.exp(np.cumsum(rng.normal(0.0004, 0.015, n)))
    opened = np.concatenate([[START], close[:-1]])
    index = pd.bdate_range("2020-01-01", periods=n)
    high = np.maximum(opened, close) * (1 + rng.uniform(0, 0.01, n))
    low = np.minimum(opened, close) * (1 - rng.uniform(0, 0.01, n))
    return pd.DataFrame({"open": opened, "high": high, "low": low, "close": close, "volume": 1000}, index=index).round(2)

class Cross(bt.SignalStrategy):
    def __init__(self):
        self.signal_add(bt.SIGNAL_LONG, bt.ind.CrossOver(bt.ind.EMA(period=8), bt.ind.EMA(period=21 + seed % 9)))



cerebro = bt.Cerebro()
cerebro.adddata(bt.feeds.PandasData(dataname=bars(300)))
cerebro.broker.setcash(10_000)
cerebro.addstrategy(Cross)
cerebro.addanalyzer(bt.analyzers.DrawDown, _name="drawdown")
cerebro.addanalyzer(bt.analyzers.TradeAnalyzer, _name="trades")
result = cerebro.run()[0].analyzers
try:
    won = result.trades.get_analysis()["won"]["total"]
except KeyError:
    won = 0
value = result.drawdown.get_analysis()["max"]["drawdown"] + 100 * won
QUESTION = f"From {START} (seed {seed}), EMA(8) over EMA({21 + seed % 9}): largest drawdown in percent + 100 a win?"

print("QUESTION_JSON: " + json.dumps(QUESTION))
print("ANSWER_VALUE_JSON: " + json.dumps(f"{value:.2f}"))
