//! Sequences and characters that terminals obey or hide, one row for each kind of harm, with the text that remains when shown.

/// One kind of harm.
pub struct Hostile {
    /// The effect on a terminal.
    pub name: &'static str,
    /// An example.
    pub bytes: &'static str,
    /// The rest of it in text, between other letters.
    pub left: &'static str,
}

const fn row(name: &'static str, bytes: &'static str, left: &'static str) -> Hostile {
    Hostile { name, bytes, left }
}

/// All kinds of harm.
pub const HOSTILE: &[Hostile] = &[
    row("title report", "\u{1b}[20t\u{1b}[21t", ""),
    row("status string request", "\u{1b}P$qm\u{1b}\\", ""),
    row("font query", "\u{1b}]50;?\u{7}", ""),
    row("colour queries", "\u{1b}]4;1;?\u{7}\u{1b}]10;?\u{7}\u{1b}]11;?\u{1b}\\\u{1b}]12;?\u{9c}", ""),
    row("device and mode reports", "\u{1b}[c\u{1b}[>c\u{1b}[=c\u{1b}[5n\u{1b}[6n\u{1b}[?6n\u{1b}[?2004$p", ""),
    row("terminfo query", "\u{1b}P+q544e\u{1b}\\", ""),
    row("old queries", "\u{1b}Z\u{5}", ""),
    row("clipboard", "\u{1b}]52;c;aGk=\u{7}\u{1b}]52;c;?\u{1b}\\", ""),
    row(
        "link to elsewhere",
        "\u{1b}]8;;file:///etc/passwd\u{1b}\\http://good.example\u{1b}]8;;\u{1b}\\",
        "http://good.example",
    ),
    row("title and icon", "\u{1b}]0;t\u{7}\u{1b}]1;t\u{7}\u{1b}]2;t\u{1b}\\\u{1b}k t\u{1b}\\", " t"),
    row("folder", "\u{1b}]7;file:///x\u{7}", ""),
    row("notifications", "\u{1b}]9;n\u{7}\u{1b}]99;;n\u{1b}\\\u{1b}]777;notify;n;n\u{7}", ""),
    row("files", "\u{1b}]1337;File=name=eA==:x\u{7}", ""),
    row("forged prompt marks", "\u{1b}]133;A\u{7}\u{1b}]633;E;x\u{7}\u{1b}]7391;0;1;E;x;0;/\u{7}", ""),
    row("pictures", "\u{1b}Pq#0;2;0;0;0\u{1b}\\\u{1b}_Ga=T;AAAA\u{1b}\\", ""),
    row("programmed keys", "\u{1b}P0;1|17/x\u{1b}\\", ""),
    row("private messages", "\u{1b}^x\u{1b}\\\u{1b}Xx\u{1b}\\", ""),
    row("end of a paste", "\u{1b}[?2004h\u{1b}[?2004l\u{1b}[201~", ""),
    row("erasure", "\u{1b}[2J\u{1b}[3J\u{1b}[K\u{1b}[X\u{1b}[P", ""),
    row("cursor moves", "\u{1b}[H\u{1b}[A\u{1b}[9;9f\u{1b}7\u{1b}8\u{1b}M\r\u{8}\u{1b}[s", ""),
    row("hidden letters", "\u{1b}[8mhidden\u{1b}[30;40m\u{1b}[38;2;0;0;0m\u{1b}[7m", "hidden"),
    row("reset and second screen", "\u{1b}c\u{1b}[?1049h\u{1b}[?47h\u{1b}[!p", ""),
    row("mouse and focus", "\u{1b}[?1000h\u{1b}[?1002h\u{1b}[?1003h\u{1b}[?1006h\u{1b}[?1004h", ""),
    row("scroll region", "\u{1b}[1;2r\u{1b}[?6h\u{1b}[L\u{1b}[S", ""),
    row("letters of other sets", "\u{1b}(0\u{1b})0\u{1b}*0\u{e}\u{f}\u{1b}%@", ""),
    row("synchronized update that never ends", "\u{1b}[?2026h", ""),
    row(
        "sequences in one byte",
        "\u{9b}2J\u{9d}0;t\u{9c}\u{90}q\u{9c}\u{9f}x\u{9c}\u{9e}x\u{9c}\u{98}x\u{9c}\u{85}\u{84}\u{8d}\u{9a}",
        "",
    ),
    row(
        "other direction",
        "\u{202a}\u{202b}\u{202c}\u{202d}\u{202e}\u{2066}\u{2067}\u{2068}\u{2069}\u{200e}\u{200f}\u{61c}",
        "",
    ),
    row("no width", "\u{200b}\u{200c}\u{200d}\u{2060}\u{feff}\u{ad}\u{180e}", ""),
    row("selectors and tags", "\u{fe0f}\u{fe00}\u{180b}\u{e0001}\u{e0041}\u{e007f}\u{e0100}\u{e01ef}", ""),
    row("other controls", "\0\u{1}\u{7}\u{b}\u{c}\u{7f}", ""),
    row("cut short", "\u{1b}[12\u{1b}]0;x\u{18}", ""),
];
