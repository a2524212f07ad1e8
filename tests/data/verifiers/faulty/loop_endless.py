# Never ends.
# runs: timed_out killed
import json
import os

seed = int(os.environ["MCQ_SEED"])
value = seed
while True:
    value += 1

print("QUESTION_JSON: " + json.dumps(f"A made-up price starts at {50 + seed % 40}. What is the value?"))
print("ANSWER_VALUE_JSON: " + json.dumps(f"{value}"))
