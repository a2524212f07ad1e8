"""Running what can't be trusted: model-written programs, and agents that run shell commands."""
