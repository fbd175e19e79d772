#!/bin/sh
# Lends up to four pods of a cluster's namespace.
exec souk provide kubernetes --namespace souk --image "${IMAGE:?an image with souk}" --cores 4 --memory 8G --max 4 "$@"
