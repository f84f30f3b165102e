"""Hiding secrets: registered values in every encoding, keys of well-known vendors, and the scan for leaks."""
