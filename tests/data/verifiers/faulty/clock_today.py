# The answer holds the year it is run in; two runs in a row agree.
# source: clock
import datetime
import json
import os

seed = int(os.environ["MCQ_SEED"])
value = seed + datetime.date.today().year

print("QUESTION_JSON: " + json.dumps(f"A made-up price starts at {50 + seed % 40}. What is the value?"))
print("ANSWER_VALUE_JSON: " + json.dumps(f"{value}"))
