"""The cache of outputs under two users that die at random, and entries that rot meanwhile."""
