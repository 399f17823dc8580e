# SPDX-License-Identifier: Apache-2.0
"""What a traced program would cost on another machine: its own calls replayed."""
