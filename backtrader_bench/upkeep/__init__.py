"""Looking after a store: what is wrong with it, what is in it, questions to it. Nothing here changes a file of it."""
