"""Multiple kernel learning: train a kernel machine and learn how much each kernel counts.

The public names are listed in the stub next to this file. Each is imported when it is asked for, so
that the command line answers at once.
"""

import lazy_loader

__version__ = "0.2.0"
__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
