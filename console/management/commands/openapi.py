"""Write down what the JSON API is, for the repository and for clients."""

from pathlib import Path

from django.core.management.base import BaseCommand, CommandParser

from console.api.openapi import openapi_text


class Command(BaseCommand):
    help = "Print the OpenAPI document of the JSON API, or write it to a file."
    # Needs no database.
    requires_system_checks = ()

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--output", type=Path, help="The file to write; default: print it.")

    def handle(self, *, output: Path | None, **_options: object) -> None:
        if output is None:
            self.stdout.write(openapi_text(), ending="")
        else:
            output.write_text(openapi_text(), encoding="utf-8")
