# Looks for what other runs left beside its folder.
# runs: exit_code nondeterministic
from pathlib import Path
import json
import os

seed = int(os.environ["MCQ_SEED"])
other = sorted(Path("..").glob("run-*"))
value = f"{seed} {len(other)} {other[0].name}"

print("QUESTION_JSON: " + json.dumps(f"A made-up price starts at {50 + seed % 40}. What is the value?"))
print("ANSWER_VALUE_JSON: " + json.dumps(f"{value}"))
