# SPDX-License-Identifier: Apache-2.0
# A bad plugin is refused with its reason, in --list-plugins and in the log, and
# the server starts without it; one that the configuration wants, and cannot
# be loaded, is an error at the start.
. ./functions.sh || exit 99
requires_program dserver
requires_plugin cat

bad=$top_builddir/tests/plugins/.libs
[ -f "$bad/dt-abi.so" ] || fail "make check at the top builds tests/plugins"
stage_server
cp "$bad"/dt-{abi,args,badname,combine,hugestruct,noentry,nofeed}.so \
    "$bad"/dt-{nomap,nostart,null,shortstage,shortstruct}.so \
    "$bad"/dt-{twosymbols,version,future}.so "$PLUGIN_DIR"
cp "$bad/dt-taken.so" "$PLUGIN_DIR/dt-zz.so"
cp "$bad/dt-trouble.so" "$PLUGIN_DIR/dt-open.so"
chmod go-w "$PLUGIN_DIR"/dt-*.so
chmod o+w "$PLUGIN_DIR/dt-open.so"
ln -s "$PLUGIN_DIR/dt-future.so" "$PLUGIN_DIR/dt-link.so"
echo 'no plugin at all' > "$PLUGIN_DIR/dt-text.so"

cat > reasons <<'END'
abi|made for plugin ABI 2, this program has 1
args|argument 2 has a space or '='
badname|the name "Bad Name" is not allowed
combine|DT_COMBINE is set, but there is no reduce stage
hugestruct|the descriptor: size is 1099511627776
link|is a symbolic link
noentry|exports the symbol dt_plugin_descriptor
nofeed|map: the required hook feed is NULL
nomap|the map stage is missing
nostart|map: the required hook start is NULL
null|dt_plugin_entry answered NULL
open|writable by others
shortstage|map: size is
shortstruct|the descriptor: size is
text|is not a shared object
twosymbols|exports the symbol dt_trouble_second
version|the version has the control byte 0x1b
zz|the name future is taken by
END

# assert_refusals FILE: each reason stands beside its file.
assert_refusals()
{
    local name reason
    while IFS='|' read -r name reason; do
        grep -aF "dt-$name.so" "$1" | grep -qF "$reason" ||
            grep -aF -B3 "dt-$name.so" "$1" | grep -qF "$reason" ||
            fail "$1 does not say of dt-$name.so: $reason"
    done < reasons
}

server_config > dtail.json
assert_status 0 "$SERVER" --cfg dtail.json --list-plugins > list
assert_refusals list
assert_contains list '^cat [0-9]'
assert_contains list '^future 1\.0'
assert_status 0 "$SERVER" --cfg dtail.json --list-plugins --json > list.json
assert_contains list.json '"offered": true'
assert_contains list.json 'made for plugin ABI 2, this program has 1'

start_server
assert_refusals server.log
stop_server

# wanted NAME TEXT: the server does not start, and says TEXT.
wanted()
{
    ADD_SERVER="\"Plugins\": { \"$1\": { \"Enable\": true } }" \
        server_config > wanted.json
    assert_status 2 timeout "$LIMIT" "$SERVER" --cfg wanted.json --port 0 \
        --logger stderr 2> wanted.err < /dev/null
    assert_contains wanted.err "$2"
}
wanted nofeed 'Server\.Plugins\.nofeed: .*dt-nofeed\.so: map: the required hook'
wanted nowhere 'Server\.Plugins\.nowhere: there is no such plugin in '

# One that is disabled is not wanted, and not offered.
ADD_SERVER='"Plugins": { "future": { "Enable": false } }' \
    server_config > disabled.json
assert_status 0 "$SERVER" --cfg disabled.json --list-plugins > list
assert_contains list 'disabled in the configuration'
