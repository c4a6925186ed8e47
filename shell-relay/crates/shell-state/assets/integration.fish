# Ties an interactive fish (3.4 or later) to cohab. Read after the user's own files. Marks go to /dev/tty.
string match -qr '^(3\.([4-9]|[1-9][0-9])|[4-9]|[1-9][0-9])' -- $version; or exit
set -g __cohab_nonce @NONCE@
set -g __cohab_dir @DIR@
set -g __cohab_id ''
set -g __cohab_next ''
set -g __cohab_last ''
set -g __cohab_cmd ''
set -g __cohab_line ''
set -g __cohab_point 0
set -g __cohab_mode default
set -g __cohab_jobs 0
set -g __cohab_own
set -g __cohab_pagers
set -g __cohab_pwd ''
set -g __cohab_cwd ''
set -g __cohab_bindings
set -g __cohab_modes
set -g __cohab_unnamed
set -g __cohab_vi fish_vi_key_bindings fish_hybrid_key_bindings
set -g __cohab_stub ' __cohab_pre; eval $__cohab_cmd; __cohab_e $status'

set -g __cohab_head \e']7391;'$__cohab_nonce';'$fish_pid';'

function __cohab_m
    builtin echo -n "$__cohab_head$argv[1]"\a >/dev/tty
end

# The stub goes into a history without a file, and the user's is back before the command runs. A leading blank alone leaves the stub
# one Up away, and `history delete` has the whole file of the user's written anew each time.
function __cohab_history_away
    set -g __cohab_history
    set -qg fish_history; and set -g __cohab_history set $fish_history
    set -g fish_history ''
end

function __cohab_history_back
    set -q __cohab_history; or return
    if set -q __cohab_history[1]
        set -g fish_history $__cohab_history[2..]
    else
        set -e -g fish_history
    end
    set -e __cohab_history
end

function __cohab_prompt --on-event fish_prompt
    __cohab_history_back
    __cohab_bind_enter
    set -g __cohab_next ''
    # For the hint beside the line. Beyond a limit of the size of files fish would be killed.
    if set -e __cohab_unnamed; and test (builtin ulimit -f) = unlimited
        begin
            builtin -n
            builtin functions -n
            abbr --list
        end >$__cohab_dir/names 2>/dev/null
    end
    __cohab_m B
end

function __cohab_mode --on-variable fish_bind_mode # a key of ours in place of Enter is not what `f` and `r` of vi are for
    switch $fish_bind_mode
        case default visual
            contains -- "$fish_key_bindings" $__cohab_vi; and __cohab_m 'V;1'; or __cohab_m 'V;0'
        case replace_one
            __cohab_m 'V;2'
        case '*'
            __cohab_m 'V;0'
    end
end

# A question that was typed ahead comes here as a command; no key of it was asked about.
function __cohab_preexec --on-event fish_preexec
    __cohab_history_back
    if string match -qr '^\?[^\n]{1,2000}$' -- "$argv[1]"
        __cohab_m "C;"(string escape --style=url -- "$argv[1]")
    else
        __cohab_m C
    end
end

# As in the other shells, a trace of the user's is not for the commands that come from here. One that begins in such a command shows
# the first lines of what ends it.
function __cohab_untrace
    set -ga __cohab_trace $fish_trace
    set -g fish_trace
end

function __cohab_retrace
    set -q __cohab_trace; or return
    set -l trace $__cohab_trace[-1]
    set -eg __cohab_trace
    if set -q trace[1]
        set -g fish_trace $trace
    else
        set -eg fish_trace
    end
end

function __cohab_where # percent-encodes $PWD into __cohab_cwd. A command substitution takes longer than all else here
    test "$PWD" != "$__cohab_pwd"; or return
    set -g __cohab_cwd (string escape --style=url -- "$PWD")
    set -g __cohab_pwd $PWD
end

function __cohab_postexec --on-event fish_postexec
    set -l st $status
    __cohab_repage
    __cohab_retrace
    __cohab_where
    __cohab_m "D;$__cohab_id;$st;$__cohab_cwd"
    set -l ran $argv
    test -z "$__cohab_id"; or set ran $__cohab_cmd # the stub has an `eval` of its own
    if string match -qr '\b(abbr|alias|function|functions|source|eval|fisher|omf)\b|^\s*\.\s' -- "$ran"
        set -g __cohab_unnamed
    end
    # The user's own may be the one without a file.
    if test -n "$__cohab_id" -a -z "$fish_history"; and set -q fish_history
        builtin history delete --exact --case-sensitive -- $__cohab_stub
    end
    set -g __cohab_id ''
    set -g __cohab_cmd '' # it may hold what `set` would tell later
