# SPDX-License-Identifier: Apache-2.0
"""The communication of a traced program: one file per quantity, from the tables of a trace."""
