"""Questions and attempts in the forms that other tools read, and those tools' results read back."""
