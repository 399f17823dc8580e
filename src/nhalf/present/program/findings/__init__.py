"""Findings about a traced program's communication, in sentences: one file a subject.

To add one, put a class that derives from `nhalf.present.findings.Finder[Program]` into a file here.
It then appears in `nhalf show`, the report and --json; no other file changes.
"""

BY_SUBJECT = True
ENTRY_POINTS = "nhalf.program_findings"
