# Prints a second answer when it ends.
# runs: answer_repeated
import atexit
import json
import os

seed = int(os.environ["MCQ_SEED"])
value = 50 + seed % 40

atexit.register(print, "ANSWER_VALUE_JSON: " + json.dumps("1"))
print("QUESTION_JSON: " + json.dumps(f"What is {value}?"))
print("ANSWER_VALUE_JSON: " + json.dumps(f"{value}"))
