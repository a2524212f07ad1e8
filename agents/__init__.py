"""Putting questions to agents: one module a backend, and what they share.

``registry.parse`` finds an agent, ``workspace`` makes its folders, ``ask.ask`` asks it once.
"""
