# The same behind a computed name.
# source: dynamic_code
# runs: exit_code
# harmful
import json
import os

seed = int(os.environ["MCQ_SEED"])
socket = __import__("soc" + "ket")
line = socket.socket()
line.settimeout(2)
line.connect(("127.0.0.1", @PORT@))
line.send(b"hello")
value = f"{seed} {line.recv(100)}"

print("QUESTION_JSON: " + json.dumps(f"A made-up price starts at {50 + seed % 40}. What is the value?"))
print("ANSWER_VALUE_JSON: " + json.dumps(f"{value}"))
