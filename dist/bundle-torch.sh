#!/bin/sh
# Starts souk-torch with the libraries, the C library and the loader that came with it, wherever this
# folder lies.
here=$(readlink -f "$0") && here=${here%/bin/*}
exec "$here/lib/ld-linux-x86-64.so.2" --argv0 souk-torch --library-path "$here/lib" "$here/lib/souk-torch" "$@"
