"""Backends that put questions to agents; none is registered in this version."""
