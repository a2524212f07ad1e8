# Draws rows of a frame from numpy's global generator.
# runs: nondeterministic
import json
import os

import pandas as pd

seed = int(os.environ["MCQ_SEED"])
frame = pd.DataFrame({"close": range(1000)})
value = int(frame.sample(5)["close"].sum()) + seed

print("QUESTION_JSON: " + json.dumps(f"A made-up price starts at {50 + seed % 40}. What is the value?"))
print("ANSWER_VALUE_JSON: " + json.dumps(f"{value}"))
