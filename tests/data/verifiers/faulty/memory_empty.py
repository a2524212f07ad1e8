# Adds up an array that nothing was written to.
# runs: nondeterministic
import json
import os

import numpy as np

seed = int(os.environ["MCQ_SEED"])
value = float(np.empty(4000)[7:].sum()) + seed

print("QUESTION_JSON: " + json.dumps(f"A made-up price starts at {50 + seed % 40}. What is the value?"))
print("ANSWER_VALUE_JSON: " + json.dumps(f"{value}"))
