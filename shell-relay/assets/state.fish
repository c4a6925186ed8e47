# Writes into file $argv[1] what this fish is like, for receipts and undo: parts with a NUL behind each, at the end the directory
# stack. Builtins only, and no value of a variable that is not exported.
function __cohab_state
    begin
        builtin printf '%s\0%s\0' "$PWD" "$umask"
        # Not `set -xL`: its quotes cannot be read again.
        for __cohab_name in (builtin set -nx)
            builtin string escape -n -- $__cohab_name =$$__cohab_name
        end
        builtin printf '\0'
        builtin functions -n
        builtin printf '\0'
        # A function before fish 3.6, and then nothing is told.
        builtin abbr --list
        builtin printf '\0'
        builtin set -ng
        builtin printf '\0'
        builtin set -nU
        builtin printf '\0'
        builtin jobs -g
        builtin printf '\0%s' $dirstack .
    end >$argv[1] 2>/dev/null
end
