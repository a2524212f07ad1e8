# Two children hold 1.6 GiB each of memory that is shared, and so nobody's own.
# source: processes
# runs: exit_code killed
# harmful
import json
import mmap
import os
import time

seed = int(os.environ["MCQ_SEED"])
children = []
for _ in range(2):
    children.append(os.fork())
    if not children[-1]:
        block = mmap.mmap(-1, 1600 << 20)
        for at in range(0, len(block), 4096):
            block[at] = 1
        time.sleep(10)
        os._exit(0)
if any(os.waitpid(child, 0)[1] for child in children):
    raise SystemExit("no memory")
value = seed

print("QUESTION_JSON: " + json.dumps(f"A made-up price starts at {50 + seed % 40}. What is the value?"))
print("ANSWER_VALUE_JSON: " + json.dumps(f"{value}"))
