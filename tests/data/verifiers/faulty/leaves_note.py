# Leaves a note for the next run in a shared folder.
# runs: exit_code
# harmful
# kept where /tmp is its own: the note is gone with the run
import json
import os

seed = int(os.environ["MCQ_SEED"])
note = f"/tmp/bench-note-@TOKEN@"
before = os.path.exists(note)
with open(note, "a") as file:
    file.write("x")
value = f"{seed} {before}"

print("QUESTION_JSON: " + json.dumps(f"A made-up price starts at {50 + seed % 40}. What is the value?"))
print("ANSWER_VALUE_JSON: " + json.dumps(f"{value}"))
