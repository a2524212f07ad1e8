# The answer is no JSON.
# runs: answer_malformed
import json
import os

seed = int(os.environ["MCQ_SEED"])
value = 50 + seed % 40

print("QUESTION_JSON: " + json.dumps(f"What is {value}?"))
print(f"ANSWER_VALUE_JSON: {value:.2f} dollars")
