# SPDX-License-Identifier: Apache-2.0
# What a plugin gives out in close, behind the end of its output, reaches
# nobody, though it were endless; and a plugin may give out nothing at all.
. ./functions.sh
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
    done
done
check_nothing_is_left
