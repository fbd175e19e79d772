#!/bin/sh
# What a market serves at /lend when it has no bundle to give.
echo 'souk: this market has no bundle of souk to give.' >&2
echo '  Its operator makes one with `make package`, or names one: souk serve --bundle FILE.' >&2
echo '  Who has souk can lend without it: SOUK_TOKEN=... souk lend --server MARKET' >&2
exit 1
