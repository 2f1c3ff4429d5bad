"""Displays (matplotlib) and reports (HTML) of fitted models."""
