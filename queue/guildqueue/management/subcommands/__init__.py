"""The subcommands of ``manage.py queue``, one module a group of them."""
