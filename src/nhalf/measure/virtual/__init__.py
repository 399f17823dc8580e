# SPDX-License-Identifier: Apache-2.0
"""Programs on a machine that is not there: the MPI library's own code, in virtual time."""
