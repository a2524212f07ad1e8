# The question is printed over several lines.
# runs: question_malformed
import json
import os

seed = int(os.environ["MCQ_SEED"])
value = 50 + seed % 40

print("QUESTION_JSON: " + repr(f"What is\n{value}?"))
print("ANSWER_VALUE_JSON: " + json.dumps(f"{value}"))
