# SPDX-License-Identifier: Apache-2.0
"""The Livermore kernels: their bounds beside what compilers make of them here."""
