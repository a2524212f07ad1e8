# Prints no answer.
# runs: answer_missing
import json
import os

seed = int(os.environ["MCQ_SEED"])
value = 50 + seed % 40

print("QUESTION_JSON: " + json.dumps(f"What is {value}?"))
