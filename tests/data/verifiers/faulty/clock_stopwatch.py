# How long it took goes into the answer: only the runs show it.
# runs: nondeterministic
import json
import os
import time

seed = int(os.environ["MCQ_SEED"])
start = time.perf_counter()
total = sum(range(50_000))
value = total % 97 + seed + round(time.perf_counter() - start, 9)

print("QUESTION_JSON: " + json.dumps(f"A made-up price starts at {50 + seed % 40}. What is the value?"))
print("ANSWER_VALUE_JSON: " + json.dumps(f"{value}"))
