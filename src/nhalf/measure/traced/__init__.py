"""Traces of unmodified programs: started with a library that counts, collected into tables."""
