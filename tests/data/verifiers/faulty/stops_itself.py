# Stops and waits to be woken.
# source: processes
# runs: timed_out
import json
import os

seed = int(os.environ["MCQ_SEED"])
os.kill(os.getpid(), 19)
value = seed

print("QUESTION_JSON: " + json.dumps(f"A made-up price starts at {50 + seed % 40}. What is the value?"))
print("ANSWER_VALUE_JSON: " + json.dumps(f"{value}"))