end

function __cohab_stopped_jobs
    builtin count (builtin jobs | string match -e stopped)
end

# As in a shell of our own: who asked a question did not ask for a pager. Undo brings back what it has to.
function __cohab_unpage
    string match -q '00000000*' -- $__cohab_id; and return
    for name in PAGER GIT_PAGER
        set -qg $name; and set -g __cohab_was_$name $$name
        set -qgx $name; and set -g __cohab_was_x_$name
        set -gx $name cat
        set -ga __cohab_pagers $name
    end
end

function __cohab_repage # what the command itself has set stays
    for name in $__cohab_pagers
        set -l was __cohab_was_$name
        if test "$$name" = cat
            set -eg $name
            set -q $was; and set -g $name $$was
            set -q __cohab_was_x_$name; and set -gx $name $$was
        end
        set -eg $was __cohab_was_x_$name
    end
    set -g __cohab_pagers
end

function __cohab_pre
    set -g __cohab_jobs 0
    builtin jobs -q; and set -g __cohab_jobs (__cohab_stopped_jobs)
    test -e $__cohab_dir/wantenv; and __cohab_state $__cohab_dir/env.$__cohab_id.before
    __cohab_unpage
    __cohab_m "O;$__cohab_id"
end

function __cohab_e
    __cohab_untrace
    set -l st $argv[1]
    set -l stopped ''
    builtin jobs -q; and test (__cohab_stopped_jobs) -gt $__cohab_jobs; and set stopped ';stopped'
    __cohab_where
    __cohab_m "E;$__cohab_id;$st;$__cohab_cwd$stopped"
    __cohab_repage
    test -e $__cohab_dir/wantenv; and __cohab_state $__cohab_dir/env.$__cohab_id
    __cohab_retrace
    return $st
end

function __cohab_stash
    set -g __cohab_line (builtin commandline -b) # one element a line: nothing else keeps an empty last one
    set -g __cohab_mode $fish_bind_mode # vi command mode is to come back with the line
    builtin commandline --paging-mode; and builtin commandline -f cancel
    if test -z "$__cohab_line"
        set -g __cohab_point 0
        __cohab_m 'S;0'
    else
        set -g __cohab_point (builtin commandline -C) # not both in one: an empty IFS would keep them together
        builtin commandline -r ''
        __cohab_m "S;"(string length -- "$__cohab_line") # the lines joined by blanks
    end
end

function __cohab_take # a question: one Up away where fish can do that
    set -l line (builtin commandline -b | string collect)
    test -z "$line"; or string match -q '3.*' -- $version; or builtin history append -- $line 2>/dev/null
    __cohab_stash
end

function __cohab_hold # what was read is held until key 3 or the next prompt; what ran last never runs again
    if test -z "$__cohab_next" -o "$__cohab_next" = "$__cohab_last"
        set -g __cohab_next ''
        __cohab_m 'L;-'
    else
        __cohab_m "L;$__cohab_next"
    end
end

function __cohab_load
    set -g __cohab_next ''
    test -r $__cohab_dir/cmd; and begin
        read -g __cohab_next
        read -z -g __cohab_cmd
    end <$__cohab_dir/cmd
    __cohab_hold
end

function __cohab_type # where letters insert themselves, also in vi's command mode
    test "$fish_bind_mode" = default; and builtin bind -M insert '' >/dev/null 2>&1; and set fish_bind_mode insert
end

function __cohab_typed # the file's content was typed into the line, percent-encoded, because there was no place for a file
    set -l content (builtin commandline -b | string unescape --style=url | string collect)
    builtin commandline -r ''
    set -g __cohab_next (string match -r '^[0-9a-f]+' -- $content)
    set -g __cohab_cmd (string replace -r '^[0-9a-f]+\n' '' -- $content | string collect)
    __cohab_hold
end

function __cohab_fence # all keys before this one were read
    __cohab_m 'L;='
end

function __cohab_run # what is held runs once; without it this key does nothing
    if test -z "$__cohab_next"
        __cohab_m 'L;-'
        return
    end
    set -g __cohab_id $__cohab_next
    set -g __cohab_last $__cohab_next
    set -g __cohab_next ''
    __cohab_history_away
    __cohab_untrace
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

function __cohab_known # status: whether this shell knows the first word of a line as a command. Nothing is run for that
    set -l __cohab_word ''
    string match -rq -- '^\s*(?<__cohab_word>[^\s;|&<>()]+)' "$argv"
    test -n "$__cohab_word"; or return
    builtin -q -- "$__cohab_word"; or builtin functions -q -- "$__cohab_word"; or command -sq -- "$__cohab_word"
    or abbr -q -- "$__cohab_word"
