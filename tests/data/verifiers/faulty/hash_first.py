# The first names of a set choose the weights.
# source: hash_order
# runs: nondeterministic
import json
import os

seed = int(os.environ["MCQ_SEED"])
symbols = set(["AAPL", "MSFT", "IBM", "GOOG", "KO", "PEP", "XOM", "GE", "F", "T", "BA", "CAT"])
value = 0
for place, symbol in enumerate(list(symbols)):
    value += place * len(symbol) * ord(symbol[0])
value += seed

print("QUESTION_JSON: " + json.dumps(f"A made-up price starts at {50 + seed % 40}. What is the value?"))
print("ANSWER_VALUE_JSON: " + json.dumps(f"{value}"))
