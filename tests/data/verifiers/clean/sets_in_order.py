# Sets that are sorted, counted and added up.
import json
import os

seed = int(os.environ["MCQ_SEED"])

symbols = {"AAPL", "MSFT", "IBM", "GOOG", "KO"}
weights = {symbol: len(symbol) + seed % 7 for symbol in sorted(symbols)}
different = set(weights.values())
value = sum(weight * place for place, weight in enumerate(weights.values())) + len(symbols | {"GE"})
value += max(different) + sum(step for step in {1, 2, 3})
QUESTION = f"Weights {json.dumps(weights)} by place in the alphabet: the sum (and six, the largest, and six)?"

print("QUESTION_JSON: " + json.dumps(QUESTION))
print("ANSWER_VALUE_JSON: " + json.dumps(f"{value:.2f}"))
