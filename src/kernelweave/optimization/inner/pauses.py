"""Exponential backoff for methods that fail because of rounding."""


class Pauses:
    """Exponential backoff: skip a method for 1, 2, 4, ... working sets after each failure.

    Interior points, for example, fail if kernel values are so large that their steps are dominated
    by rounding errors.
    """

    def __init__(self) -> None:
        self._length, self._left = 0, 0

    def is_over(self) -> bool:
        """Return whether to use the method on the next working set."""
        self._left -= 1
        return self._left < 0

    def note(self, improved: bool) -> None:
        """Record whether the method improved a working set."""
        self._length = 0 if improved else max(1, 2 * self._length)
        self._left = self._length
