# Writes beside the store.
# runs: exit_code
# harmful
import json
import os

seed = int(os.environ["MCQ_SEED"])
with open("@OUTSIDE@", "w") as file:
    file.write("harm")
value = seed

print("QUESTION_JSON: " + json.dumps(f"A made-up price starts at {50 + seed % 40}. What is the value?"))
print("ANSWER_VALUE_JSON: " + json.dumps(f"{value}"))
