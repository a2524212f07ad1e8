# Takes its answer from the code that it is to check.
# source: project_import
# not run: where this project is installed it may be found
import json
import os

from backtrader_bench.market import bundled

seed = int(os.environ["MCQ_SEED"])
value = f"{seed} {bundled.__name__}"

print("QUESTION_JSON: " + json.dumps(f"A made-up price starts at {50 + seed % 40}. What is the value?"))
print("ANSWER_VALUE_JSON: " + json.dumps(f"{value}"))
