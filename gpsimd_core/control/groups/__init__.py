"""The instruction groups: each module holds its rows and the lane that executes them."""
