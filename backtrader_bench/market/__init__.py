"""Tapes: one symbol's bars, validated and pinned by hash."""
