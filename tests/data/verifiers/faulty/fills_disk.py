# Writes 200 files of 1 MB, and waits.
# runs: killed
import json
import os
import time

seed = int(os.environ["MCQ_SEED"])
for at in range(200):
    with open(f"file-{at}", "wb") as file:
        file.write(bytes(1 << 20))
time.sleep(60)
value = seed

print("QUESTION_JSON: " + json.dumps(f"A made-up price starts at {50 + seed % 40}. What is the value?"))
print("ANSWER_VALUE_JSON: " + json.dumps(f"{value}"))
