"""Methods with loops of their own, as values of `solver=`."""
