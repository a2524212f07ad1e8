# Prints two answers.
# runs: answer_repeated
import json
import os

seed = int(os.environ["MCQ_SEED"])
value = 50 + seed % 40

print("QUESTION_JSON: " + json.dumps(f"What is {value}?"))
print("ANSWER_VALUE_JSON: " + json.dumps(f"{value}"))
print("ANSWER_VALUE_JSON: " + json.dumps(f"{value + 1}"))
