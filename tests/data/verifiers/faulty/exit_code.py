# Ends with 3 after all is printed.
# runs: exit_code
import json
import os
import sys

seed = int(os.environ["MCQ_SEED"])
value = 50 + seed % 40

print("QUESTION_JSON: " + json.dumps(f"What is {value}?"))
print("ANSWER_VALUE_JSON: " + json.dumps(f"{value}"))
sys.exit(3)
