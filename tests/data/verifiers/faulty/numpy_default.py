# A numpy generator that is made without a seed.
# source: unseeded_random
# runs: nondeterministic
import json
import os

from numpy.random import default_rng

seed = int(os.environ["MCQ_SEED"])
value = round(float(seed + default_rng().random()), 8)

print("QUESTION_JSON: " + json.dumps(f"A made-up price starts at {50 + seed % 40}. What is the value?"))
print("ANSWER_VALUE_JSON: " + json.dumps(f"{value}"))
