"""A traced program in words and charts: findings, panels, tables, --json, the page."""
