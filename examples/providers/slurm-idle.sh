#!/bin/sh
# Lends an idle partition, eight jobs of two cores at most, for four hours each.
exec souk provide slurm --partition idle --cores 2 --memory 6G --max 8 --price 0.3 "$@"
