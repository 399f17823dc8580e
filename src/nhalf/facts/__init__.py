# SPDX-License-Identifier: Apache-2.0
"""Everything known about runs; each fact is computed once and passed on."""
