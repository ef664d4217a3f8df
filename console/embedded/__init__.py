"""A PostgreSQL of our own, started when first needed and stopped when nobody needs it."""
