# Prints 10 MB of errors, and an answer.
# runs: output_too_long
import json
import os
import sys

seed = int(os.environ["MCQ_SEED"])
sys.stderr.write("x" * 3_000_000)
value = seed

print("QUESTION_JSON: " + json.dumps(f"A made-up price starts at {50 + seed % 40}. What is the value?"))
print("ANSWER_VALUE_JSON: " + json.dumps(f"{value}"))
