# Never ends, in threads.
# runs: timed_out
import json
import os
import threading
import time

seed = int(os.environ["MCQ_SEED"])
for _ in range(4):
    threading.Thread(target=time.sleep, args=(3600,)).start()
value = seed

print("QUESTION_JSON: " + json.dumps(f"A made-up price starts at {50 + seed % 40}. What is the value?"))
print("ANSWER_VALUE_JSON: " + json.dumps(f"{value}"))
