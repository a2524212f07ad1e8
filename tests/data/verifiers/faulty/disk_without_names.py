# Holds 100 MiB of files that have no name any more.
# runs: killed
# harmful
import json
import os
import time

seed = int(os.environ["MCQ_SEED"])
held = []
for number in range(30):
    file = open(f"{number}", "wb")
    os.unlink(f"{number}")
    file.write(b"x" * (3 << 20))
    file.flush()
    held.append(file)
time.sleep(10)
value = seed

print("QUESTION_JSON: " + json.dumps(f"A made-up price starts at {50 + seed % 40}. What is the value?"))
print("ANSWER_VALUE_JSON: " + json.dumps(f"{value}"))
