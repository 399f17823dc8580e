# SPDX-License-Identifier: Apache-2.0
"""The communication pattern of a program, by its established name if it has one."""
