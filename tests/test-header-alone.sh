# SPDX-License-Identifier: Apache-2.0
# include/dtail/plugin.h compiles alone, without warnings, as C99, C11 and
# C++11, and includes only headers of the standard library.
. ./functions.sh || exit 99
requires cc c++

header=$top_srcdir/include/dtail/plugin.h
cat > alone.c <<END
#include <dtail/plugin.h>
extern int use(void);
int use(void) { return (int)sizeof(struct dt_plugin) + dt_strerror(0)[0]; }
END
cp alone.c alone.cc

for std in c99 c11 gnu17; do
    cc -std=$std -Wall -Wextra -pedantic -Wstrict-prototypes -Werror \
        -I"$top_srcdir/include" -c alone.c -o "$std.o"
done
for std in c++11 c++17; do
    c++ -std=$std -Wall -Wextra -pedantic -Werror \
        -I"$top_srcdir/include" -c alone.cc -o "$std.o"
done

grep -oE '^#include .*' "$header" | sort > includes
grep -vE '^#include <std(arg|bool|def|int|io)\.h>$|^#include <string\.h>$' \
    includes > others || true
[ ! -s others ] || fail "includes $(cat others)"
