"""The ledger: predictions that were recorded, and how far what was measured later is from them."""
