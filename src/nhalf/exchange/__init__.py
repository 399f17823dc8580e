"""Other programs: logs that are read, files that are written, tables in their styles."""
