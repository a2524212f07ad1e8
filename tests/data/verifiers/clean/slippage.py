# Fills with slippage.
import json
import os

import backtrader as bt
import numpy as np
import pandas as pd

seed = int(os.environ["MCQ_SEED"])
START = 40 + seed % 60
SLIP = 0.001 + seed % 9 / 10_000


def bars(n):
    rng = np.random.default_rng(seed)
    close = START * np.exp(np.cumsum(rng.normal(0.0004, 0.015, n)))
    opened = np.concatenate([[START], close[:-1]])
    index = pd.bdate_range("2020-01-01", periods=n)
    high = np.maximum(opened, close) * (1 + rng.uniform(0, 0.01, n))
    low = np.minimum(opened, close) * (1 - rng.uniform(0, 0.01, n))
    return pd.DataFrame({"open": opened, "high": high, "low": low, "close": close, "volume": 1000}, index=index).round(2)

class Hold(bt.Strategy):
    def next(self):
        if len(self) == 10:
            self.buy(size=50)
        elif len(self) == 200:
            self.close()



cerebro = bt.Cerebro()
cerebro.adddata(bt.feeds.PandasData(dataname=bars(300)))
cerebro.broker.setcash(10_000)
cerebro.broker.set_slippage_perc(SLIP, slip_open=True)
cerebro.addstrategy(Hold)
cerebro.run()
value = cerebro.broker.getvalue() - 10_000
QUESTION = f"From {START} (seed {seed}), 50 shares from bar 11 to 201 with slippage of {SLIP:.2%}: the profit?"

print("QUESTION_JSON: " + json.dumps(QUESTION))
print("ANSWER_VALUE_JSON: " + json.dumps(f"{value:.2f}"))
