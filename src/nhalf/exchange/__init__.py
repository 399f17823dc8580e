# SPDX-License-Identifier: Apache-2.0
"""Other programs: logs that are read, files that are written, tables in their styles."""
