# SPDX-License-Identifier: Apache-2.0
"""The store: run directories, their journals and their Parquet files."""
