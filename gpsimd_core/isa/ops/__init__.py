"""Instruction families, one module each: operands and preconditions above, effect below."""
