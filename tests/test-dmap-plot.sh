# SPDX-License-Identifier: Apache-2.0
# Pictures of results: bars, and a line over bucket(), in terminals of 40, 80
# and 132 columns, which they fit into, and in a pipe (80); legible without
# colour. The expected ones stand in golden/; GOLDEN=write writes them anew.
. ./functions.sh
requires awk python3
requires_plugin mapr
golden=$top_srcdir/tests/golden

awk 'BEGIN {
    split("Reykjavik|Rome|São Paulo|a rather long name of a place, cut off",
        city, "|")
    for (i = 0; i < 2000; i++)
        printf "time=2026-10-02T%02d:%02d:%02d|city=%s|n=%d\n", i / 600,
            i / 10 % 60, i % 10 * 6, city[i % 4 + 1], i * i % 97 * (i % 4 + 1)
}' > places
bars='select sum(n),city group by city order by sum(n) logformat generickv'
line='select count(n),sum(n) where n > 100 group by bucket(time,60) limit 3
    logformat generickv'

# same NAME: the picture, without the table above it, is the expected one.
same()
{
    sed '1,/^$/d' out > picture
    [ "${GOLDEN:-}" != write ] || cp picture "$golden/$1"
    assert_same "$golden/$1" picture
}

# fits COLUMNS
fits()
{
    python3 -c '
import sys
wide = [l for l in open("picture", encoding="utf-8") if len(l) - 1 > int(sys.argv[1])]
sys.exit("too wide: %s" % wide if wide else 0)' "$1" || fail "width $1"
}

# In a terminal of that size, without colours and with them.
on_terminal() # COLUMNS COLOR QUERY
{
    python3 "$top_srcdir/tests/terminal.py" "$1" 60 "$LIMIT" \
        "${wrapper[@]}" "$(program_path dmap)" --cfg none --color "$2" \
        --plot --query "$3" "$T/places" <<END >&$report_fd || fail "terminal"
end 0
save $T/out
END
}

for width in 40 80 132; do
    for color in never always; do
        on_terminal $width $color "$bars"
        same plot-bars-$width.txt
        fits $width
        on_terminal $width $color "$line"
        same plot-line-$width.txt
        fits $width
    done
done

for kind in bars line; do
    run_client dmap --plot --query "${!kind}" "$T/places" > out
    same plot-$kind-80.txt
    assert_lacks out $'\033'
done

# Values below 0 are bars with a sign, and no curve.
printf 'time=1|k=a|n=-3\ntime=2|k=b|n=4\ntime=3|k=c|n=-1\n' > below
run_client dmap --plot --query \
    'select sum(n),k group by k logformat generickv' "$T/below" > out
same plot-below-bars.txt
run_client dmap --plot --query \
    'select sum(n) group by bucket(time,1) logformat generickv' "$T/below" > out
same plot-below-line.txt
# No number in it, no rows: no picture.
run_client dmap --plot --query 'select k group by k logformat generickv' \
    "$T/below" > out
assert_lacks out '█'
run_client dmap --plot --query \
    'select sum(n) where n > 9 group by k logformat generickv' "$T/below" > out
assert_eq "no rows" '' "$(cat out)"
