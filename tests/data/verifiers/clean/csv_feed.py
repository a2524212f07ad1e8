# Writes its prices to a file of its own and feeds it.
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

class Hold(bt.Strategy):
    def next(self):
        if len(self) == 5:
            self.order_target_percent(target=0.5)


bars(120).to_csv("prices.csv", index_label="date")
cerebro = bt.Cerebro()
cerebro.adddata(bt.feeds.GenericCSVData(dataname="prices.csv", dtformat="%Y-%m-%d", openinterest=-1))
cerebro.addstrategy(Hold)
cerebro.run()
value = cerebro.broker.getvalue()
QUESTION = f"120 made-up bars from {START} (seed {seed}), half the cash from bar 6 on: the final value?"

print("QUESTION_JSON: " + json.dumps(QUESTION))
print("ANSWER_VALUE_JSON: " + json.dumps(f"{value:.2f}"))
