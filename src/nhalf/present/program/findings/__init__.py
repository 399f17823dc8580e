# SPDX-License-Identifier: Apache-2.0
"""Findings about a traced program's communication, in sentences: one file, one kind of finding.

To add one, put a file into this folder: `NAME.py` with one class that derives from
`nhalf.present.findings.Finder[Program]`. It then appears in `nhalf show`, the report and --json;
no other file changes.
"""

ENTRY_POINTS = "nhalf.program_findings"
