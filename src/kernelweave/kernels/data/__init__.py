"""Data that kernels read: columns, encodings, views, missing values."""
