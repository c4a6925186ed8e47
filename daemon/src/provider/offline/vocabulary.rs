//! Words: which of them mean the same, which say nothing, and which are names of programs. Only data and its lookup.

use std::{
    collections::{HashMap, HashSet},
    sync::LazyLock,
};

/// Expressions of several words that are read as one. Applied in order, on lower-case text.
pub(super) const PHRASES: &[(&str, &str)] = &[
    ("how many times", "count match"),
    ("lines of code", "count line code"),
    ("who wrote most", "author"),
    ("who wrote the most", "author"),
    ("did i just run", "last command"),
    ("did i run", "last command"),
    ("clean up", "cleanup"),
    ("what is my home directory", "homefolder"),
    ("what is my home folder", "homefolder"),
    ("where is my home directory", "homefolder"),
    ("where is my home folder", "homefolder"),
    ("where is my home", "homefolder"),
    ("how many", "count"),
    ("wie viele", "count"),
    ("how big", "size"),
    ("how large", "size"),
    ("wie groß", "size"),
    ("how much space", "howmuch space"),
    ("how long has", "uptime"),
    ("get rid of", "delete"),
    ("operating system", "os"),
    ("linux version", "os"),
    ("look for", "find"),
    ("look up", "lookup"),
    ("name server", "nameserver"),
    ("name servers", "nameserver"),
    ("who am i", "whoami"),
    ("wer bin ich", "whoami"),
    ("where am i", "pwd"),
    ("wo bin ich", "pwd"),
    ("went wrong", "wrong"),
    ("ging schief", "wrong"),
    ("schief gegangen", "wrong"),
    ("did not work", "wrong"),
    ("didn't work", "wrong"),
    ("doesn't work", "wrong"),
    ("not work", "wrong"),
    ("access denied", "permission denied"),
    ("tell me about", "explain"),
    ("logged in", "login"),
    ("signed in", "login"),
    ("up to date", "update"),
    ("symbolic link", "symlink"),
    ("make sure", ""),
    ("line by line", ""),
    ("disk usage", "df"),
    ("what is the current directory", "pwd"),
    ("what is the current folder", "pwd"),
    ("change the name of", "rename"),
    ("take me home", "go home"),
    ("change into", "go to"),
    ("change to", "go to"),
    ("move to", "go to"),
    ("move into", "go to"),
    ("take me to", "go to"),
    ("bring me to", "go to"),
    ("make a copy of", "copy"),
    ("a copy of", "copy"),
    ("how often", "count match"),
    ("working tree", "git status"),
    ("working copy", "git status"),
    ("what i changed", "diff"),
    ("whats", "what"),
    ("what's", "what"),
    ("who's", "who"),
    ("where's", "where"),
    ("back to", "go to"),
    ("go back", "goback"),
    ("previous folder", "goback"),
    ("previous directory", "goback"),
    ("last folder", "goback"),
    ("last directory", "goback"),
    ("one level up", "goup"),
    ("one folder up", "goup"),
    ("one directory up", "goup"),
    ("parent folder", "goup"),
    ("parent directory", "goup"),
    ("go up", "goup"),
    ("cd ..", "goup"),
    ("cd -", "goback"),
    ("free up", "cleanup"),
    ("what can you do", "capabilities"),
    ("was kannst du", "capabilities"),
    ("how can you help", "capabilities"),
    ("what do you know", "capabilities"),
    ("good morning", "hello"),
    ("good evening", "hello"),
    ("guten tag", "hello"),
    ("command line", ""),
    ("command-line", ""),
    ("turn into", "make"),
    ("taken up", "use"),
    ("take up", "use"),
    ("takes up", "use"),
    ("word count", "count word"),
    ("line count", "count line"),
    ("who changed", "blame"),
    ("who wrote", "blame"),
    ("who edited", "blame"),
    ("who committed", "author"),
    ("what changed", "diff"),
    ("what did i change", "diff"),
    ("what have i changed", "diff"),
    ("not committed", "uncommitted"),
    ("right now", ""),
    ("log in", "login"),
    ("to do", "todo"),
];

