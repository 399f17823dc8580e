"""Why two ways of running something differ: mixtures of both are run until the cause is named."""
