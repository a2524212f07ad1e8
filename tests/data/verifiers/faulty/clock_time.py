# The answer moves with the clock.
# source: clock
# runs: nondeterministic
import json
import os
import time

seed = int(os.environ["MCQ_SEED"])
value = round(seed + time.time() % 1000, 3)

print("QUESTION_JSON: " + json.dumps(f"A made-up price starts at {50 + seed % 40}. What is the value?"))
print("ANSWER_VALUE_JSON: " + json.dumps(f"{value}"))
