"""Input data of kernels: columns, encodings, views, missing and absent values."""