/// A concept and the words for it. A word stands under one concept only.
const CONCEPTS: &[(&str, &str)] = &[
    ("address", "address addresses adresse"),
    ("all", "all every each everything alle"),
    ("archive", "archive archives tarball tarballs zip zipfile tar.gz tgz archiv archivs"),
    ("author", "author contributed contribute authors contributor contributors committer committers"),
    ("blame", "blame"),
    (
        "big",
        "big bigger biggest large larger largest huge fat heavy heaviest bulky groß große größte größten größter grösste",
    ),
    ("branch", "branch branches zweig zweige"),
    ("broken", "broken dangling dead"),
    ("calendar", "calendar cal kalender"),
    ("capabilities", "capabilities abilities"),
    ("changed", "changed modified edited changes touched altered geändert geändertes änderungen geänderte"),
    ("checksum", "checksum checksums hash md5 sha1 sha256 md5sum sha256sum prüfsumme"),
    ("cleanup", "cleanup"),
    ("clear", "clear"),
    ("command", "command commands cmd befehl befehle tool"),
    ("commit", "commit commits"),
    ("compare", "compare comparison vergleiche"),
    ("compress", "compress pack bundle komprimiere packe"),
    ("connection", "connection connections verbindungen verbindung"),
    ("contain", "contain contains containing include includes including mention mentions mentioning enthalten enthält"),
    ("content", "content contents inhalt"),
    ("copy", "copy cp kopiere kopieren"),
    ("count", "count number amount total anzahl wieviele zähle"),
    ("cpu", "cpu cpus processor cores core prozessor"),
    ("date", "date today datum"),
    ("day", "day weekday"),
    ("delete", "delete remove rm erase unlink trash lösche löschen entferne"),
    ("denied", "denied forbidden verweigert"),
    ("device", "device devices drives"),
    ("diff", "diff diffs difference differences differ"),
    ("disk", "disk disks drive ssd hdd partition volume festplatte platte"),
    ("dns", "dns resolve resolves nslookup dig lookup"),
    ("download", "download fetch wget herunterladen"),
    ("duplicate", "duplicate duplicates duplicated doppelte identical"),
    ("empty", "empty blank zero-byte leere leer"),
    ("env", "env environment umgebungsvariablen umgebungsvariable"),
    ("executable", "executable executables runnable ausführbar"),
    ("explain", "explain erkläre describe"),
    ("extension", "extension extensions ending endung"),
    ("extract", "extract unpack unzip untar decompress uncompress inflate entpacke entpacken"),
    ("fail", "fail failed fails failing error errors fehler fehlgeschlagen"),
    ("file", "file files datei dateien"),
    ("filesystem", "filesystem filesystems"),
    ("find", "find search locate grep finde suche suchen finden"),
    ("first", "first head top beginning ersten erste"),
    ("fix", "fix repair solve repariere behebe"),
    (
        "folder",
        "folder folders dir dirs directory directories subfolder subfolders subdirectory subdirectories ordner verzeichnis",
    ),
    ("free", "free available left remaining spare unused frei freier freien"),
    ("full", "full voll"),
    ("gateway", "gateway router"),
    ("git", "git repo repository"),
    ("go", "go cd return enter jump switch navigate chdir gehe wechsle wechsel geh"),
    ("goback", "goback"),
    ("goup", "goup"),
    ("group", "group groups gruppen"),
    ("hello", "hello hi hey hallo moin greetings"),
    ("help", "help manual man manpage documentation hilfe anleitung"),
    ("hidden", "hidden dotfiles dotfile versteckte"),
    ("history", "history verlauf"),
    ("home", "home"),
    ("host", "host server website site"),
    ("hostname", "hostname rechnername"),
    ("initialise", "init initialise initialize"),
    ("inode", "inode inodes"),
    ("install", "install installiere installieren setup"),
    ("installed", "installed installiert"),
    ("interface", "interface interfaces adapter adapters nic"),
    ("ip", "ip ip-address ipv4 ipv6 ip-adresse"),
    ("it", "it that there them this es"),
    ("kernel", "kernel"),
    ("kill", "kill kills killing killed terminate stop quit abort beende töte stoppe"),
    ("last", "last tail end bottom final previous letzten letzte letzter"),
    ("line", "line lines zeile zeilen"),
    ("link", "link links"),
    ("listen", "listen listens listening bound occupies occupying lauscht belegt"),
    ("load", "load"),
    ("log", "log"),
    ("login", "login logins"),
    ("make", "make makes create mkdir new add generate mache mach erstelle erzeuge lege anlegen"),
    ("match", "match matching matches occurrence occurrences hits"),
    ("memory", "memory ram mem arbeitsspeicher speicher"),
    ("merge", "merge"),
    ("mount", "mount mounts mounted"),
    ("move", "move mv verschiebe"),
    ("name", "name names filename filenames"),
    ("nameserver", "nameserver nameservers"),
    ("network", "network networks internet online netzwerk wifi"),
    ("newest", "newest latest recent recently youngest neueste neuesten zuletzt"),
    ("oldest", "oldest earliest älteste ältesten"),
    ("open", "open opened opens opening offen"),
    ("os", "os distro distribution betriebssystem"),
    ("outdated", "outdated upgradable upgradeable"),
    ("own", "own owns owner owned ownership belongs belong gehört besitzer"),
    ("package", "package packages paket pakete software"),
    ("path", "path pfad"),
    ("permission", "permission permissions rights mode chmod rechte zugriff access"),
    ("ping", "ping reachable erreichbar latency"),
    ("pop", "pop restore reapply"),
    ("port", "port ports"),
    ("process", "process processes task tasks program programs app apps prozess prozesse programm"),
    ("public", "public external outside öffentliche wan"),
    ("pull", "pull"),
    ("push", "push"),
    ("pwd", "pwd"),
    ("read", "read cat lies"),
    ("remote", "remote remotes origin"),
    ("rename", "rename umbenennen benenne"),
    ("replace", "replace substitute ersetze ersetzen"),
    ("route", "route routes routing"),
    ("run", "run running runs alive execute läuft laufen"),
    ("service", "service services daemon daemons unit units dienst dienste systemd"),
    ("set", "set export define setze"),
    ("shell", "shell"),
    ("show", "show list display print view ls zeige zeig liste"),
    ("size", "size sizes weight größe"),
    ("small", "small smallest tiny smaller kleinste"),
    ("space", "space storage room capacity platz speicherplatz"),
    ("stage", "stage staged"),
    ("start", "start starts starting launch"),
    ("stash", "stash stashed"),
    ("status", "status state zustand"),
    ("swap", "swap"),
    ("symlink", "symlink symlinks"),
    ("tag", "tag tags"),
    ("text", "text string phrase pattern regex wort"),
    ("time", "time clock uhrzeit uhr spät"),
    ("todo", "todo todos fixme fixmes"),
    ("tree", "tree hierarchy layout structure baum struktur"),
    ("type", "type kind sort typ"),
    ("uncommitted", "uncommitted unstaged dirty untracked"),
    ("undo", "undo revert rückgängig uncommit"),
    ("unset", "unset"),
    ("up", "up reach"),
    ("update", "update updates upgrade upgrades aktualisieren"),
    ("uptime", "uptime booted boot rebooted laufzeit"),
    (
        "use",
        "use wasting wastes wasted used using uses usage eat eats eating hog hogs hogging consume consumes consuming take takes taking occupied fill fills filling filled utilization braucht verbraucht benutzt",
    ),
    ("user", "user users benutzer people"),
    ("variable", "variable variables var vars"),
    ("version", "version versions"),
    ("whatis", "whatis"),
    ("whoami", "whoami username"),
    ("why", "why warum wieso"),
    ("who", "who wer wem"),
    ("where", "where which wo welches"),
    ("word", "word words wörter"),
    ("write", "write schreibe"),
    ("wrong", "wrong happened passiert kaputt"),
    ("zombie", "zombie zombies defunct"),
];

