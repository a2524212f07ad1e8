# Each of four children takes 1 GiB; alone none is above its limit.
# source: processes
# runs: killed timed_out exit_code
import json
import os
import time

seed = int(os.environ["MCQ_SEED"])
for _ in range(4):
    if os.fork() == 0:
        block = b"x" * (1 << 30)
        time.sleep(20)
        os._exit(len(block) % 2)
for _ in range(4):
    os.wait()
value = seed

print("QUESTION_JSON: " + json.dumps(f"A made-up price starts at {50 + seed % 40}. What is the value?"))
print("ANSWER_VALUE_JSON: " + json.dumps(f"{value}"))
