"""Sites: hosts, placement, allocation, health, and starting processes on them."""
