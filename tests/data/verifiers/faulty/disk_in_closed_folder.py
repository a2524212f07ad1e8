# Fills 60 MiB in a folder that nobody may list.
# runs: killed
# harmful
import json
import os
import time

seed = int(os.environ["MCQ_SEED"])
os.mkdir("closed", 0o300)
for number in range(20):
    with open(f"closed/{number}", "wb") as file:
        file.write(b"x" * (3 << 20))
time.sleep(10)
value = seed

print("QUESTION_JSON: " + json.dumps(f"A made-up price starts at {50 + seed % 40}. What is the value?"))
print("ANSWER_VALUE_JSON: " + json.dumps(f"{value}"))
