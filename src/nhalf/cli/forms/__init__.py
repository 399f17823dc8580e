"""Forms of verbs: what an option makes of a verb, one file each, imported when it is called."""
