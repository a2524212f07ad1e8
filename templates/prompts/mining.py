"""What is said to the agents of a mining session: the generator, and the one that verifies a question a second time.

Solvers are told what ``bench run`` tells them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

GENERATOR_SYSTEM = """\
You write hard, fair questions about backtests in the Python package backtrader, each with a program that computes its
answer. Others will answer them: first a model that may not run anything, then one that may. A good question is one
that the first can't answer and the second can."""

_TASK = """\
Write one question and its verifier.

The question
- states everything that the answer depends on: the price data (every bar in the text, or a short function that makes
  them, given word for word), cash, commission, slippage, the rule of every entry and exit, when orders are decided and
  when they fill, how many shares are traded, and how the asked number is defined and rounded;
- has exactly one right answer: a number, an amount, a percentage, a count or a date. Not yes or no, not a name;
- can't be answered without running the backtest: no round numbers that give it away, no answer in the text, and no
  answer that mere arithmetic on two numbers of the text gives;
- lists no options and speaks of none. Four options are made from your program's answers later.

The verifier
- is one Python file that stands alone: backtrader, pandas, numpy and the standard library, nothing else. No network, no
  files, no clock, no environment but MCQ_SEED, no threads or processes;
- reads the whole number MCQ_SEED from its environment and draws the scenario from it: symbol, dates, parameters, cash,
  commission, and which of a few related numbers is asked for. Draw from a generator of your own,
  random.Random(seed); never from one that nobody seeded;
- makes its prices itself, in plain arithmetic that is rounded to cents, so that every machine gets the same bars;
- prints the question of its scenario, then its answer, each on one line, as JSON behind a fixed word:
      QUESTION_JSON: "..."
      ANSWER_VALUE_JSON: "$10,432.17"
  (print("QUESTION_JSON:", json.dumps(question)) does it). The text is built from the same variables that the backtest
  uses, so that both always agree;
- ends with exit code 0 within seconds, for every seed, and prints the same at every run with the same seed. At another
  seed the question says other numbers and the answer is another one, of the same kind and about the same size: the
  wrong options are the answers of {others} other seeds, and must look as likely as the right one.

The text that counts is the one that the verifier prints for MCQ_SEED={base_seed}. Your QUESTION block should be the same.

Reply with three blocks and put each word in angle brackets on a line of its own:

<<<QUESTION>>>
the question
<<</QUESTION>>>
<<<CODE>>>
the verifier
<<</CODE>>>
<<<RATIONALE>>>
one or two sentences: what makes it hard, and how you know that the answer is right
<<</RATIONALE>>>"""

TOOLS = (
    "You may use your tools: your working directory is yours alone, and a Python with backtrader, pandas and numpy is on the "
    "path there as `python`. Run the program before you reply."
)
_STEER = "This time ask about {what} (category {category})."
_OPEN = "Choose what to ask about; these were thought of: {all}."
_HISTORY = """\
What came of the questions before this one in this session; learn from it, and repeat none:
{lines}"""
MEANINGS = {
    "tool_solver_correct": "accepted: not answered without tools, answered right with them",
    "tool_solver_wrong": "answered wrong with tools; make sure that the text says everything",
    "easy_discarded": "answered without running anything: too easy",
    "malformed": "the blocks were missing or empty",
    "verifier_failed": "the verifier did not run as it should",
    "not_well_posed": "the question can't be asked",
    "duplicate": "it was asked before in other numbers",
    "unscreened": "no solver could be asked; it says nothing about the question",
    "generator_failed": "no reply came",
}
"""What each decision tells a generator."""

SECOND_SYSTEM = """\
You check questions about backtests in the Python package backtrader. You are given a question alone and write a program
that computes its answer, from what the question says and nothing else."""
_SECOND = """\
Write a Python program that computes the answer to this question and prints it on one line, as JSON behind a fixed word:

    ANSWER_VALUE_JSON: "$10,432.17"

in the form that the question asks for. The program stands alone: backtrader, pandas, numpy and the standard library. It
needs no network and no files, and its numbers are those of the question. Don't answer from memory or by estimate.

{tools}Reply with the program in one block:

<<<CODE>>>
the program
<<</CODE>>>

The question:

{stem}"""


def generator_text(
    base_seed: int, others: int, category: str | None, categories: Mapping[str, str], history: Sequence[str], *,
    tools: bool = True,
) -> str:  # fmt: skip
    """The generator's task: ``others`` perturbed seeds, a category or none, and a line an earlier attempt."""
    if category is None:
        about = _OPEN.format(all="; ".join(categories.values()))
    else:
        about = _STEER.format(what=categories[category], category=category)
    parts = [_TASK.format(base_seed=base_seed, others=others), about, *([TOOLS] if tools else [])]
    if history:
        parts.append(_HISTORY.format(lines="\n".join(f"- {line}" for line in history)))
    return "\n\n".join(parts)


def second_text(stem: str, *, tools: bool = True) -> str:
    """The second verifier's task."""
    return _SECOND.format(tools=f"{TOOLS}\n\n" if tools else "", stem=stem)
