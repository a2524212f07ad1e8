"""Asking agents a bank of questions: the plan, the asking itself, what is kept of it, and reading it again."""
