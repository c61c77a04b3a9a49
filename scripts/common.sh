# SPDX-License-Identifier: Apache-2.0
# Sourced by the scripts, which set top: packages, and a build outside the
# source.
# shellcheck disable=SC2154

die()
{
    echo "$0: $*" >&2
    exit 1
}

# Runs a command as root.
as_root()
{
    if [ "$(id -u)" -eq 0 ]; then
        "$@"
    elif command -v sudo >/dev/null; then
        sudo -- "$@"
    else
        die "needs root or sudo for: $*"
    fi
}

# install_packages STAGE...: what scripts/packages lists for these stages and
# the machine lacks. Asks apt-get only if something is missing.
install_packages()
{
    local stage name log wanted=" $* " missing=()

    while read -r stage name _; do
        case $stage in '' | '#'*) continue ;; esac
        case $wanted in *" $stage "*) ;; *) continue ;; esac
        if [ "$(dpkg-query -W -f '${db:Status-Status}' "$name" \
            2>/dev/null)" != installed ]; then
            missing+=("$name")
        fi
    done < "$top/scripts/packages"
    [ ${#missing[@]} -eq 0 ] && return
    command -v apt-get >/dev/null ||
        die "not a Debian system; please install: ${missing[*]}"
    echo "installing: ${missing[*]}"
    log=$(mktemp)
    if ! as_root env DEBIAN_FRONTEND=noninteractive sh -ec '
        apt-get -q -o DPkg::Lock::Timeout=300 update
        apt-get -q -y -o DPkg::Lock::Timeout=300 \
            install --no-install-recommends "$@"' sh "${missing[@]}" \
        > "$log" 2>&1; then
        tail -n 30 "$log" >&2
        die "apt-get failed"
    fi
    rm -f "$log"
}

# build_in FOLDER [CONFIGURE-ARGUMENTS...]: configures there, unless it was
# configured the same way before, and builds with the programs of the tests.
build_in()
{
    local dir=$1 jobs
    shift
    jobs=$(getconf _NPROCESSORS_ONLN)
    [ -x "$top/configure" ] || (cd "$top" && ./autogen.sh >/dev/null)
    mkdir -p "$dir"
    if [ ! -f "$dir/Makefile" ] ||
        [ "$(cat "$dir/configured-with" 2>/dev/null)" != "$*" ]; then
        (cd "$dir" && "$top/configure" "$@" > configure.log 2>&1) || {
            tail -n 30 "$dir/configure.log" >&2
            die "configure failed, see $dir/config.log"
        }
        echo "$*" > "$dir/configured-with"
    fi
    make -C "$dir" -j"$jobs" --no-print-directory > "$dir/make.log" 2>&1 || {
        grep -E -A5 'error|Error' "$dir/make.log" | tail -n 60 >&2
        die "make failed, see $dir/make.log"
    }
}
