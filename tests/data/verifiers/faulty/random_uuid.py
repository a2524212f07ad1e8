# A random identifier.
# source: unseeded_random
# runs: nondeterministic
import json
import os
import uuid

seed = int(os.environ["MCQ_SEED"])
value = seed + uuid.uuid4().int % 10**9

print("QUESTION_JSON: " + json.dumps(f"A made-up price starts at {50 + seed % 40}. What is the value?"))
print("ANSWER_VALUE_JSON: " + json.dumps(f"{value}"))
