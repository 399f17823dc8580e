"""Engines, which tell what a machine would take: do their answers agree?"""
