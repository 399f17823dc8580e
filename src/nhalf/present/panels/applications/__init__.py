# SPDX-License-Identifier: Apache-2.0
"""Panels on applications by library, programming model, ranks and shape."""
