# SPDX-License-Identifier: Apache-2.0
"""The shape of who sends to whom, named in the field's words where there is a name for it."""
