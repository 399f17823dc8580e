"""Drawing code shared by several panels."""
