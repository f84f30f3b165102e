"""Which values are written, which are read, and by whom."""
