"""What can stand on either side: commands that start a program, and runs of nhalf."""
