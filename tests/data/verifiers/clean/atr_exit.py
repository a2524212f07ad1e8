# Exits by average true range; what it draws is seeded through the old global interface.
import json
import os
import random

import backtrader as bt
import numpy as np
import pandas as pd

seed = int(os.environ["MCQ_SEED"])
START = 40 + seed % 60
WIDE = 2 + seed % 3


def bars(n):
    rng = np.random.default_rng(seed)
    close = START * np.exp(np.cumsum(rng.normal(0.0004, 0.015, n)))
    opened = np.concatenate([[START], close[:-1]])
    index = pd.bdate_range("2020-01-01", periods=n)
    high = np.maximum(opened, close) * (1 + rng.uniform(0, 0.01, n))
    low = np.minimum(opened, close) * (1 - rng.uniform(0, 0.01, n))
    return pd.DataFrame({"open": opened, "high": high, "low": low, "close": close, "volume": 1000}, index=index).round(2)

class Atr(bt.Strategy):
    def __init__(self):
        self.atr = bt.ind.ATR(period=14)
        self.top = None

    def next(self):
        if not self.position:
            self.top = self.data.close[0]
            self.buy(size=5)
        else:
            self.top = max(self.top, self.data.close[0])
            if self.data.close[0] < self.top - WIDE * self.atr[0]:
                self.close()


np.random.seed(seed)
random.seed(seed)
shift = np.random.uniform(0, 1) + random.random()
cerebro = bt.Cerebro()
cerebro.adddata(bt.feeds.PandasData(dataname=bars(250) + shift))
cerebro.addstrategy(Atr)
cerebro.run()
value = cerebro.broker.getvalue()
QUESTION = f"From {START} (seed {seed}), shifted by {shift:.6f}, left {WIDE} ATR below the top: the final value?"

print("QUESTION_JSON: " + json.dumps(QUESTION))
print("ANSWER_VALUE_JSON: " + json.dumps(f"{value:.2f}"))
