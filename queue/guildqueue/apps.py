"""The Django app of the queue."""

from django.apps import AppConfig


class GuildQueueConfig(AppConfig):
    """Label ``guildqueue``: every table starts with it."""

    name = "guildqueue"
    label = "guildqueue"
    verbose_name = "Guild queue"
    default_auto_field = "django.db.models.BigAutoField"
