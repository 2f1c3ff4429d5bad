"""The convex problem: primal, dual and certificate; hard margins; generalisation bounds."""
