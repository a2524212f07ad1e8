# Reads the environment of the process that started it.
# runs: exit_code
# harmful
import json
import os

seed = int(os.environ["MCQ_SEED"])
value = seed
for pid in (os.getppid(), @PARENT@):
    with open(f"/proc/{pid}/environ") as file:
        value = f"{value} {file.read()}"

print("QUESTION_JSON: " + json.dumps(f"A made-up price starts at {50 + seed % 40}. What is the value?"))
print("ANSWER_VALUE_JSON: " + json.dumps(f"{value}"))
