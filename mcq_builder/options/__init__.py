"""Distractors: a scheme turns a key into four options. See ladder.py and published.py."""
