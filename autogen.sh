#!/bin/sh
# Makes configure from configure.ac.
set -e
cd "$(dirname "$0")"
autoreconf --install --force --warnings=all,no-obsolete
# Each probe removes a file named "core" in the current folder. In a build
# inside the source that is a folder, and rm would say so a hundred times.
sed -i 's/rm -f core /rm -f /' configure
