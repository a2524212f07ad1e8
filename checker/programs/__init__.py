"""Runs programs that a model wrote to compute an answer, and judges what they are and what they print."""
