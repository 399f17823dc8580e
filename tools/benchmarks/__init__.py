"""One benchmark of nhalf itself is one file: `measure(runs)` gives figures and a page."""
