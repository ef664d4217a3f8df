"""The only place that knows SQL; gives and takes domain values, opens no transaction."""
