"""Fitted models: decision functions, verification of certificates, and files."""
