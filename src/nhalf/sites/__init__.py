# SPDX-License-Identifier: Apache-2.0
"""Where it runs: hosts, placement, allocation, health, and how processes are started there."""
