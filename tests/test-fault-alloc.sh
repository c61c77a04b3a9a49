# SPDX-License-Identifier: Apache-2.0
# Some of the allocations of a serverless client, which is worker and client in
# one, fail: torture.sh. make torture has all, and those of the server.
TORTURE_STEP=${TORTURE_STEP:-41} TORTURE_FIRST=${TORTURE_FIRST:-3}
TORTURE_VICTIMS=${TORTURE_VICTIMS-}
. "${BASH_SOURCE[0]%/*}/torture.sh"
