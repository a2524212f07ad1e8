# Leaves a process behind that outlives it.
# source: processes
# runs: left_processes
import json
import os
import subprocess

seed = int(os.environ["MCQ_SEED"])
subprocess.Popen(["sleep", "300"], start_new_session=True, stdin=-3, stdout=-3, stderr=-3)
value = seed

print("QUESTION_JSON: " + json.dumps(f"A made-up price starts at {50 + seed % 40}. What is the value?"))
print("ANSWER_VALUE_JSON: " + json.dumps(f"{value}"))
