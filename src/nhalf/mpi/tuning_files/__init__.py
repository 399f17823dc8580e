# SPDX-License-Identifier: Apache-2.0
"""The files by which libraries are told what to take, in each library's own form."""
