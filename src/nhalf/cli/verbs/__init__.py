# SPDX-License-Identifier: Apache-2.0
"""The verbs: one file, one verb, imported only when it is called."""
