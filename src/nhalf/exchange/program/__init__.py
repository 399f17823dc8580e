# SPDX-License-Identifier: Apache-2.0
"""Traces of programs in the forms of others."""
