# Takes memory piece by piece.
# runs: exit_code killed
import json
import os

seed = int(os.environ["MCQ_SEED"])
pieces = []
while len(pieces) < 8 << 10:
    pieces.append(bytearray(1 << 20))
value = seed + len(pieces)

print("QUESTION_JSON: " + json.dumps(f"A made-up price starts at {50 + seed % 40}. What is the value?"))
print("ANSWER_VALUE_JSON: " + json.dumps(f"{value}"))
