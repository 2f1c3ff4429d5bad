"""``python packaging/extra.py NAME``: the requirements of an extra of the installed package.

``pip install '.[NAME]'`` would build the core again.
"""

import sys
from importlib.metadata import requires

(name,) = sys.argv[1:]
for requirement in requires("kernelweave") or ():
    package, _, marker = requirement.partition(";")
    if marker.replace('"', "'").strip() == f"extra == '{name}'":
        print(package.replace(" ", ""))
