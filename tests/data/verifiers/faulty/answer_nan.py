# The answer is not a number.
# runs: answer_not_finite
import json
import os

seed = int(os.environ["MCQ_SEED"])
value = 50 + seed % 40

print("QUESTION_JSON: " + json.dumps(f"What is {value}?"))
print("ANSWER_VALUE_JSON: " + json.dumps(str(float("nan"))))
