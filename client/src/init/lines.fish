# cohab: every interactive fish in a terminal opens inside it, and ends with it. `COHAB_OFF=1 fish` opens a plain one. Where
# cohab is missing or fails, this shell goes on as it is. Take these lines out to end this.
if status is-interactive; and test -t 0 -a -t 1; and test -z "$COHAB_OFF$COHAB_OUTER"; and not contains -- "$TERM" '' dumb
    # Without a process, where there is /proc: is this shell for one command (`fish -i -c`), or this terminal one of cohab's?
    set -l __cohab_stays no
    if test -r /proc/$fish_pid/cmdline
        string match -qr -- '^(-[a-z]*c|--command.*)$' (string split0 </proc/$fish_pid/cmdline); and set __cohab_stays yes
        test "$COHAB_TTY" = (builtin realpath /dev/stdin); and set __cohab_stays yes
    else if test -n "$COHAB_TTY"
        test "$COHAB_TTY" = (command tty); and set __cohab_stays yes
    end
    if test $__cohab_stays = no
        set -l __cohab @PROGRAM@
        test -x $__cohab; or set __cohab cohab
        if command -q $__cohab
            # cohab makes this file when its shell has ended in order; without it this shell stays.
            set -l __cohab_ended $HOME/.cohab-ended-$fish_pid
            test -n "$XDG_RUNTIME_DIR"; and set __cohab_ended $XDG_RUNTIME_DIR/.cohab-ended-$fish_pid
            command rm -f -- $__cohab_ended
            COHAB_OUTER=$__cohab_ended command $__cohab --shell (status fish-path)
            set -l __cohab_status $status
            if test -e $__cohab_ended
                command rm -f -- $__cohab_ended
                # `exit` in a start-up file ends only the file.
                exec /bin/sh -c "exit $__cohab_status"
            end
            # A cohab that was killed could not restore the terminal.
            command stty sane
            printf '@RESET@'
            set -l __cohab_fate 'did not come up'
            test $__cohab_status -gt 128; and set __cohab_fate 'was killed'
            echo "cohab $__cohab_fate (status $__cohab_status); this is your plain shell" >&2
        end
    end
end
