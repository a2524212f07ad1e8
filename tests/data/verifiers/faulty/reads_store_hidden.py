# The store behind a computed path.
# runs: exit_code
# harmful
import json
import os

seed = int(os.environ["MCQ_SEED"])
with open("/".join(["@STORE@"])) as file:
    value = f"{seed} {file.read()}"

print("QUESTION_JSON: " + json.dumps(f"A made-up price starts at {50 + seed % 40}. What is the value?"))
print("ANSWER_VALUE_JSON: " + json.dumps(f"{value}"))
