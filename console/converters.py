"""The path converter that lets a route see only ids that a bigint column can hold."""

from django.urls import register_converter

from guildqueue.domain.ids import BIGINT_MAX


class BigIdConverter:
    """Decimal digits within bigint; anything else matches no route, which is a 404."""

    regex = "[0-9]{1,19}"

    def to_python(self, value: str) -> int:
        # int() also takes other scripts' digits; the regex alone keeps them out.
        number = int(value)
        if number > BIGINT_MAX:
            raise ValueError(value)
        return number

    def to_url(self, value: int) -> str:
        return str(value)


register_converter(BigIdConverter, "bigid")
