"""The version of nhalf."""

__version__ = "1.0.0"
