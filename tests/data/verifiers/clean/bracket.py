# Exits of bracket orders.
import json
import os

import backtrader as bt
import numpy as np
import pandas as pd

seed = int(os.environ["MCQ_SEED"])
START = 40 + seed % 60
TAKE = 0.04 + seed % 5 / 100


def bars(n):
    rng = np.random.default_rng(seed)
    close = START * np.exp(np.cumsum(rng.normal(0.0004, 0.015, n)))
    opened = np.concatenate([[START], close[:-1]])
    index = pd.bdate_range("2020-01-01", periods=n)
    high = np.maximum(opened, close) * (1 + rng.uniform(0, 0.01, n))
    low = np.minimum(opened, close) * (1 - rng.uniform(0, 0.01, n))
    return pd.DataFrame({"open": opened, "high": high, "low": low, "close": close, "volume": 1000}, index=index).round(2)

class Bracket(bt.Strategy):
    def __init__(self):
        self.high = bt.ind.Highest(self.data.high(-1), period=20)
        self.profits = []

    def next(self):
        if not self.position and self.data.close[0] > self.high[0]:
            price = self.data.close[0]
            self.buy_bracket(size=10, price=price, stopprice=price * 0.97, limitprice=price * (1 + TAKE))

    def notify_trade(self, trade):
        if trade.isclosed:
            self.profits.append(trade.pnlcomm)



cerebro = bt.Cerebro()
cerebro.adddata(bt.feeds.PandasData(dataname=bars(300)))
cerebro.broker.setcash(10_000)
cerebro.addstrategy(Bracket)
value = sum(cerebro.run()[0].profits)
QUESTION = f"Breakouts of 20 bars from {START} (seed {seed}), bracket of 3% and {TAKE:.0%}: total net profit?"

print("QUESTION_JSON: " + json.dumps(QUESTION))
print("ANSWER_VALUE_JSON: " + json.dumps(f"{value:.2f}"))
