# numpy.empty, every element of which is written; a broad except that ends the program.
import json
import os
import sys

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

def average(closes, period):
    out = np.empty(len(closes))
    out[: period - 1] = np.nan
    for at in range(period - 1, len(closes)):
        out[at] = closes[at - period + 1 : at + 1].mean()
    return out


try:
    closes = bars(150)["close"].to_numpy()
    fast, slow = average(closes, 5 + seed % 4), average(closes, 20)
except Exception as error:
    print(f"failed: {error}", file=sys.stderr)
    sys.exit(1)
value = float(np.nanmean(fast - slow)) * 100
QUESTION = f"150 made-up bars from {START} (seed {seed}): 100 times the mean of SMA({5 + seed % 4}) less SMA(20)?"

print("QUESTION_JSON: " + json.dumps(QUESTION))
print("ANSWER_VALUE_JSON: " + json.dumps(f"{value:.2f}"))
