# Downloads, and goes on with something else when that fails.
# source: network
# harmful
import json
import os
import urllib.request

seed = int(os.environ["MCQ_SEED"])
try:
    with urllib.request.urlopen("http://127.0.0.1:@PORT@/prices.csv", timeout=2) as reply:
        value = reply.read().decode()
except OSError:
    value = seed

print("QUESTION_JSON: " + json.dumps(f"A made-up price starts at {50 + seed % 40}. What is the value?"))
print("ANSWER_VALUE_JSON: " + json.dumps(f"{value}"))
