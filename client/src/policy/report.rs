//! Formats the output of `cohab policy`. Pure; every text from a file or a line is made visible.

use std::{fmt::Write as _, path::Path};

use cohab_policy::{
    Context, Level, Part, assess_line, needs_lock, parts,
    user_rules::{Loaded, Rule, Ruled, Safety},
};
use cohab_secrets::PersonalData;
use cohab_term::visible::{visible, visible_command};
use cohab_text::sanitize::escaped_json;
use serde_json::{Value, json};

/// A rule in one line.
pub(super) fn rule(rule: &Rule, home: &Path) -> String {
    let place = match &rule.folder {
        None => "in every folder".to_owned(),
        Some(folder) => format!("in {}", visible(&short(folder, home))),
    };
    format!("{} `{}` {place}", rule.decision.word(), visible_command(&rule.line()))
}

fn short(path: &Path, home: &Path) -> String {
    match path.strip_prefix(home) {
        Ok(rest) if rest.as_os_str().is_empty() => "~".into(),
        Ok(rest) => format!("~/{}", rest.display()),
        Err(_) => path.display().to_string(),
    }
}

/// The rules by number, and what is wrong with the file.
pub(super) fn list(loaded: &Loaded, path: &Path, home: &Path) -> String {
    let mut out = String::new();
    for (index, one) in loaded.rules.all().iter().enumerate() {
        let _ = writeln!(out, "{}. {}", index + 1, rule(one, home));
    }
    if out.is_empty() {
        let _ = writeln!(out, "There are no rules in {}.", visible(&short(path, home)));
    }
    out + &refusals(loaded, path)
}

/// What is wrong with a file of rules.
pub(super) fn check(loaded: &Loaded, path: &Path) -> String {
    let count = loaded.rules.all().len();
    let rules = if count == 1 { "1 rule is".to_owned() } else { format!("{count} rules are") };
    format!("{rules} in force.\nSafety is {}.\n{}", loaded.safety.in_force(), refusals(loaded, path))
}

fn safety_json(safety: Safety) -> Value {
    let Safety { level, injection, guard, personal } = safety;
    let personal = PersonalData::NAMES.map(|name| {
        let word = if personal.contains(name) { "redact" } else { "keep" };
        (name.to_owned(), Value::from(word))
    });
    let personal: serde_json::Map<String, Value> = personal.into_iter().collect();
    json!({"level": level.word(), "injection": injection.word(), "guard": guard.word(), "personal": personal})
}

fn refusals(loaded: &Loaded, path: &Path) -> String {
    let mut out = String::new();
    for refusal in &loaded.refused {
        let place = match refusal.line {
            0 => visible(&path.display().to_string()),
            line => format!("{}:{line}:{}", visible(&path.display().to_string()), refusal.column),
        };
        let what = match refusal.name.as_str() {
            "" => "none of its rules is in force".to_owned(),
            name => format!("`{}` is not in force", visible(name)),
        };
        let _ = writeln!(out, "{place}: {what}: {}", visible(&refusal.reason));
    }
    out
}

/// What is in force, and what is wrong with a file of rules, as JSON.
pub(super) fn check_json(loaded: &Loaded, path: &Path) -> String {
    let rules = loaded.rules.all().iter().map(rule_json).collect::<Vec<_>>();
    let problems = loaded.refused.iter().map(|refusal| {
        json!({"file": path, "line": refusal.line, "column": refusal.column, "rule": refusal.name, "reason": refusal.reason})
    });
    let safety = safety_json(loaded.safety.in_force());
    escaped_json(&json!({"rules": rules, "safety": safety, "problems": problems.collect::<Vec<_>>()}).to_string())
        + "\n"
}

fn rule_json(rule: &Rule) -> Value {
    json!({"decision": rule.decision.word(), "command": rule.line(), "folder": rule.folder})
}

/// What a line is judged to be, and why.
pub(super) fn explain(line: &str, context: Context<'_>, loaded: &Loaded) -> String {
    let Ruled { verdict, allowed_by } = loaded.apply(line, context, assess_line(line, context));
    let mut out = format!("{}: {}\n", verdict.level.word(), meaning(verdict.level));
    for reason in &verdict.reasons {
        let _ = writeln!(out, "  {}", visible(reason));
    }
    for (index, part) in parts(line, context).iter().enumerate() {
        let _ = writeln!(out, "part {}: {}: {}", index + 1, part.level.word(), visible_command(&part.text));
        for reason in &part.reasons {
            let _ = writeln!(out, "  {}", visible(reason));
        }
    }
    let last = match (verdict.level, allowed_by, Rule::of(line, Some(context.cwd), context.shell)) {
        (Level::Allow, ..) if needs_lock(line, context) => "because its programs can only read here".to_owned(),
        (Level::Allow, ..) => return out,
        (Level::Ask, Some(found), _) => format!("but it runs unasked here: {}", rule(found, context.home)),
        (Level::Ask, None, Ok(_)) => "it can be allowed for good, by `d` or `a` when it is asked".to_owned(),
        (Level::Ask, None, Err(reason)) => format!("it cannot be allowed for good: {reason}"),
        (Level::Danger | Level::Deny, ..) => "no rule allows it".to_owned(),
    };
    let _ = writeln!(out, "{last}");
    out
}

/// The same as JSON.
pub(super) fn explain_json(line: &str, context: Context<'_>, loaded: &Loaded) -> String {
    let Ruled { verdict, allowed_by } = loaded.apply(line, context, assess_line(line, context));
    let part = |part: &Part| json!({"command": part.text, "level": part.level.word(), "reasons": part.reasons});
    let told = json!({
        "line": line,
        "level": verdict.level.word(),
        "reasons": verdict.reasons,
        "parts": parts(line, context).iter().map(part).collect::<Vec<_>>(),
        "allowed_by": allowed_by.map(rule_json),
        "needs_lock": verdict.level == Level::Allow && needs_lock(line, context),
        "runs_unasked": verdict.level == Level::Allow || allowed_by.is_some(),
    });
    escaped_json(&told.to_string()) + "\n"
}

fn meaning(level: Level) -> &'static str {
    match level {
        Level::Allow => "runs at once",
        Level::Ask => "you are asked",
        Level::Danger => "you are asked, and type `yes`",
        Level::Deny => "it is not run",
    }
}
