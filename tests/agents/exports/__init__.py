"""Tests of agents/exports."""
