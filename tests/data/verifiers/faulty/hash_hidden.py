# A set that a function hands on: the source check does not follow it.
# runs: nondeterministic
import json
import os

seed = int(os.environ["MCQ_SEED"])
def universe():
    return frozenset("S%02d" % k for k in range(12))


def ranked(names):
    return [name for name in names]


value = f"{seed}:" + "".join(ranked(universe()))

print("QUESTION_JSON: " + json.dumps(f"A made-up price starts at {50 + seed % 40}. What is the value?"))
print("ANSWER_VALUE_JSON: " + json.dumps(f"{value}"))
