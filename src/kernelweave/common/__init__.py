"""Helpers for all packages: compiled core, checks of numbers, warnings, root finding."""
