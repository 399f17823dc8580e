# SPDX-License-Identifier: Apache-2.0
"""The command line: one file, one verb, imported only when it is called."""
