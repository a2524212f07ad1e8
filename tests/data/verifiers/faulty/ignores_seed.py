# Reads the seed and does nothing with it.
# runs: ignores_seed
import json
import os

seed = int(os.environ["MCQ_SEED"])
value = 42

print("QUESTION_JSON: " + json.dumps("A made-up price starts at 50. What is the value?"))
print("ANSWER_VALUE_JSON: " + json.dumps(f"{value}"))
