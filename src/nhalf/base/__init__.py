"""The ground: errors, units, processes, files, plug-ins. It knows nothing about measurements."""
