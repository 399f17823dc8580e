# SPDX-License-Identifier: Apache-2.0
"""The parts of a platform for SimGrid: its shape, its costs and comments."""
