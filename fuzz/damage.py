"""Random damage of bytes."""

from __future__ import annotations

from .choices import Choices


def damaged(c: Choices, content: bytes) -> bytes:
    """Return bytes with a few changes: flips, cuts, repeats, insertions, swaps."""
    spoilt = bytearray(content)
    for _ in range(c.integer(1, 4)):
        if not spoilt:
            return bytes(spoilt)
        at, stop = sorted(c.integer(0, len(spoilt) - 1) for _ in range(2))
        how = c.integer(0, 6)
        if how <= 1:
            spoilt[at] ^= 1 << c.integer(0, 7)
        elif how == 2:
            spoilt[at] = c.byte()
        elif how == 3:
            del spoilt[at:]
        elif how == 4:
            del spoilt[at : min(stop, at + 64)]
        elif how == 5:
            spoilt[at:at] = spoilt[at : min(stop, at + 64)]
        else:
            spoilt[at:at] = bytes(c.byte() for _ in range(c.integer(1, 8)))
    return bytes(spoilt)
