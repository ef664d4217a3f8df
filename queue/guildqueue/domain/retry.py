"""How long a failed job waits for its next try."""


def retry_delay_s(attempt: int, *, base_s: float, cap_s: float, jitter: float) -> float:
    """Seconds until the next try: a random share of a doubling, capped wait.

    ``attempt`` is the number of tries so far, at least 1. The wait starts at ``base_s``,
    doubles with each try and stops growing at ``cap_s``; ``jitter`` in [0, 1) is the share
    of it, drawn by the caller, that spreads out jobs which failed together.

    Source: Brooker, "Exponential Backoff And Jitter", AWS Architecture Blog (2015), full
    jitter. Raises ValueError if an argument is outside its range.
    """
    if attempt < 1:
        raise ValueError(f"attempt {attempt}: must be at least 1")
    if not 0 <= jitter < 1:
        raise ValueError(f"jitter {jitter}: must be in [0, 1)")
    if not (0 <= base_s < float("inf") and 0 <= cap_s < float("inf")):
        raise ValueError(f"base_s {base_s}, cap_s {cap_s}: must be finite and not negative")
    # From 2.0**1024 on a float overflows; no cap is still undecided at 2.0**63.
    doublings = min(attempt - 1, 63)
    return jitter * min(cap_s, base_s * 2.0**doublings)
