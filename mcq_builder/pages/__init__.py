"""Self-contained pages: what those of banks and of reports share, and the page of a bank."""
