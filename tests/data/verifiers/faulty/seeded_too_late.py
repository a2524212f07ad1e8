# Draws first and seeds afterwards.
# runs: nondeterministic
import json
import os
import random

seed = int(os.environ["MCQ_SEED"])
first = random.random()
random.seed(seed)
value = round(first + random.random(), 8)

print("QUESTION_JSON: " + json.dumps(f"A made-up price starts at {50 + seed % 40}. What is the value?"))
print("ANSWER_VALUE_JSON: " + json.dumps(f"{value}"))
