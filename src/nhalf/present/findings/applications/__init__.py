# SPDX-License-Identifier: Apache-2.0
"""Findings on applications by library, programming model, ranks and shape."""
