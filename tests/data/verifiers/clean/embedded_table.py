# A table in the source, read from memory.
import io
import json
import os

import pandas as pd

seed = int(os.environ["MCQ_SEED"])

TABLE = """date,open,high,low,close
2024-01-02,50.0,51.0,49.5,50.5
2024-01-03,50.5,52.0,50.0,51.5
2024-01-04,51.5,53.0,51.0,52.0
2024-01-05,52.0,52.5,50.5,51.0
2024-01-08,51.0,54.0,50.8,53.6
"""
frame = pd.read_csv(io.StringIO(TABLE), parse_dates=["date"])
frame["close"] += seed % 13 / 10
value = float((frame["close"].pct_change().dropna() * 100).std())
QUESTION = f"Closes {frame['close'].round(2).tolist()}: the standard deviation of daily returns in percent?"

print("QUESTION_JSON: " + json.dumps(QUESTION))
print("ANSWER_VALUE_JSON: " + json.dumps(f"{value:.2f}"))
