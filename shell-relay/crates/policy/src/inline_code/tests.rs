use std::path::Path;

use super::*;
use crate::{Context, Level, Lock, assess_line};

/// Words behind an interpreter that only read and compute.
const READING: &[&[&str]] = &[
    &["python3", "-c", "import sys; print(sys.version, sys.prefix)"],
    &["python3", "-I", "-c", "import json; print(json.load(open('a.json'))['name'])"],
    &[
        "python3",
        "-c",
        "import csv,collections; print(collections.Counter(r['x'] for r in csv.DictReader(open('a.csv', newline=''))))",
    ],
    &["python", "-c", "from datetime import datetime, timezone; print(datetime.fromtimestamp(0, timezone.utc))"],
    &[
        "python3",
        "-c",
        "import os; print(sum(os.path.getsize(os.path.join(d, f)) for d, _, fs in os.walk('src') for f in fs))",
    ],
    &[
        "python3",
        "-c",
        "import sqlite3; c=sqlite3.connect('file:a.db?mode=ro', uri=True); print(c.execute('select 1').fetchall())",
    ],
    &["python3", "-c", "import re,sys; sys.stdout.write(re.compile('a+').sub('b', sys.argv[1]))", "text"],
    &["python3", "-c", "import pandas as pd; d=pd.read_csv('a.csv'); print(d.isna().sum())"],
    &["node", "-e", "console.log(Object.keys(require('./package.json').dependencies || {}).length)"],
    &[
        "node",
        "-p",
        "JSON.parse(require('node:fs').readFileSync('a.json', 'utf8')).map(m => `${m.name} ${m.size}`).join('\\n')",
    ],
    &["perl", "-ne", "print \"$.: $_\" if /\\t +\\S/", "Makefile"],
    &[
        "perl",
        "-F,",
        "-lane",
        "$c{$F[3]}++; END { print \"$_ $c{$_}\" for sort { $c{$b} <=> $c{$a} } keys %c }",
        "a.csv",
    ],
    &["perl", "-0777", "-ne", "while (/def (\\w+)/g) { print \"$1\\n\" }", "a.py"],
    &["perl", "-MList::Util=sum", "-lne", "push @x, $_; END { print sum(@x) }"],
    &["perl", "-MTime::Piece", "-e", "print localtime(0)->strftime(\"%F\"), \"\\n\""],
    &["ruby", "-ryaml", "-e", "puts YAML.load_file(\"a.yml\").keys"],
    &["ruby", "-ne", "puts $_ if $_ =~ /Completed 5\\d\\d/", "a.log"],
];

/// Words that may do more, or that hide what they do.
const ACTING: &[&[&str]] = &[
    &["python3", "-c", "import os; os.remove('a')"],
    &["python3", "-c", "from os import remove; remove('a')"],
    &["python3", "-c", "import os as o; o.system('id')"],
    &["python3", "-c", "open('a', 'w').write('x')"],
    &["python3", "-c", "open('a', mode=\"a+\")"],
    &["python3", "-c", "import zipfile; zipfile.ZipFile('a.zip', 'w')"],
    &["python3", "-c", "import subprocess; print(subprocess.run(['id']))"],
    &["python3", "-c", "import urllib.request as u; u.urlopen('http://h')"],
    &["python3", "-c", "import app.models"],
    &["python3", "-c", "import json, socketserver"],
    &["python3", "-c", "print(f'{__import__(\"os\").system(\"id\")}')"],
    &["python3", "-c", "getattr(__builtins__, 'ex'+'ec')('x')"],
    &["python3", "-c", "print(().__class__.__base__.__subclasses__())"],
    &["python3", "-c", "import os; print(os.environ)"],
    &["python3", "-c", "import sqlite3; sqlite3.connect('a.db').execute('DELETE FROM t')"],
    &["python3", "-c", "import sqlite3; sqlite3.connect('a.db').execute('pragma user_version = 3')"],
    &["python3", "-c", "import pandas as pd; pd.read_csv('a').to_csv('b')"],
    &["python3", "-c", "import shutil; shutil.copy('a', 'b')"],
    &["python3", "-c", "from pathlib import Path; Path('a').write_text('x')"],
    &["python3", "-c", "import ｏs; print(1)"],
    &["python3", "-m", "http.server"],
    &["python3", "-i", "-c", "print(1)"],
    &["python3", "script.py"],
    &["node", "-e", "require('fs').writeFileSync('a', 'x')"],
    &["node", "-e", "require('child_process').execSync('id')"],
    &["node", "-e", "require('./build.js')"],
    &["node", "-e", "require(process.argv[1])"],
    &["node", "-e", "fetch('http://h')"],
    &["node", "-p", "process.env"],
    &["node", "-e", "[].constructor.constructor('return 1')()"],
    &["node", "-e", "\\u0065val('1')"],
    &["node", "-r", "./x.js", "-e", "1"],
    &["perl", "-i", "-pe", "s/a/b/", "f"],
    &["perl", "-pi", "-e", "s/a/b/", "f"],
    &["perl", "-pie", "s/a/b/", "f"],
    &["perl", "-e", "unlink 'a'"],
    &["perl", "-e", "print `id`"],
    &["perl", "-e", "open(F, '>a')"],
    &["perl", "-ne", "s/(.*)/system($1)/e"],
    &["perl", "-e", "do './x.pl'"],
    &["perl", "-Mlib=.", "-e", "print 1"],
    &["perl", "-e", "use LWP::Simple; print 1"],
    &["perl", "-e", "LWP::Simple::get('x')"],
    &["perl", "-F(?{print 1})", "-ane", "print"],
    &["perl", "-e", "print $ENV{HOME}"],
    &["ruby", "-e", "File.delete('a')"],
    &["ruby", "-e", "puts %x(id)"],
    &["ruby", "-e", "puts `id`"],
    &["ruby", "-e", "Object.send(:sys, 1)"],
    &["ruby", "-rsocket", "-e", "1"],
    &["ruby", "-e", "require 'open3'"],
    &["ruby", "-i", "-pe", "$_.upcase!", "f"],
    &["ruby", "-e", "File.open('a', 'w')"],
];

