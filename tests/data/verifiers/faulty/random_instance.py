# A generator of its own, without a seed.
# source: unseeded_random
# runs: nondeterministic
import json
import os
import random

seed = int(os.environ["MCQ_SEED"])
value = seed + random.Random().randrange(10**9)

print("QUESTION_JSON: " + json.dumps(f"A made-up price starts at {50 + seed % 40}. What is the value?"))
print("ANSWER_VALUE_JSON: " + json.dumps(f"{value}"))
