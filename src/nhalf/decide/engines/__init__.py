"""Who answers what a machine would take: do their answers agree?"""
