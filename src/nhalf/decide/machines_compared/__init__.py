# SPDX-License-Identifier: Apache-2.0
"""Two machines compared, as their files describe them: times, parameters, rows and words."""
