# SPDX-License-Identifier: Apache-2.0
"""What unchanged programs say: started with a library that counts, collected into tables."""
