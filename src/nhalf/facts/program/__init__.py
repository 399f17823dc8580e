# SPDX-License-Identifier: Apache-2.0
"""What a traced program does with messages: each quantity one file, from the tables of a trace."""
