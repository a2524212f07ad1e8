# Holds 60 MiB of files by mappings alone.
# runs: killed
# harmful
import json
import mmap
import os
import time

seed = int(os.environ["MCQ_SEED"])
held = []
for number in range(20):
    with open(f"{number}", "w+b") as file:
        file.write(b"x" * (3 << 20))
        file.flush()
        held.append(mmap.mmap(file.fileno(), 4096))
    os.unlink(f"{number}")
time.sleep(10)
value = seed

print("QUESTION_JSON: " + json.dumps(f"A made-up price starts at {50 + seed % 40}. What is the value?"))
print("ANSWER_VALUE_JSON: " + json.dumps(f"{value}"))
