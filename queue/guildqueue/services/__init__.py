"""One use case a module; services alone open transactions."""
