"""Training: the plan of a fit, its loops, and the methods that they are made of."""
