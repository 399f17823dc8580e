# SPDX-License-Identifier: Apache-2.0
"""Who answers what a machine would take: do their answers agree?"""
