# Divides by zero with every third seed.
# runs: fails_on_some_seeds
import json
import os

seed = int(os.environ["MCQ_SEED"])
value = 100 / (seed % 3 - 1)

print("QUESTION_JSON: " + json.dumps(f"A made-up price starts at {50 + seed % 40}. What is the value?"))
print("ANSWER_VALUE_JSON: " + json.dumps(f"{value}"))
