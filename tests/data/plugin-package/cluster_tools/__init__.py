"""Additions to nhalf from elsewhere."""
