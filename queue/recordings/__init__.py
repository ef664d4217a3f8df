"""What the jobs are about: recordings in, text out."""
