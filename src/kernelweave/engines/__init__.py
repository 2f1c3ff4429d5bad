"""Who holds the examples: engines compute kernels and keep the outputs of the current alpha."""

from .base import Engine
from .dense import DenseEngine
from .mixture import MixtureEngine
from .stacked import StackedEngine
from .supplies import Supplies

__all__ = ["DenseEngine", "Engine", "MixtureEngine", "StackedEngine", "Supplies"]
