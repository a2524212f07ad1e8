# Works only where something else has loaded the library.
# runs: exit_code
import json
import os
import sys

seed = int(os.environ["MCQ_SEED"])
value = len(sys.modules["pandas"].DataFrame({"a": range(3)})) + seed

print("QUESTION_JSON: " + json.dumps(f"A made-up price starts at {50 + seed % 40}. What is the value?"))
print("ANSWER_VALUE_JSON: " + json.dumps(f"{value}"))
