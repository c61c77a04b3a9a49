# SPDX-License-Identifier: Apache-2.0
# A CSV file that is followed from its end is read by the header that stands
# at its begin, long before what is followed.
. ./functions.sh
. "$top_srcdir/tests/dtail-functions.sh"
requires_plugin mapr

query='select city,sum(n) group by city interval 1 outfile'

# Appends rows until the result file says something: when following began
# cannot be seen from outside. Then every row counts.
has_result()
{
    grep -qs "^$1," result.csv || {
        echo "$1,1,x" >> log.csv
        return 1
    }
}

# A new file under the name, and one cut and written anew: their header is no
# row, their columns stand in another order, the old file's rows still count.
rotated()
{
    exec 5>> log.csv
    echo late,1000,x >&5
    mv log.csv log.csv.1
    printf 'rest,n,city\nz,10000,lima\n' > new.csv
    chmod 644 new.csv
    mv new.csv log.csv
    wait_until grep -qsx 'lima,10000.000000' result.csv
    wait_until grep -qsx 'late,1000.000000' result.csv
    # Its writer has not noticed yet.
    echo late,2000,x >&5
    exec 5>&-
    wait_until grep -qsx 'late,3000.000000' result.csv
    echo z,20000,lima >> log.csv
    wait_until grep -qsx 'lima,30000.000000' result.csv
    printf 'n,city\n100000,bern\n' > log.csv
    wait_until grep -qsx 'bern,100000.000000' result.csv
    echo 200000,bern >> log.csv
    wait_until grep -qsx 'bern,300000.000000' result.csv
    sed 1d result.csv > rows
    assert_lacks rows '^(city|n|rest|[0-9]+|z|x)?,'
}

check()
{
    local format
    for format in csv rfc4180; do
        rm -f result.csv
        # The header, blank lines in front, and more than one block of rows.
        { printf '\ncity,n,rest\n'; seq -f 'old,%.0f,y' 60000; } > log.csv
        chmod 644 log.csv
        start_client dtail --shutdownAfter "$LIMIT" \
            --query "$query $T/result.csv logformat $format" "$T/log.csv"
        wait_until has_result rome
        wait_until has_result oslo
        assert_eq "$format: header" 'city,sum(n)' "$(head -n 1 result.csv)"
        assert_lacks result.csv '^(old|y),'
        assert_lacks result.csv ',$'
        rotated
        kill -TERM "$CLIENT_PID"
        wait_client || true
        nothing_at_server
    done
}
run_both_ways check
