"""The Django project: all that a browser or an HTTP client meets. No SQL, no rules."""
