# SPDX-License-Identifier: Apache-2.0
"""Forms of verbs: what an option makes of a verb, one file each, imported when it is called."""
