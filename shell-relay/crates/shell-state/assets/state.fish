# Writes into file $argv[1] what this fish is like, for receipts, undo and what names stand for: parts with a NUL behind each, at the
# end the directory stack. Builtins only, and of variables that are not exported only the values that decide what runs.
function __cohab_state
    begin
        builtin printf '%s\0%s\0' "$PWD" "$umask"
        # Not `set -xL`: its quotes cannot be read again.
        for __cohab_name in (builtin set -nx)
            builtin string escape -n -- $__cohab_name =$$__cohab_name
        end
        builtin printf '\0'
        set -l __cohab_names (builtin functions -n)
        builtin printf '%s\n' $__cohab_names
        builtin printf '\0'
        # A function before fish 3.6, and then nothing is told.
        builtin abbr --show
        builtin printf '\0'
        # Where those come from that run unasked, or at each prompt: `ORIGINS` of the reader has the same names. Early: the first time
        # they are read from their files.
        for __cohab_name in cd diff dirs egrep fgrep grep help history isatty ls man \
                fish_prompt fish_right_prompt fish_mode_prompt fish_title fish_command_not_found
            builtin functions -D -- $__cohab_name
        end
        builtin printf '\0'
        builtin set -ng
        builtin printf '\0'
        builtin set -nU
        builtin printf '\0'
        builtin jobs -g
        builtin printf '\0'
        for __cohab_name in fish_function_path fish_complete_path fish_user_paths fish_key_bindings fish_features CDPATH IFS
            builtin set -q $__cohab_name; and builtin string escape -n -- $__cohab_name =$$__cohab_name
        end
        builtin printf '\0'
        builtin functions --handlers
        builtin printf '\0'
        builtin bind --user
        builtin printf '\0'
        __cohab_unfiled $__cohab_names
        test -z "$__cohab_mine"; or builtin functions -- $__cohab_mine
        builtin printf '\0%s' $dirstack .
    end >$argv[1] 2>/dev/null
end

# __cohab_mine: the functions among $argv that no file holds. To ask for one of the others would read its file.
function __cohab_unfiled
    test "$argv" != "$__cohab_unfiled"; or return
    set -g __cohab_unfiled "$argv"
    set -g __cohab_mine
    set -l files (builtin string replace -r '^.*/(.*)\.fish$' '$1' -- $fish_function_path/*.fish)
    for name in $argv
        contains -- $name $files; or set -ga __cohab_mine $name
    end
end
