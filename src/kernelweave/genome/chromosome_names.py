"""Match chromosome names that differ between files: ``chr1`` and ``1``, ``chrM`` and ``MT``."""

from __future__ import annotations

from collections.abc import Iterable

from ..common.warnings import warn

MAX_LISTED = 8  # names shown in a message


def match_chromosomes(used: Iterable[str], known: Iterable[str], source: str) -> dict[str, str]:
    """Return the genome's name of each chromosome that a file uses.

    A name without an exact match is compared without the prefix ``chr`` of either name; ``M`` and
    ``MT`` are the same. A warning gives the number of such names and the first of them.

    Parameters
    ----------
    used : iterable of str
        Chromosome names in a file of regions or variants.
    known : iterable of str
        Chromosome names in the genome.
    source : str
        Name of the file, for the warning.

    Returns
    -------
    dict
        From used names to names in the genome. Chromosomes that the genome lacks have no entry.
    """
    known = list(dict.fromkeys(known))
    by_alias: dict[str, list[str]] = {}
    for name in known:
        by_alias.setdefault(_alias(name), []).append(name)
    found, aliases = {}, {}
    for name in dict.fromkeys(map(str, used)):
        if name in by_alias.get(_alias(name), []):
            found[name] = name
        elif len(by_alias.get(_alias(name), [])) == 1:
            found[name] = aliases[name] = by_alias[_alias(name)][0]
    if aliases:
        one, other = next(iter(aliases.items()))
        warn(
            f"{source}: {len(aliases)} chromosome names were matched to the genome by alias, such "
            f"as {one!r} to {other!r}"
        )
    return found


def _alias(name: str) -> str:
    """Return the name without the prefix ``chr``, with M (mitochondrion) replaced by MT."""
    bare = name[3:] if name[:3].lower() == "chr" else name
    return "MT" if bare.upper() == "M" else bare


def absent_chromosomes(absent: Iterable[str], used: Iterable[str], known: Iterable[str]) -> str:
    """Return an error message that lists absent names, all names in a file and in the genome."""
    return (
        f"the genome has no chromosome {listed(absent)}; the file has {listed(used)}, "
        f"the genome has {listed(known)}"
    )


def listed(names: Iterable[str]) -> str:
    """Return the distinct names separated by commas; of many only the first and their number."""
    distinct = list(dict.fromkeys(names))
    more = f" and {len(distinct) - MAX_LISTED} more" if len(distinct) > MAX_LISTED else ""
    return ", ".join(distinct[:MAX_LISTED]) + more
