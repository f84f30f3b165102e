"""How providers run together: drivers, deadlines, shared flights, worker threads, clean-up."""
