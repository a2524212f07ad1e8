# Prints nothing.
# runs: answer_missing question_missing
import json
import os

seed = int(os.environ["MCQ_SEED"])
value = 50 + seed % 40
