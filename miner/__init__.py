"""Mining: a generator writes questions with programs that answer them; the session keeps the sound and the hard."""
