"""The statistics tested on runs whose truth is known: simulated ones, and kept ones drawn again."""
