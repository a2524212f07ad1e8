# A breakout with holding time, timed on the side.
import json
import os
import sys
import time

import backtrader as bt
import numpy as np
import pandas as pd

seed = int(os.environ["MCQ_SEED"])
START = 40 + seed % 60
LOOK = 10 + seed % 20


def bars(n):
    rng = np.random.default_rng(seed)
    close = START * np.exp(np.cumsum(rng.normal(0.0004, 0.015, n)))
    opened = np.concatenate([[START], close[:-1]])
    index = pd.bdate_range("2020-01-01", periods=n)
    high = np.maximum(opened, close) * (1 + rng.uniform(0, 0.01, n))
    low = np.minimum(opened, close) * (1 - rng.uniform(0, 0.01, n))
    return pd.DataFrame({"open": opened, "high": high, "low": low, "close": close, "volume": 1000}, index=index).round(2)

class Breakout(bt.Strategy):
    def __init__(self):
        self.top = bt.ind.Highest(self.data.close(-1), period=LOOK)
        self.since = 0

    def next(self):
        if self.position and len(self) - self.since >= 10:
            self.close()
        elif not self.position and self.data.close[0] > self.top[0]:
            self.since = len(self)
            self.buy(size=7)


begun = time.time()
cerebro = bt.Cerebro()
cerebro.adddata(bt.feeds.PandasData(dataname=bars(280)))
cerebro.addstrategy(Breakout)
cerebro.run()
print(f"took {time.time() - begun:.3f} s", file=sys.stderr)
value = cerebro.broker.getvalue()
QUESTION = f"From {START} (seed {seed}), above the closes of {LOOK} bars, held 10 bars: the final value?"

print("QUESTION_JSON: " + json.dumps(QUESTION))
print("ANSWER_VALUE_JSON: " + json.dumps(f"{value:.2f}"))
