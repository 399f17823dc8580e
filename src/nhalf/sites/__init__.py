# SPDX-License-Identifier: Apache-2.0
"""Sites: hosts, placement, allocation, health, and starting processes on them."""
