# SPDX-License-Identifier: Apache-2.0
"""Tables and lines on a terminal."""
