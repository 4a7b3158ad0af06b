"""The instruction set as a library: enums, formats, layouts, lanes, rules and instruction families.

Pure: no plugin manager, no Machine, no files. A generation plugin takes from it row by row.
"""