end

function __cohab_ask # a line beyond bounds is cut, so that it is known at least how it begins
    set -l line (builtin commandline -b | string collect)
    test (string length -- "$line") -le 4096; or set line (string sub -l 4096 -- "$line" | string collect)" [...]"
    set -l text (string escape --style=url -- "$line") # empty: quoted below, or the word vanishes
    set -l known 0
    __cohab_known $line; and set known 1
    contains -- "$fish_key_bindings" $__cohab_vi; and set known "$known;vi"
    __cohab_m "$argv;"(builtin commandline -C)";$text;$known"
end

function __cohab_query
    __cohab_ask Q
end

function __cohab_enter
    if not set -q __cohab_entered # the file of the prompt function may have bound Enter, and is read after the prompt's event
        set -g __cohab_entered
        __cohab_bind_enter
    end
    if contains -- $fish_bind_mode $__cohab_own
        __cohab_ask N
    else if builtin commandline --paging-mode; or builtin commandline --search-mode; or test -z "$(builtin commandline -b)"
        builtin commandline -f execute
        if contains -- "$fish_bind_mode" default replace; and contains -- "$fish_key_bindings" $__cohab_vi
            set fish_bind_mode insert
        end
    else
        __cohab_ask N
    end
end

# Key 0 stands for Enter at the prompt, key 7 for what it does. Enter itself stays as it is: what is typed ahead of the prompt runs as
# ever. At each prompt, since the user's own bindings come at the first one, or later.
function __cohab_bind_enter
    if test "$fish_key_bindings" != "$__cohab_bindings"
        set -g __cohab_bindings $fish_key_bindings
        set -g __cohab_own
        for mode in $__cohab_modes
            __cohab_bind_mode --preset $mode
        end
    end
    for mode in $__cohab_modes
        if builtin bind --user -M $mode \r >/dev/null 2>&1
            __cohab_bind_mode --user $mode
            contains $mode $__cohab_own; or set -ga __cohab_own $mode
        else if contains $mode $__cohab_own
            __cohab_bind_mode --preset $mode
            set -e __cohab_own[(contains -i $mode $__cohab_own)]
        end
    end
end

function __cohab_bind_mode # $argv: --user or --preset, and a mode: the keys 0 and 7 as Enter is bound there
    set -l enter (builtin bind $argv[1] -M $argv[2] \r 2>/dev/null)
    set -l as_key (string replace -r '^bind (--preset )?' 'bind ' -- $enter | string replace -r -- ' (\\\\r|\\\\cm|enter) ' ' \\x1er@ ')
    if test -z "$enter"
        builtin bind -M $argv[2] \x1er0 true
        return
    end
    eval builtin (string replace r@ r7 -- $as_key)
    if test $argv[1] = --user
        builtin bind -M $argv[2] \x1er0 '__cohab_ask N'
    else if string match -qr ' execute( |$)' -- $enter
        builtin bind -M $argv[2] \x1er0 __cohab_enter
    else # as in the mode of vi that replaces one letter
        eval builtin (string replace r@ r0 -- $as_key)
    end
end

# Only the modes that are in use: each binding is told with the shell's state, before and after each command.
function __cohab_bind_modes --on-variable fish_key_bindings --on-variable fish_bind_mode
    contains -- "$fish_bind_mode" $__cohab_modes; and contains replace_one $__cohab_modes; and return # each Esc of vi comes here
    set -l modes default $fish_bind_mode
    contains -- "$fish_key_bindings" $__cohab_vi; and set modes default insert visual replace replace_one
    for mode in $modes
        contains -- $mode $__cohab_modes; and continue
        set -ga __cohab_modes $mode
        builtin bind -M $mode \x1er1 __cohab_stash
        builtin bind -M $mode \x1er2 __cohab_load
        builtin bind -M $mode \x1er3 __cohab_run
        builtin bind -M $mode \x1ern __cohab_fence
        builtin bind -M $mode \x1erp __cohab_type
        builtin bind -M $mode \x1ert __cohab_typed
        builtin bind -M $mode \x1er4 __cohab_restore
        builtin bind -M $mode \x1er5 __cohab_query
        builtin bind -M $mode \x1er6 __cohab_fresh
        builtin bind -M $mode \x1er0 __cohab_enter
        builtin bind -M $mode \x1er7 'commandline -f execute'
        builtin bind -M $mode \x1er8 __cohab_clear
        builtin bind -M $mode \x1er9 __cohab_take
        test -z "$__cohab_bindings"; or __cohab_bind_mode --preset $mode
    end
end
__cohab_bind_modes