#[test]
fn programs_that_read_are_told_from_programs_that_act() {
    for words in READING {
        assert!(seems_to_read(words[0], &words[1..]), "{words:?}");
    }
    for words in ACTING {
        assert!(!seems_to_read(words[0], &words[1..]), "{words:?}");
    }
}

#[test]
fn each_program_that_runs_code_in_its_words_gets_no_keys() {
    let interpreters = LANGUAGES.iter().flat_map(|language| &language.words["programs"]);
    let interpreters = interpreters.filter(|name| !name.starts_with("python"));
    for name in interpreters.chain(&crate::nested::SHELLS).chain(&["find", "timeout", "xargs"]) {
        assert!(cohab_policy_data::RUNNING_CODE.contains(name), "{name}");
    }
}

fn level(line: &str, lock: Option<Lock<'static>>) -> Level {
    let context = Context::new(Path::new("/home/ann/work/app"), Path::new("/home/ann"));
    assess_line(line, Context { lock, ..context }).level
}

fn quoted(words: &[&str]) -> String {
    words.iter().map(|word| format!("'{}'", word.replace('\'', "'\\''"))).collect::<Vec<_>>().join(" ")
}

#[test]
fn a_program_runs_unasked_only_behind_the_lock() {
    for words in READING.iter().filter(|words| words.iter().all(|word| !word.contains('\''))) {
        let line = format!("{} {}", words[0], quoted(&words[1..]));
        assert_eq!(level(&line, Some(Lock::UNNAMED)), Level::Allow, "{line}");
        assert_eq!(level(&line, None), Level::Ask, "{line}");
    }
    let reading = r#"python3 -c "import csv; print(len(list(csv.reader(open('a.csv')))))""#;
    assert_eq!((level(reading, Some(Lock::UNNAMED)), level(reading, None)), (Level::Allow, Level::Ask));
}

#[test]
fn what_such_a_program_names_must_not_be_secret() {
    for line in [
        r#"python3 -c "print(open('.env').read())""#,
        r#"python3 -c "print(open('/home/ann/.ssh/id_ed25519').read())""#,
        "perl -ne 'print' ~/.ssh/id_ed25519",
        "perl -ne 'print' .env",
        r#"python3 -c "import sys; print(open(sys.argv[1]).read())" .env"#,
        "perl -ne 'print' 'id|'",
        r#"for x in *; do python3 -c "print('$x')"; done"#,
        r#"python3 -c "$CODE""#,
    ] {
        assert_ne!(level(line, Some(Lock::UNNAMED)), Level::Allow, "{line}");
    }
}

proptest::proptest! {
    #[test]
    fn any_text_is_read(words in proptest::collection::vec(".{0,60}", 0..5)) {
        let words: Vec<&str> = words.iter().map(String::as_str).collect();
        for language in ["python3", "node", "perl", "ruby"] {
            seems_to_read(language, &words);
            let code: Vec<&str> = std::iter::once("-e").chain(words.iter().copied()).collect();
            seems_to_read(language, &code);
        }
    }
}
