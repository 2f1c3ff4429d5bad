"""Methods with separate training loops, as values of `solver=`."""
