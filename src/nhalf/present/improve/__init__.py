"""What a search for improvements learned, in words and as JSON."""
