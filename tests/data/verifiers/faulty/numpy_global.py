# numpy's global generator, without a seed.
# source: unseeded_random
# runs: nondeterministic
import json
import os

import numpy as np

seed = int(os.environ["MCQ_SEED"])
value = round(float(seed + np.random.normal(size=50).sum()), 6)

print("QUESTION_JSON: " + json.dumps(f"A made-up price starts at {50 + seed % 40}. What is the value?"))
print("ANSWER_VALUE_JSON: " + json.dumps(f"{value}"))
