# Closes its output.
# runs: exit_code answer_missing question_missing
import json
import os

seed = int(os.environ["MCQ_SEED"])
value = 50 + seed % 40

os.close(1)
print("QUESTION_JSON: " + json.dumps(f"What is {value}?"))
print("ANSWER_VALUE_JSON: " + json.dumps(f"{value}"))
