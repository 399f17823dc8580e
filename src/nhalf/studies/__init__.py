"""Published studies, repeated: their tables, and which of their conclusions hold elsewhere."""
