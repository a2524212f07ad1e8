# Prints 10 MB.
# runs: output_too_long exit_code
import json
import os

seed = int(os.environ["MCQ_SEED"])
print("x" * 10_000_000)
value = seed

print("QUESTION_JSON: " + json.dumps(f"A made-up price starts at {50 + seed % 40}. What is the value?"))
print("ANSWER_VALUE_JSON: " + json.dumps(f"{value}"))
