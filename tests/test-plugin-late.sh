# SPDX-License-Identifier: Apache-2.0
# What a plugin gives out in close, behind the end of its output, reaches
# nobody, though it were endless. A plugin may give out nothing at all, and one
# that has had enough is still drained.
. ./functions.sh || exit 99
. "$top_srcdir/tests/trouble.sh"
start_troubled_server

for way in serverless-turbo serverless-normal ssh-turbo ssh-normal; do
    set_way "$way"
    for stage in map reduce; do
        run_trouble 0 late close "$stage"
        assert_same small.log trouble.out
        run_trouble 0 endless close "$stage"
        assert_same small.log trouble.out
        run_trouble 0 mute feed "$stage"
        [ ! -s trouble.out ] || fail "$way: $stage is not mute"
        run_trouble 0 stop feed "$stage"
        assert_eq "$way: $stage: first" "$(head -n 1 small.log)" \
            "$(head -n 1 trouble.out)"
        assert_eq "$way: $stage: last" drained "$(tail -n 1 trouble.out)"
    done
done
check_nothing_is_left
