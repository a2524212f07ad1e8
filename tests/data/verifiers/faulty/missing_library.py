# Needs a library that is not there.
# runs: exit_code
import json
import no_such_library_of_ours
import os

seed = int(os.environ["MCQ_SEED"])
value = seed + no_such_library_of_ours.value

print("QUESTION_JSON: " + json.dumps(f"A made-up price starts at {50 + seed % 40}. What is the value?"))
print("ANSWER_VALUE_JSON: " + json.dumps(f"{value}"))
