# SPDX-License-Identifier: Apache-2.0
"""Published studies, repeated: their tables, and which of their conclusions hold elsewhere."""
