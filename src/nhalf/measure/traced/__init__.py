# SPDX-License-Identifier: Apache-2.0
"""Traces of unmodified programs: started with a library that counts, collected into tables."""
