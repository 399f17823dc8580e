"""The command line: options become a request, a request a call, a call what people see."""
