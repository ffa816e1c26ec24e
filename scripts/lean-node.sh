#!/bin/sh
# Runs Node.js with less memory than it takes by default: `npm run start:lean`. The options are none that Node.js documents. Decision 56 has
# what each gives. Measure again after an upgrade of Node.js.
set -eu

# Two heaps of the C library instead of eight for each core.
export MALLOC_ARENA_MAX="${MALLOC_ARENA_MAX:-2}"
# The C library returns free memory at the end of a heap to the system from 128 KiB on.
export MALLOC_TRIM_THRESHOLD_="${MALLOC_TRIM_THRESHOLD_:-131072}"
# The C library asks for large pages: without them, getting 19 MiB for each password hash anew costs a fifth of the sign-ins.
export GLIBC_TUNABLES="${GLIBC_TUNABLES:-glibc.malloc.hugetlb=1}"

options=
# Young objects have two times 4 MiB. Without the option Node.js gives them two times 64, or two times 16 under a memory limit
# (docs/performance.md). With a thousand clients waiting, the service answers about a third less.
options="$options --max-semi-space-size=4"
# The heap of old objects grows by half between two collections instead of by four fifths.
options="$options --heap-growing-percent=50"
# V8's middle compiler leaves gaps in the C library's heap. Without it the first seconds after the start are slower.
options="$options --no-maglev"
# A collection of young objects has so little to do here that waking three threads for it costs more time than it saves.
options="$options --no-parallel-scavenge"

# shellcheck disable=SC2086 # a word each
exec node $options "$@"
