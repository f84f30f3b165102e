"""What stands behind `templates`: tags, values, whitespace, and the lint of a template."""