/// Concepts that carry little meaning alone: cheap to match, free to ignore.
const WEAK: &str = "show it all where who why name up clear text howmuch open";

/// Words without meaning here.
const FILLERS: &str = "a an the this that these those my your our me i you we us is are was were be been am do does did can could \
    would will shall should may might must please pls thanks thank kindly just now currently today's so very really some any \
    compute calculate check of for on at by to with from as than then what how has have had got get gets tell give let lets there here's i'm it's what's \
    who's where's want wanna need needs like if whether or not into onto out one ones also too only exactly actually \
    and und computer machine system box pc laptop currently active current existing thing things something anything stuff much \
    most more sorted ordered by descending whose via per about der die das den dem des ein eine einen einem einer ist sind war \
    ich du wir mir mich bitte mal kannst könntest was wie von vom zum zur zu für mit auf im in an am aus gibt es hier alles viel \
    within inside under below hast hat haben sich meine mein meinen meiner dieser diesem diesen dieses know see check \
    put keep saved appear appears occur occurs still clean somewhere machine's computer's lot lots long went ok okay hm hmm well";

/// Programs whose name alone makes a question about them plausible.
const PROGRAMS: &str = "alias apt apt-get awk base64 bash bat brew bzip2 cargo cat cd chgrp chmod chown clang cmake comm cp cron \
    crontab curl cut date dd df diff dig dnf docker du echo env exa export fd ffmpeg find fish fold free fzf gcc gdb git go grep \
    gunzip gzip head htop iconv id ifconfig ip iptables java jobs join journalctl jq kill killall kubectl less ln locate ls lsblk \
    lsof make man mkdir mktemp more mount mv nano nc ncdu netstat nice nl node nohup npm nslookup openssl pacman paste patch perl \
    pgrep ping pip pkill printf ps pwd python python3 readlink realpath rev rg rm rmdir rsync ruby rustc scp screen sed seq \
    sftp shred sort split ss ssh ssh-keygen stat strace su sudo systemctl tac tail tar tcpdump tee tmux top touch tr traceroute \
    tree truncate tsort tty ufw uname uniq unzip uptime useradd vi vim vmstat watch wc wget which who xargs xxd xz yes yq zip zsh zstd";

