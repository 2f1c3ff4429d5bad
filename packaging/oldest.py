"""Print the lowest versions that pyproject.toml allows of dependencies, as constraints for pip."""

import re
from pathlib import Path

try:
    import tomllib
except ImportError:  # before Python 3.11
    import tomli as tomllib

EXTRAS = ("conic", "plot", "frames", "genome", "report")


def main() -> None:
    """Print a constraint for each dependency with a lowest version."""
    path = Path(__file__).parents[1] / "pyproject.toml"
    project = tomllib.loads(path.read_text(encoding="utf-8"))["project"]
    extras = project["optional-dependencies"]
    needs = [*project["dependencies"], *(need for extra in EXTRAS for need in extras[extra])]
    for need in needs:
        if match := re.match(r"([\w-]+)>=([\d.]+)", need):
            print("==".join(match.groups()))


if __name__ == "__main__":
    main()
