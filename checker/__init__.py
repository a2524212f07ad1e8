"""Computes every key again, from the record alone, with code of its own."""
