# Forks as long as it can, 300 times at most, and every child stays.
# source: processes
# runs: exit_code killed left_processes
import json
import os
import time

seed = int(os.environ["MCQ_SEED"])
children = 0
for _ in range(300):
    child = os.fork()
    if child == 0:
        time.sleep(60)
        os._exit(0)
    children += 1
value = seed + children

print("QUESTION_JSON: " + json.dumps(f"A made-up price starts at {50 + seed % 40}. What is the value?"))
print("ANSWER_VALUE_JSON: " + json.dumps(f"{value}"))
