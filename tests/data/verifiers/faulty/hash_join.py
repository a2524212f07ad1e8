# The order of a set of names goes into the answer.
# source: hash_order
# runs: nondeterministic
import json
import os

seed = int(os.environ["MCQ_SEED"])
names = {f"S{k}" for k in range(12)}
value = f"{seed} " + ",".join(names)

print("QUESTION_JSON: " + json.dumps(f"A made-up price starts at {50 + seed % 40}. What is the value?"))
print("ANSWER_VALUE_JSON: " + json.dumps(f"{value}"))
