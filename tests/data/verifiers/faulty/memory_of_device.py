# Maps shared memory by way of a device and lets go of all but a page of each block, which keeps the whole.
# source: file_read
# runs: killed
# harmful
import json
import mmap
import os
import time

seed = int(os.environ["MCQ_SEED"])
kept = []
with open("/dev/zero", "r+b") as device:
    for _ in range(2):
        kept.append(mmap.mmap(device.fileno(), 4096))
time.sleep(10)
value = seed

print("QUESTION_JSON: " + json.dumps(f"A made-up price starts at {50 + seed % 40}. What is the value?"))
print("ANSWER_VALUE_JSON: " + json.dumps(f"{value}"))
