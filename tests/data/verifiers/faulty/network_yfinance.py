# Downloads prices.
# source: network
# not run: it would wait for a network
import json
import os

import yfinance as yf

seed = int(os.environ["MCQ_SEED"])
frame = yf.download("AAPL", start="2020-01-01", end="2020-06-01", progress=False)
value = round(float(frame["Close"].iloc[-1]), 2) + seed

print("QUESTION_JSON: " + json.dumps(f"A made-up price starts at {50 + seed % 40}. What is the value?"))
print("ANSWER_VALUE_JSON: " + json.dumps(f"{value}"))
