# SPDX-License-Identifier: Apache-2.0
"""The ground: errors, units, processes, files, plug-ins. It knows nothing about measurements."""
