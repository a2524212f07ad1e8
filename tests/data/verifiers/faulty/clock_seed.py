# The clock seeds the generator.
# source: clock
# runs: nondeterministic
import json
import os
import random
import time

seed = int(os.environ["MCQ_SEED"])
rng = random.Random(int(time.time() * 1e6))
value = seed + rng.randrange(10**6)

print("QUESTION_JSON: " + json.dumps(f"A made-up price starts at {50 + seed % 40}. What is the value?"))
print("ANSWER_VALUE_JSON: " + json.dumps(f"{value}"))
