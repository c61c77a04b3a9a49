# SPDX-License-Identifier: Apache-2.0
# On a terminal interim tables replace each other, also after the size has
# changed, and stand below what else was written: statistics at Ctrl-C, what
# the shell says when the program was stopped, notes. The final result is there
# at the second Ctrl-C. Nothing of that is in a pipe.
. ./functions.sh
requires python3
requires_program dserver
requires_plugin mapr

mkfifo input
exec 4<> input # so that it does not end before it is told to
export TERMINAL_INPUT=$T/input

# on_terminal COLUMNS ROWS PROGRAM ARGS... < steps
on_terminal()
{
    local size=("$1" "$2") program
    program=$(program_path "$3")
    shift 3
    python3 "$top_srcdir/tests/terminal.py" "${size[@]}" "$LIMIT" \
        "${wrapper[@]}" "$program" --cfg none "${WAY_ARGS[@]}" "$@" \
        >&$report_fd 2>&1 || fail "terminal: $*"
}

query='select k,count(*) group by k interval 1 logformat generickv'
long='select k,count(*),last(text) group by k interval 1
    logformat generickv'

# ---- one after the other at one place ----

on_terminal 80 24 dmap --query "$query" <<END
run echo 'k=a' > input
expect a \|        1
run echo 'k=a' > input
expect a \|        2
times 1 ^select k,count
times 1 ^ k \| count
lacks a \|        1
# The size changes, and no line is longer than both: still at that place.
resize 60 20
run echo 'k=a' > input
expect a \|        3
times 1 ^select k,count
resize 100 30 reflow
run echo 'k=b' > input
expect b \|        1
times 1 ^select k,count
# Statistics stay, and the next table stands below.
send \\x03
expect Hit Ctrl\+C again to exit\n Connection stats: .*\n
run echo 'k=b' > input
expect b \|        2
times 2 ^select k,count
expect (?s)b \|        1 *\n.*Hit Ctrl.*b \|        2
# From there on at that place.
run echo 'k=b' > input
expect b \|        3
times 2 ^select k,count
lacks b \|        2
# Stopped and gone on with: the shell has written meanwhile.
signal CONT
run echo 'k=c' > input
expect c \|        1
times 3 ^select k,count
# The final result at the second Ctrl-C.
run echo 'k=c' > input
drained input
interrupt 130
expect (?s)Connection stats.*Connection stats.*a \| +3 *\n +b \| +3 *\n +c \| +2
END

# ---- lines that wrap ----

for reflow in '' reflow; do
    on_terminal 50 30 dmap --query "$long" <<END
run printf 'k=a|text=%060d\n' 1 > input
expect a \|        1
run echo 'k=a' > input
expect a \|        2
times 1 ^select k,count
lacks a \|        1
# Nobody knows how the terminal wraps them now: the table stands below.
resize 90 30 $reflow
run echo 'k=a' > input
expect a \|        3
times 2 ^select k,count
expect a \|        2
run echo 'k=a' > input
expect a \|        4
times 2 ^select k,count
lacks a \|        3
# Higher than the screen: below as well.
resize 90 4
run echo 'k=a' > input
expect a \|        5
times 3 ^select k,count
signal TERM
end 130
END
done

# ---- what is wide, and what is no character ----

on_terminal 20 24 dmap --query "$query" <<END
run printf 'k=\346\227\245\346\234\254\346\227\245\346\234\254\346\227\245|v=1\n' > input
expect \|        1
run printf 'k=\346\227\245\346\234\254\346\227\245\346\234\254\346\227\245\n' > input
expect \|        2
lacks \|        1
signal TERM
end 130
END

# ---- notes stand below the final result ----

on_terminal 80 24 dmap --query \
    'select max(cout),k group by k interval 1 logformat generickv' <<END
run printf 'k=a|count=7\n' > input
expect 0.000000 \| a
signal TERM
end 130
expect (?s)0.000000 \| a.*cout was on no line; did you mean count
times 1 ^select
END

# ---- a followed file, at a server too ----

check()
{
    : > log
    chmod 644 log
    unset TERMINAL_INPUT
    # When following began cannot be seen: lines come until a table shows them.
    on_terminal 80 24 dtail --query \
        'select last($line) group by $hostname interval 1' "$T/log" <<END
until first :: echo first >> log
run echo second >> log
expect second
times 1 ^select last
lacks first
signal TERM
end 0
END
}
run_both_ways check
