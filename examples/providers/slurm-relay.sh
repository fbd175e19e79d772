#!/bin/sh
# For a cluster whose nodes have no internet: run this on the login node, whose inner address is $1.
# The market is the one you are logged in to.
set -eu
inner=${1:?the login node\'s address as the nodes see it}
souk relay --listen "$inner:7071" &
trap 'kill $!' EXIT
souk provide slurm --partition idle --max 8 --via "http://$inner:7071"
