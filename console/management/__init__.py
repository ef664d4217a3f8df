"""Commands about the console itself."""