/// Words one letter away from a key word that mean something else.
const NO_TYPOS: &str = "posts poets sports spots shall small tiles miles piles fires fines wiles notes mates gates paths baths \
    bright lights night knight while white whale slash crash trash horse house mouse place plate world story model title table \
    table cable fable sizer prize maize order older elder holder folded stage state stats stare share shape brand bland \
    commits limits limit posts roots route router scope space spice slice price process progress mount month count court \
    mouth south event every clean clear learn train brain grain green great wheat cheat treat tread bread dread thread threads";

static WORD_CONCEPTS: LazyLock<HashMap<&str, &str>> = LazyLock::new(|| {
    let pairs = CONCEPTS.iter().flat_map(|(concept, words)| words.split_whitespace().map(move |word| (word, *concept)));
    pairs.chain(CONCEPTS.iter().map(|(concept, _)| (*concept, *concept))).collect()
});
static FILLER_WORDS: LazyLock<HashSet<&str>> = LazyLock::new(|| FILLERS.split_whitespace().collect());
static PROGRAM_NAMES: LazyLock<HashSet<&str>> = LazyLock::new(|| PROGRAMS.split_whitespace().collect());
static TYPO_EXEMPT: LazyLock<HashSet<&str>> = LazyLock::new(|| NO_TYPOS.split_whitespace().collect());
static WEAK_CONCEPTS: LazyLock<HashSet<&str>> = LazyLock::new(|| WEAK.split_whitespace().collect());

/// Shortest word in which a typo is forgiven.
const MIN_TYPO_CHARS: usize = 5;

/// The concept a lower-case word stands for, exactly or by a plural or one typo.
pub(super) fn concept_of(word: &str) -> Option<&'static str> {
    if let Some(concept) = WORD_CONCEPTS.get(word) {
        return Some(concept);
    }
    if let Some(concept) = word.strip_suffix("'s").and_then(|stem| WORD_CONCEPTS.get(stem)) {
        return Some(concept);
    }
    if is_filler(word) || is_program(word) || TYPO_EXEMPT.contains(word) || !word.chars().all(char::is_alphabetic) {
        return None;
    }
    if word.chars().count() < MIN_TYPO_CHARS {
        return None;
    }
    CONCEPTS
        .iter()
        .find(|(_, words)| words.split_whitespace().any(|known| is_one_typo_away(word, known)))
        .map(|(concept, _)| *concept)
}

