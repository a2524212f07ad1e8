# Asks for 8 GiB.
# runs: exit_code
import json
import os

seed = int(os.environ["MCQ_SEED"])
block = bytearray(8 << 30)
value = seed + len(block)

print("QUESTION_JSON: " + json.dumps(f"A made-up price starts at {50 + seed % 40}. What is the value?"))
print("ANSWER_VALUE_JSON: " + json.dumps(f"{value}"))
