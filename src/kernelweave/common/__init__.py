"""Shared by all packages: the compiled core, cached properties, root finding."""
