# Leaves the interpreter that started it few open files, so that it closes too few for the next run.
# source: processes
# runs: exit_code
# harmful
import json
import os
import resource

seed = int(os.environ["MCQ_SEED"])
resource.prlimit(os.getppid(), resource.RLIMIT_NOFILE, (8, 256))
value = seed

print("QUESTION_JSON: " + json.dumps(f"A made-up price starts at {50 + seed % 40}. What is the value?"))
print("ANSWER_VALUE_JSON: " + json.dumps(f"{value}"))
