#!/bin/sh
# Makes configure from configure.ac.
set -e
cd "$(dirname "$0")"
exec autoreconf --install --force --warnings=all,no-obsolete
