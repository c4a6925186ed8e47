# cohab: every interactive bash in a terminal opens inside it, and ends with it. `COHAB_OFF=1 bash` opens a plain one. Where
# cohab is missing or fails, this shell goes on as it is. Take these lines out to end this.
if [[ $- == *i* && -t 0 && -t 1 && ${TERM:-dumb} != dumb && -z ${COHAB_OFF-} && -z ${COHAB_OUTER-} &&
    -z ${BASH_EXECUTION_STRING-} ]] && ! [[ -n ${COHAB_TTY-} && $COHAB_TTY -ef /dev/stdin ]]; then
    __cohab=@PROGRAM@
    [[ -x $__cohab ]] || __cohab=cohab
    if command -v "$__cohab" >/dev/null; then
        # cohab makes this file when its shell has ended in order; without it this shell stays.
        __cohab_ended=${XDG_RUNTIME_DIR:-$HOME}/.cohab-ended-$$
        command rm -f -- "$__cohab_ended"
        COHAB_OUTER=$__cohab_ended "$__cohab" --shell "$BASH"
        __cohab_status=$?
        if [[ -e $__cohab_ended ]]; then
            command rm -f -- "$__cohab_ended"
            exit "$__cohab_status"
        fi
        # A cohab that was killed could not restore the terminal.
        stty sane
        printf '@RESET@'
        __cohab_fate='did not come up'
        [[ $__cohab_status -gt 128 ]] && __cohab_fate='was killed'
        printf 'cohab %s (status %s); this is your plain shell\n' "$__cohab_fate" "$__cohab_status" >&2
        unset __cohab_ended __cohab_status __cohab_fate
    fi
    unset __cohab
fi
