# The answer is a JSON number, not a string.
# runs: answer_malformed
import json
import os

seed = int(os.environ["MCQ_SEED"])
value = 50 + seed % 40

print("QUESTION_JSON: " + json.dumps(f"What is {value}?"))
print("ANSWER_VALUE_JSON: " + json.dumps(value))
