# Final value of a moving-average crossover.
import json
import os

import backtrader as bt
import numpy as np
import pandas as pd

seed = int(os.environ["MCQ_SEED"])
START = 40 + seed % 60
FAST, SLOW = 5 + seed % 7, 20 + seed % 11


def bars(n):
    rng = np.random.default_rng(seed)
    close = START * np.exp(np.cumsum(rng.normal(0.0004, 0.015, n)))
    opened = np.concatenate([[START], close[:-1]])
    index = pd.bdate_range("2020-01-01", periods=n)
    high = np.maximum(opened, close) * (1 + rng.uniform(0, 0.01, n))
    low = np.minimum(opened, close) * (1 - rng.uniform(0, 0.01, n))
    return pd.DataFrame({"open": opened, "high": high, "low": low, "close": close, "volume": 1000}, index=index).round(2)

class Cross(bt.Strategy):
    def __init__(self):
        self.signal = bt.ind.CrossOver(bt.ind.SMA(period=FAST), bt.ind.SMA(period=SLOW))

    def next(self):
        if not self.position and self.signal > 0:
            self.buy(size=10)
        elif self.position and self.signal < 0:
            self.close()



cerebro = bt.Cerebro()
cerebro.adddata(bt.feeds.PandasData(dataname=bars(300)))
cerebro.broker.setcash(10_000)
cerebro.broker.setcommission(commission=0.001)
cerebro.addstrategy(Cross)
cerebro.run()
value = cerebro.broker.getvalue()
QUESTION = f"300 made-up bars from {START} (seed {seed}). SMA({FAST}) over SMA({SLOW}), 10 shares: the final value?"

print("QUESTION_JSON: " + json.dumps(QUESTION))
print("ANSWER_VALUE_JSON: " + json.dumps(f"{value:.2f}"))
