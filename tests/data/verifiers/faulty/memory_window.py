# The first rows of a moving average are never written.
# runs: nondeterministic
import json
import os

import numpy as np

seed = int(os.environ["MCQ_SEED"])
closes = 50 + np.arange(400.0) % (7 + seed % 5)
average = np.empty(400)
for at in range(20, 400):
    average[at] = closes[at - 20 : at].mean()
value = int(np.count_nonzero(closes > average) * 1000 + average[:20].view(np.uint8).sum() % 997)

print("QUESTION_JSON: " + json.dumps(f"A made-up price starts at {50 + seed % 40}. What is the value?"))
print("ANSWER_VALUE_JSON: " + json.dumps(f"{value}"))
