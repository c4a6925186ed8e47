# cohab: every interactive fish in a terminal opens inside it, and ends with it. `COHAB_OFF=1 fish` opens a plain one. Where
# cohab is missing or fails, this shell goes on as it is. Take these lines out to end this.
if status is-interactive; and test -t 0 -a -t 1; and test -z "$COHAB_OFF$COHAB_OUTER"; and not contains -- "$TERM" '' dumb
    # Without a process: this very terminal is one of cohab's.
    if test -z "$COHAB_TTY"; or test "$COHAB_TTY" != (builtin realpath /dev/stdin)
        set -l __cohab @PROGRAM@
        test -x $__cohab; or set __cohab cohab
        if command -q $__cohab
            # cohab makes this file when its shell has ended in order; without it nobody is sent away.
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
            command stty sane
            echo "cohab did not come up (status $__cohab_status); this is your plain shell" >&2
        end
    end
end
