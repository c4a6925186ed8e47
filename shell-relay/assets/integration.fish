# Ties an interactive fish (3.4 or later) to cohab. Read after the user's own files. Marks go to /dev/tty.
string match -qr '^(3\.([4-9]|[1-9][0-9])|[4-9]|[1-9][0-9])' -- $version; or exit
set -g __cohab_nonce @NONCE@
set -g __cohab_dir @DIR@
set -g __cohab_id ''
set -g __cohab_cmd ''
set -g __cohab_line ''
set -g __cohab_point 0
set -g __cohab_mode default
set -g __cohab_jobs 0
set -g __cohab_stub ' __cohab_pre; eval $__cohab_cmd; __cohab_e $status'

function __cohab_m
    builtin printf '\e]7391;%s;%s;%s\a' $__cohab_nonce $fish_pid "$argv[1]" >/dev/tty
end

function __cohab_prompt --on-event fish_prompt
    __cohab_m B
end

function __cohab_preexec --on-event fish_preexec
    __cohab_m C
end

function __cohab_postexec --on-event fish_postexec
    set -l st $status
    __cohab_m "D;$__cohab_id;$st;"(string escape --style=url -- "$PWD")
    # A leading blank keeps the stub out of the file, but one Up away.
    test -z "$__cohab_id"; or builtin history delete --exact --case-sensitive -- $__cohab_stub
    set -g __cohab_id ''
end

function __cohab_stopped_jobs
    builtin count (builtin jobs | string match -e stopped)
end

function __cohab_pre
    set -g __cohab_jobs (__cohab_stopped_jobs)
    test -e $__cohab_dir/wantenv; and __cohab_state $__cohab_dir/env.$__cohab_id.before
    __cohab_m "O;$__cohab_id"
end

function __cohab_e
    set -l st $argv[1]
    set -l stopped ''
    test (__cohab_stopped_jobs) -le $__cohab_jobs; or set stopped ';stopped'
    __cohab_m "E;$__cohab_id;$st;"(string escape --style=url -- "$PWD")$stopped
    test -e $__cohab_dir/wantenv; and __cohab_state $__cohab_dir/env.$__cohab_id
    return $st
end

function __cohab_stash
    set -g __cohab_line (builtin commandline -b) # one element a line: nothing else keeps an empty last one
    set -g __cohab_point (builtin commandline -C)
    set -g __cohab_mode $fish_bind_mode # vi command mode is to come back with the line
    builtin commandline --paging-mode; and builtin commandline -f cancel
    builtin commandline -r ''
    __cohab_m "S;"(string length -- "$__cohab_line") # the lines joined by blanks
end

function __cohab_take # a question: one Up away where fish can do that
    set -l line (builtin commandline -b | string collect)
    test -z "$line"; or string match -q '3.*' -- $version; or builtin history append -- $line 2>/dev/null
    __cohab_stash
end

function __cohab_load
    begin
        read -g __cohab_id
        read -z -g __cohab_cmd
    end <$__cohab_dir/cmd
    __cohab_m "L;$__cohab_id"
    builtin commandline -r -- $__cohab_stub
    builtin commandline -f execute
end

function __cohab_restore # what was typed meanwhile stands at the cursor
    set -l typed (builtin commandline -b | string collect)
    set -l at (builtin math $__cohab_point + (builtin commandline -C))
    builtin commandline -r -- "$__cohab_line[1]"
    set -e __cohab_line[1]
    for line in $__cohab_line
        builtin commandline -a -- \n"$line"
    end
    builtin commandline -C $__cohab_point
    test -z "$typed"; or builtin commandline -i -- $typed
    builtin commandline -C $at
    set -g __cohab_line ''
    if test "$__cohab_mode" = default -a "$fish_bind_mode" = insert
        set fish_bind_mode default
        builtin commandline -f repaint-mode
    end
end

function __cohab_fresh
    builtin commandline -r ''
    builtin commandline -f execute
end

function __cohab_clear
    builtin commandline -r ''
    __cohab_m 'S;0'
end

function __cohab_ask # a line beyond bounds is cut, so that it is known at least how it begins
    set -l line (builtin commandline -b | string collect)
    test (string length -- "$line") -le 4096; or set line (string sub -l 4096 -- "$line" | string collect)" [...]"
    set -l text (string escape --style=url -- "$line") # empty: quoted below, or the word vanishes
    __cohab_m "$argv;"(builtin commandline -C)";$text"
end

function __cohab_query
    __cohab_ask Q
end

function __cohab_enter
    if builtin commandline --paging-mode; or builtin commandline --search-mode; or test -z "$(builtin commandline -b)"
        builtin commandline -f execute
    else
        __cohab_ask N
    end
end

for __cohab_k in default insert visual replace replace_one
    builtin bind -M $__cohab_k \x1er1 __cohab_stash
    builtin bind -M $__cohab_k \x1er2 __cohab_load
    builtin bind -M $__cohab_k \x1er4 __cohab_restore
    builtin bind -M $__cohab_k \x1er5 __cohab_query
    builtin bind -M $__cohab_k \x1er6 __cohab_fresh
    builtin bind -M $__cohab_k \x1er7 'commandline -f execute'
    builtin bind -M $__cohab_k \x1er8 __cohab_clear
    builtin bind -M $__cohab_k \x1er9 __cohab_take
    # Stands for Enter at the prompt. Enter itself stays as it is: what is typed ahead of the prompt runs as ever. Where the user has
    # bound it, that is what happens.
    set -l own (builtin bind --user -M $__cohab_k \r 2>/dev/null)
    if test -n "$own"
        eval (string replace -r -- ' (\\\\r|\\\\cm|enter) ' ' \\x1er0 ' $own)
    else
        builtin bind -M $__cohab_k \x1er0 __cohab_enter
    end
end
set -e __cohab_k
