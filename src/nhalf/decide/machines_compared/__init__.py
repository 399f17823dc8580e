"""Two machines compared, as their files describe them: times, parameters, rows and words."""
