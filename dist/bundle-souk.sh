#!/bin/sh
# Starts souk with the libraries, the C library and the loader that came with it, wherever this
# folder lies. Nothing of that reaches the programs it starts.
here=$(readlink -f "$0") && here=${here%/bin/*}
# Where this distribution keeps the certificates of authorities, if not where Debian does.
if [ -z "${SOUK_CA:-}" ] && [ ! -e /etc/ssl/certs/ca-certificates.crt ]; then
  for file in /etc/pki/tls/certs/ca-bundle.crt /etc/ssl/ca-bundle.pem /etc/ssl/cert.pem; do
    if [ -e "$file" ]; then
      export SOUK_CA="$file"
      break
    fi
  done
fi
exec "$here/lib/ld-linux-x86-64.so.2" --argv0 souk --library-path "$here/lib" "$here/lib/souk" "$@"
