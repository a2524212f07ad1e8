# Asks a service on this machine.
# source: network
# runs: exit_code
# harmful
import json
import os
import socket

seed = int(os.environ["MCQ_SEED"])
with socket.create_connection(("127.0.0.1", @PORT@), timeout=2) as line:
    line.sendall(b"hello")
    value = f"{seed} {line.recv(100).decode()}"

print("QUESTION_JSON: " + json.dumps(f"A made-up price starts at {50 + seed % 40}. What is the value?"))
print("ANSWER_VALUE_JSON: " + json.dumps(f"{value}"))
