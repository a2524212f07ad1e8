# Never reads the seed.
# source: no_seed
# runs: ignores_seed
import json

value = 42

print("QUESTION_JSON: " + json.dumps("A made-up price starts at 50. What is the value?"))
print("ANSWER_VALUE_JSON: " + json.dumps(f"{value}"))
