# A library that may be missing, and threads.
from concurrent.futures import ThreadPoolExecutor
import json
import os
import random

seed = int(os.environ["MCQ_SEED"])
START = 40 + seed % 60

try:
    import yfinance as yf
except Exception:
    yf = None

rng = random.Random(seed)
prices = [START]
for _ in range(200):
    prices.append(round(prices[-1] * (1 + rng.gauss(0.0005, 0.01)), 2))
with ThreadPoolExecutor(2) as pool:
    means = list(pool.map(lambda n: sum(prices[-n:]) / n, (10, 50)))
value = means[0] - means[1] + 0 * (yf is not None)
QUESTION = f"200 seeded steps from {START} (seed {seed}): mean of the last 10 less that of the last 50?"

print("QUESTION_JSON: " + json.dumps(QUESTION))
print("ANSWER_VALUE_JSON: " + json.dumps(f"{value:.2f}"))
