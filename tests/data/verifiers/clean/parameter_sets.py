# The better of some parameter sets, run in this process.
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

class Cross(bt.Strategy):
    params = (("fast", 5), ("slow", 20))

    def __init__(self):
        self.signal = bt.ind.CrossOver(bt.ind.SMA(period=self.p.fast), bt.ind.SMA(period=self.p.slow))

    def next(self):
        if self.signal[0]:
            self.order_target_size(target=10 if self.signal > 0 else 0)

    def stop(self):
        self.final = self.broker.getvalue()



cerebro = bt.Cerebro()
cerebro.adddata(bt.feeds.PandasData(dataname=bars(300)))
cerebro.broker.setcash(10_000)
cerebro.optstrategy(Cross, fast=[5, 8 + seed % 4], slow=[20, 30])
results = cerebro.run(maxcpus=1, optreturn=False)
value = max(run[0].final for run in results)
QUESTION = f"From {START} (seed {seed}), SMA 5 or {8 + seed % 4} over SMA 20 or 30: the best final value?"

print("QUESTION_JSON: " + json.dumps(QUESTION))
print("ANSWER_VALUE_JSON: " + json.dumps(f"{value:.2f}"))
