# SPDX-License-Identifier: Apache-2.0
"""Machines that are not here: SimGrid simulates what their messages take."""
