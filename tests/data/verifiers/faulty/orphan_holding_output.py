# Leaves a process behind that holds its output open.
# source: processes
# runs: left_processes
import json
import os
import subprocess

seed = int(os.environ["MCQ_SEED"])
subprocess.Popen(["sleep", "300"])
value = seed

print("QUESTION_JSON: " + json.dumps(f"A made-up price starts at {50 + seed % 40}. What is the value?"))
print("ANSWER_VALUE_JSON: " + json.dumps(f"{value}"))
