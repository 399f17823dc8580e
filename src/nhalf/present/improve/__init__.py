# SPDX-License-Identifier: Apache-2.0
"""What a search for improvements learned, in words and as JSON."""
