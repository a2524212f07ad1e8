# A trailing stop.
import json
import os

import backtrader as bt
import numpy as np
import pandas as pd

seed = int(os.environ["MCQ_SEED"])
START = 40 + seed % 60
TRAIL = 0.02 + seed % 6 / 200


def bars(n):
    rng = np.random.default_rng(seed)
    close = START * np.exp(np.cumsum(rng.normal(0.0004, 0.015, n)))
    opened = np.concatenate([[START], close[:-1]])
    index = pd.bdate_range("2020-01-01", periods=n)
    high = np.maximum(opened, close) * (1 + rng.uniform(0, 0.01, n))
    low = np.minimum(opened, close) * (1 - rng.uniform(0, 0.01, n))
    return pd.DataFrame({"open": opened, "high": high, "low": low, "close": close, "volume": 1000}, index=index).round(2)

class Trail(bt.Strategy):
    def next(self):
        if not self.position and len(self) % 15 == 0:
            self.buy(size=20)

    def notify_order(self, order):
        if order.status == order.Completed and order.isbuy():
            self.sell(size=20, exectype=bt.Order.StopTrail, trailpercent=TRAIL)



cerebro = bt.Cerebro()
cerebro.adddata(bt.feeds.PandasData(dataname=bars(300)))
cerebro.broker.setcash(10_000)
cerebro.addstrategy(Trail)
cerebro.run()
value = cerebro.broker.getvalue()
QUESTION = f"From {START} (seed {seed}), bought every 15 bars when flat, trailed by {TRAIL:.1%}: final value?"

print("QUESTION_JSON: " + json.dumps(QUESTION))
print("ANSWER_VALUE_JSON: " + json.dumps(f"{value:.2f}"))
