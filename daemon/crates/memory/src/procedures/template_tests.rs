use proptest::prelude::*;

use super::*;
use crate::procedures::line::commands;

/// The template of these lines, with its parameters and the values of their newest occurrence.
fn templated(lines: &[&str]) -> (String, Vec<(String, String)>) {
    let commands: Vec<_> = lines.iter().map(|line| commands(line).remove(0)).collect();
    let mut parameters = Parameters::default();
    let text = template(&commands.iter().collect::<Vec<_>>(), &mut parameters);
    let parameters = parameters.finish().into_iter().map(|mut one| (one.name, one.examples.remove(0)));
    (text, parameters.collect())
}

#[test]
fn what_differs_is_a_parameter_named_by_its_place_or_form() {
    for (lines, expected) in [
        (["git tag v1.4.2", "git tag v1.5.0"], "git tag {version}"),
        (["git tag -a 1.4 -m \"First one\"", "git tag -a 1.5 -m \"Next\""], "git tag -a {version} -m \"{message}\""),
        (["git commit -m 'Release 1.4.2'", "git commit -m 'Release 1.5.0'"], "git commit -m 'Release {version}'"),
        (["git checkout topic-a", "git checkout fix/b"], "git checkout {branch}"),
        (["git add a b", "git add c"], "git add {files}"),
        (["scp out/a.tar blue:/srv", "scp out/sub/b.tar blue:/srv"], "scp {file} blue:/srv"),
        (
            ["kubectl rollout restart deployment/web", "kubectl rollout restart deployment/api"],
            "kubectl rollout restart deployment/{value}",
        ),
        (["tar czf db-2026-11-03.tgz db", "tar czf db-2026-12-04.tgz db"], "tar czf db-{date}.tgz db"),
        (["docker push app:1.4", "docker push app:latest"], "docker push app:{tag}"),
        (["./run --env=staging", "./run --env=live"], "./run --env={environment}"),
        (["curl -O https://a.org/x", "curl -O https://b.org/y"], "curl -O {address}"),
        (["gh pr merge 12", "gh pr merge 7"], "gh pr merge {number}"),
        (["touch é1x", "touch è2x"], "touch {value}"),
        (["make", "make"], "make"),
    ] {
        assert_eq!(templated(&lines).0, expected, "{lines:?}");
    }
}

#[test]
fn the_same_values_are_one_parameter_and_others_have_other_names() {
    let (text, parameters) = templated(&["cp a.txt b.txt a.txt", "cp c.txt d.txt c.txt"]);
    assert_eq!(text, "cp {file} {file2} {file}");
    assert_eq!(parameters, [("file".into(), "c.txt".into()), ("file2".into(), "d.txt".into())]);
}

proptest! {
    /// A template with its values is the command again.
    #[test]
    fn a_template_with_its_values_is_the_command(values in prop::collection::vec("[ab0-9v./:é][ab0-9v./:é-]{0,5}", 2..5)) {
        let lines: Vec<String> = values.iter().map(|value| format!("scp {value}")).collect();
        let (mut text, parameters) = templated(&lines.iter().map(String::as_str).collect::<Vec<_>>());
        for (name, value) in parameters {
            text = text.replace(&format!("{{{name}}}"), &value);
        }
        prop_assert_eq!(&text, lines.last().expect("a line"));
    }
}
