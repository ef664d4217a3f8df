"""The guild queue over HTTP in JSON: parse, call one service, answer."""
