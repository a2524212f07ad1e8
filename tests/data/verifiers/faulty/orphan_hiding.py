# Leaves a grandchild in a session of its own, with an empty environment, in another folder.
# source: processes
# runs: left_processes
import json
import os
import time

seed = int(os.environ["MCQ_SEED"])
if os.fork() == 0:
    os.setsid()
    os.chdir("/usr")
    if os.fork() == 0:
        os.execve("/usr/bin/sleep", ["sleep", "300"], {})
    os._exit(0)
time.sleep(0.2)
value = seed

print("QUESTION_JSON: " + json.dumps(f"A made-up price starts at {50 + seed % 40}. What is the value?"))
print("ANSWER_VALUE_JSON: " + json.dumps(f"{value}"))
