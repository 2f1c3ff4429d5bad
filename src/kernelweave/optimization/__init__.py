"""Training: the plan of a fit, the outer loops, and the methods that they combine."""
