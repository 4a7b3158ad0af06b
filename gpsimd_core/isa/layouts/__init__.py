"""Operand layouts, one module each."""
