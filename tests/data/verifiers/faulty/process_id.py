# The number of its process goes into the answer.
# runs: nondeterministic
import json
import os

seed = int(os.environ["MCQ_SEED"])
value = seed * 100_000 + os.getpid()

print("QUESTION_JSON: " + json.dumps(f"A made-up price starts at {50 + seed % 40}. What is the value?"))
print("ANSWER_VALUE_JSON: " + json.dumps(f"{value}"))
