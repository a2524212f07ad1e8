# Prints for ever.
# runs: output_too_long exit_code
import json
import os

seed = int(os.environ["MCQ_SEED"])
while True:
    print("QUESTION_JSON: " + json.dumps("x" * 1000))
