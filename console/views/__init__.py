"""Pages: parse, call one service, render."""
