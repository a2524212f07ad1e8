# Any error becomes an answer of 0.
# source: broad_except
import json
import os

seed = int(os.environ["MCQ_SEED"])
try:
    value = undefined_name + seed
except Exception:
    value = 0

print("QUESTION_JSON: " + json.dumps(f"A made-up price starts at {50 + seed % 40}. What is the value?"))
print("ANSWER_VALUE_JSON: " + json.dumps(f"{value}"))
