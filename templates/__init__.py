"""Words: question stems, option formats, and the check that a record still says what its template says."""
