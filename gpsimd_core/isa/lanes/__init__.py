"""Values: one scalar function each over bit patterns, plain here and compiled by `isa.lane.compiled`."""