/// Whether a concept is free to ignore.
pub(super) fn is_weak(concept: &str) -> bool {
    WEAK_CONCEPTS.contains(concept)
}

/// Whether a lower-case word says nothing.
pub(super) fn is_filler(word: &str) -> bool {
    FILLER_WORDS.contains(word)
}

/// Whether a word is the name of a well-known program.
pub(super) fn is_program(word: &str) -> bool {
    PROGRAM_NAMES.contains(word)
}

/// One letter added, left out, changed, or two neighbours swapped; the first letter is right.
fn is_one_typo_away(word: &str, known: &str) -> bool {
    let (word, known): (Vec<char>, Vec<char>) = (word.chars().collect(), known.chars().collect());
    if known.len() < MIN_TYPO_CHARS || word.len().abs_diff(known.len()) > 1 || word.first() != known.first() {
        return false;
    }
    let same = word.iter().zip(&known).take_while(|(a, b)| a == b).count();
    let (word, known) = (&word[same..], &known[same..]);
    match word.len().cmp(&known.len()) {
        std::cmp::Ordering::Greater => word[1..] == *known,
        std::cmp::Ordering::Less => *word == known[1..],
        std::cmp::Ordering::Equal => {
            word.is_empty()
                || word[1..] == known[1..]
                || (word.len() > 1 && word[0] == known[1] && word[1] == known[0] && word[2..] == known[2..])
        }
    }
}

/// File name extensions meant by a word: `rust` files, `images`.
pub(super) fn extensions_of(word: &str) -> Option<&'static [&'static str]> {
    EXTENSIONS.iter().find(|(words, _)| words.split(' ').any(|known| known == word)).map(|(_, extensions)| *extensions)
}

const EXTENSIONS: &[(&str, &[&str])] = &[
    ("rust rs", &["rs"]),
    ("python py", &["py"]),
    ("javascript js", &["js", "mjs", "cjs"]),
    ("typescript ts", &["ts", "tsx"]),
    ("java", &["java"]),
    ("golang", &["go"]),
    ("ruby", &["rb"]),
    ("c++ cpp", &["cpp", "cc", "cxx", "hpp"]),
    ("html", &["html", "htm"]),
    ("css", &["css"]),
    ("json", &["json"]),
    ("yaml yml", &["yaml", "yml"]),
    ("toml", &["toml"]),
    ("xml", &["xml"]),
    ("csv", &["csv"]),
    ("markdown md", &["md"]),
    ("pdf pdfs", &["pdf"]),
    ("txt", &["txt"]),
    ("logfile logfiles", &["log"]),
    ("image images picture pictures photo photos bilder", &["jpg", "jpeg", "png", "gif", "webp", "heic", "svg"]),
    ("png pngs", &["png"]),
    ("jpg jpeg jpegs", &["jpg", "jpeg"]),
    ("video videos movie movies", &["mp4", "mkv", "mov", "avi", "webm"]),
    ("mp4", &["mp4"]),
    ("music audio songs mp3 mp3s", &["mp3", "flac", "ogg", "wav", "m4a"]),
    ("iso", &["iso"]),
    ("sql", &["sql"]),
    ("bak backup", &["bak"]),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_word_stands_under_one_concept_only() {
        let mut seen: HashMap<&str, &str> = HashMap::new();
        for (concept, words) in CONCEPTS {
            for word in words.split_whitespace() {
                let before = seen.insert(word, concept);
                assert!(before.is_none_or(|before| before == *concept), "{word} means {concept} and {before:?}");
            }
        }
    }

    #[test]
    fn one_typo_is_forgiven_two_are_not() {
        for word in ["foldr", "folderr", "fodler", "folfer", "biggst", "memroy"] {
            assert!(concept_of(word).is_some(), "{word}");
        }
        for word in ["fodlre", "bg", "posts", "dolfer", "monads"] {
            assert_eq!(concept_of(word), None, "{word}");
        }
    }
}
