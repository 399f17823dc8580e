"""The store: run directories, their journals and their Parquet files."""
