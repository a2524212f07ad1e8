# The seed with a default, thread limits set, a dictionary printed on the side.
import json
import os

import numpy as np

seed = int(os.environ.get("MCQ_SEED", "0"))
START = 40 + seed % 60

os.environ.setdefault("OMP_NUM_THREADS", "1")
shown = {"seed": seed, "start": START}
print("setting:", shown)
rng = np.random.RandomState(seed)
returns = rng.standard_normal(250) / 100
value = START * float(np.prod(1 + returns))
QUESTION = f"250 normal daily returns of 1% (seed {seed}) on {START}: the final price?"

print("QUESTION_JSON: " + json.dumps(QUESTION))
print("ANSWER_VALUE_JSON: " + json.dumps(f"{value:.2f}"))
