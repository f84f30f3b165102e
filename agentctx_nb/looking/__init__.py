"""Questions to a state: what changed, where a text stands, what one provider put there, what breaks a cache."""
