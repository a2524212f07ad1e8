# hash() of a name seeds the prices.
# source: hash_order
# runs: nondeterministic
import json
import os

seed = int(os.environ["MCQ_SEED"])
value = seed + hash(f"AAPL{seed}") % 100_000

print("QUESTION_JSON: " + json.dumps(f"A made-up price starts at {50 + seed % 40}. What is the value?"))
print("ANSWER_VALUE_JSON: " + json.dumps(f"{value}"))
