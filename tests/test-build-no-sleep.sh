# SPDX-License-Identifier: Apache-2.0
# No sleep stands for an event anywhere in the product's code.
. ./functions.sh || exit 99

sources()
{
    find "$top_srcdir"/core "$top_srcdir"/common "$top_srcdir"/plugins \
        "$top_srcdir"/clients -name '*.[ch]'
}

calls='(^|[^A-Za-z0-9_])(sleep|usleep|nanosleep|clock_nanosleep)[[:space:]]*\('

sources > files
[ "$(wc -l < files)" -ge 20 ] || fail "only $(wc -l < files) sources found"

# The search itself finds what it is to find.
echo 'int f(void) { return usleep (20); }' > seeded.c
assert_contains seeded.c "$calls"

if xargs grep -nE "$calls" < files > found; then
    cat found >&2
    fail "waits by the clock"
fi
