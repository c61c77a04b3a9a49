# SPDX-License-Identifier: Apache-2.0
# An error or a wrong answer from any hook of either stage ends that one query
# with a message that names it, status 1, and nobody else notices.
. ./functions.sh || exit 99
. "$top_srcdir/tests/trouble.sh"
start_troubled_server

# refuse WHAT MESSAGE: HOOK stands for the hook.
refuse()
{
    local hook stage
    for hook in start feed finish drain; do
        for stage in map reduce; do
            run_trouble 1 "$1" "$hook" "$stage"
            assert_contains trouble.err "${2//HOOK/$hook}"
        done
    done
}

for way in serverless-turbo serverless-normal ssh-turbo ssh-normal; do
    set_way "$way"
    refuse error 'trouble: HOOK gives up'
    refuse silent 'plugin trouble: HOOK failed: limit exceeded'
    refuse answer 'plugin trouble: HOOK answered 77, which it may not'
    refuse negative 'plugin trouble: HOOK answered -77, which it may not'
    refuse wrong 'plugin trouble: HOOK answered [12], which it may not'
done
check_nothing_is_left
