"""`make run`: one parent process that owns the console and the worker."""
