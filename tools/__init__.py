"""Tools for people who work on the code; no part of the package."""
