"""What can be concluded from runs: figures with their uncertainty, tables, one self-contained page, comparisons."""
