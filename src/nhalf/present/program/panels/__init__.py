"""Panels of a traced program: the charts and tables of its report, in one file a subject.

To add one, put a class that derives from `nhalf.present.panels.Panel[Program]` into a file here.
"""

BY_SUBJECT = True
ENTRY_POINTS = "nhalf.program_panels"
