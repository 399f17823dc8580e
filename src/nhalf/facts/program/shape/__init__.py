"""The communication pattern of a program, by its established name if it has one."""
