#!/bin/sh
# Makes configure from configure.ac.
set -e
cd "$(dirname "$0")"
autoreconf --install --force --warnings=all,no-obsolete
# configure removes a file named "core" after each probe; here that is a
# folder, and each time it would say so.
sed -i 's/rm -f core /rm -f /' configure
