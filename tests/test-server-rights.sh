# SPDX-License-Identifier: Apache-2.0
# Who may read what, both ways to run: by an ordinary user the server checks
# mode bits, ACLs and folders for who logged in, by root the kernel does; the
# answers are the same. Rules hold in both, with a colon in a pattern too.
. ./functions.sh || exit 99
. "$top_srcdir/tests/server-functions.sh"
requires_program dserver
requires_plugin cat
requires_root daemon
group=$(id -gn daemon)

# What stands here can be read by nobody, as whom the server runs when it is
# not root; what matters is what daemon may.
mkdir t
file() # NAME OWNER:GROUP MODE [ACL]
{
    echo "content of $1" > "t/$1"
    chown "$2" "t/$1"
    chmod "$3" "t/$1"
    [ -z "${4:-}" ] || setfacl -m "$4" "t/$1"
}
allowed=(all owner group colon:x)
forbidden=(owner-class group-class private ruled-out colon:y)
file all root:root 0644
file owner "daemon:root" 0404
file group "root:$group" 0044
file colon:x root:root 0644
file owner-class daemon:root 0044
file group-class "root:$group" 0404
file private nobody:root 0600
file ruled-out root:root 0644
file colon:y root:root 0644
if command -v setfacl > /dev/null && setfacl -m u:daemon:r t/all 2> err; then
    setfacl -b t/all
    allowed+=(acl-user acl-group)
    forbidden+=(acl-denied acl-mask)
    file acl-user nobody:root 0600 u:daemon:r
    file acl-group nobody:root 0600 "g:$group:r"
    file acl-denied nobody:root 0644 u:daemon:-
    file acl-mask nobody:root 0600 u:daemon:r,m::-
fi
# Folders count, too.
for mode in 755 711 700; do
    mkdir t/in-$mode
    file "in-$mode/f" root:root 0644
    chown nobody: t/in-$mode
    chmod $mode t/in-$mode
done
allowed+=(in-755/f in-711/f)
forbidden+=(in-700/f)

ADD_SERVER='"MaxConcurrentCats": 1, "Permissions": {"Default": [], "Users": {"daemon": [
  "^'$T'/t/[a-z0-9/-]*$", "^'$T'/t/colon:x", "!ruled-out"]}}'
requests()
{
    local name id=1
    hello
    for name in "${allowed[@]}" "${forbidden[@]}"; do
        cat_request $((id++)) "$T/t/$name"
    done
}
for way in no yes; do
    SERVER_AS_ROOT=$way
    [ $way = no ] || chown -R root: "$T/server"
    TEST_USER=nobody
    start_server
    allow_key "$HOME/.ssh/id_ed25519.pub" daemon
    requests | ssh_dtail daemon "$HOME/.ssh/id_ed25519" > out
    for name in "${allowed[@]}"; do
        assert_contains out "content of $name"
    done
    for name in "${forbidden[@]}"; do
        assert_lacks out "content of $name"
    done
    # Whose list of rules is empty reads nothing.
    [ $way = yes ] || {
        (hello && cat_request 1 "$T/t/all") |
            ssh_dtail nobody "$HOME/.ssh/id_ed25519" > out
        assert_lacks out 'content of'
        # The reason stands in the log, not on the wire.
        wait_until log_has 'group-class: mode bits or ACL forbid it'
        wait_until log_has 'in-700/f: folder: .*in-700: mode bits or ACL'
    }
    wait_until log_has 'rule "!ruled-out" forbids it'
    wait_until log_has 'colon:y: no permission rule allows it'
    stop_server
    : > "$T/server.log"
done
