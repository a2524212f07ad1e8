# Prints no question.
# runs: question_missing
import json
import os

seed = int(os.environ["MCQ_SEED"])
value = 50 + seed % 40

print("ANSWER_VALUE_JSON: " + json.dumps(f"{value}"))
