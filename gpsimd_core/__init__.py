"""Decode, validate and execute AWS Neuron TPB instruction bundles, bit for bit, for any hardware generation."""
