"""The verbs: one file, one verb, imported only when it is called."""
