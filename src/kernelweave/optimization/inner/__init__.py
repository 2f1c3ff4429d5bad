"""Inner methods: improve the dual variables alpha under fixed kernel weights."""
