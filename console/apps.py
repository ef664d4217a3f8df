"""The console as a Django app: its system checks register when it is ready."""

from django.apps import AppConfig


class ConsoleConfig(AppConfig):
    name = "console"
    verbose_name = "Guild Queue console"

    def ready(self) -> None:
        from console import checks  # noqa: F401, PLC0415 - importing registers them
