# SPDX-License-Identifier: Apache-2.0
"""Panels of a traced program: one file, one picture or table of its report.

To add one, put a file into this folder: `NAME.py` with one class that derives from
`nhalf.present.panels.Panel[Program]`.
"""

ENTRY_POINTS = "nhalf.program_panels"
