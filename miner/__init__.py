"""The mining session; nothing is in it in this version."""
