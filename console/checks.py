"""System checks: what is wrong with an installation, each with an id and a way out."""
