# SPDX-License-Identifier: Apache-2.0
# The workloads of the reports that were published on the Go DTail, as rows of
# bench/run, which sources this: 100 MB, several shares of hits, several
# aggregates; serverless and over SSH; turbo and normal.
# shellcheck disable=SC2154

# A log of which so many lines of 100 hold the word "hitPERCENT".
reports_log=$data/log-hits-$size.log
if wants_any 'report-grep-*' && [ ! -f "$reports_log" ]; then
    awk '{
        print $0 (NR % 100 ? "" : " hit1") (NR % 10 ? "" : " hit10") \
            (NR % 2 ? "" : " hit50") (NR % 10 ? " hit90" : "")
    }' "$small" > "$reports_log"
fi

# beside NAME TARGET OURS THEIRS...: a row for each of the ordinary tools that
# are here, named NAME-TOOL; of the Go program, where BENCH_GO_DTAIL names the
# folder of its binaries. OURS begins with the name of the client.
beside()
{
    local name=$1 target=$2 client=${3%% *} arguments=${3#* } theirs
    shift 3
    for theirs; do
        ! command -v "${theirs%% *}" > /dev/null ||
            row "$name-${theirs%% *}" "$target" -p \
                "exec $(program_path "$client") --cfg none $arguments" "$theirs"
    done
    [ ! -x "${BENCH_GO_DTAIL:-/nowhere}/$client" ] ||
        row "$name-go" "" -p \
            "exec $(program_path "$client") --cfg none $arguments" \
            "exec $BENCH_GO_DTAIL/$client --cfg none $arguments"
}

# over_ssh NAME CLIENT ARGUMENTS THEIRS: the same, both at this machine.
over_ssh()
{
    wants_any "$1" || return 0
    start_both
    row "$1" "" -p \
        "exec $(program_path "$2") --cfg none ${SSH_ARGS[*]} $3" \
        "exec $ssh_command $4"
}

report_grep() # SHARE PATTERN FILE
{
    local ours="dgrep --plain --regex '$2' --files $3"
    beside "report-grep-$1" "" "$ours" "rg --no-config '$2' $3" \
        "grep -F '$2' $3"
    beside "report-grep-$1-normal" "" "$ours --turbo=no" \
        "rg --no-config '$2' $3"
    over_ssh "report-grep-$1-ssh" dgrep "--plain --regex '$2' --files $3" \
        "\"grep -F '$2' $3\""
}

# report_map NAME COLUMNS AWK-ACTION AWK-RESULT MILLER-ARGUMENTS
report_map()
{
    local query="from STATS select host,$2 group by host"
    local awk="mawk $awk_line; v = \$18; $3 } END { for (h in n) print h, $4 }' $stats"
    local ours="dmap --output csv --files $stats --query \"$query\""
    beside "report-map-$1" "" "$ours" "$awk" \
        "mlr --inidx --ifs '|' --ojson put -q '$5' $stats"
    beside "report-map-$1-normal" "" "$ours --turbo=no" "$awk"
    if wants_any "report-map-$1-ssh"; then
        start_both
        echo "exec $awk" > "$T/$1.sh"
        over_ssh "report-map-$1-ssh" dmap "${ours#dmap }" "sh $T/$1.sh"
    fi
}

beside report-cat "" "dcat --plain --files $small" "cat $small"
beside report-cat-normal "" "dcat --turbo=no --plain --files $small" "cat $small"
over_ssh report-cat-ssh dcat "--plain --files $small" "cat $small"
report_grep 0.07 'user999 ' "$small"
report_grep 19 ERROR "$small"
for share in 1 10 50 90; do
    report_grep $share "hit$share" "$reports_log"
done
packed=$data/log-tenth-$size
if wants report-zgrep-zgrep; then
    [ -f "$packed.gz" ] || gzip -c "$small" > "$packed.gz"
fi
beside report-zgrep "" "dgrep --plain --regex ERROR --files $packed.gz" \
    "zgrep ERROR $packed.gz"

# what miller makes of the line that genlog writes: fields "name=value"
mlr_fields='h = splitax($11, "=")[2]; v = float(splitax($14, "=")[2]);'
report_map count 'count(\$line)' '' 'n[h]' \
    "$mlr_fields @n[h] += 1; end { emit @n, \"h\" }"
report_map sum-avg 'sum(took),avg(took)' 's[h] += v' 's[h], s[h] / n[h]' \
    "$mlr_fields @n[h] += 1; @s[h] += v; end { emit (@n, @s), \"h\" }"
report_map min-max 'min(took),max(took)' \
    'if (n[h] == 1 || v < a[h]) a[h] = v; if (n[h] == 1 || v > z[h]) z[h] = v' \
    'a[h], z[h]' \
    "$mlr_fields @a[h] = min(@a[h], v); @z[h] = max(@z[h], v); end { emit (@a, @z), \"h\" }"
