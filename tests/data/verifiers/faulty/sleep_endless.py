# Sleeps for an hour.
# runs: timed_out
import json
import os
import time

seed = int(os.environ["MCQ_SEED"])
time.sleep(3600)
value = seed

print("QUESTION_JSON: " + json.dumps(f"A made-up price starts at {50 + seed % 40}. What is the value?"))
print("ANSWER_VALUE_JSON: " + json.dumps(f"{value}"))
