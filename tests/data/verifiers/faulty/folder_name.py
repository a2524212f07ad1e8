# The name of its working folder goes into the answer.
# runs: nondeterministic
import json
import os

seed = int(os.environ["MCQ_SEED"])
value = seed + sum(os.getcwd().encode())

print("QUESTION_JSON: " + json.dumps(f"A made-up price starts at {50 + seed % 40}. What is the value?"))
print("ANSWER_VALUE_JSON: " + json.dumps(f"{value}"))
