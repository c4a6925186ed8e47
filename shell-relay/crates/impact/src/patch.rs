//! Reads the names of files in a patch. Pure.

/// Leading parts that names in patches usually have at most.
const MAX_STRIP: usize = 3;

/// The names that a patch may change, with so many leading parts left out; with any number of them if it is not said.
pub(crate) fn names(patch: &str, strip: Option<usize>) -> Vec<String> {
    let mut found: Vec<String> = Vec::new();
    for line in patch.lines() {
        let starts = ["--- ", "+++ ", "rename from ", "rename to "];
        let Some(name) = starts.iter().find_map(|start| line.strip_prefix(start)) else { continue };
        // A time stands behind a tab.
        let name = name.split('\t').next().unwrap_or_default().trim_end();
        let parts: Vec<&str> = name.split('/').filter(|part| !part.is_empty()).collect();
        for strip in strip.map_or(0..=MAX_STRIP, |strip| strip..=strip) {
            match parts.get(strip..) {
                Some(rest) if !rest.is_empty() && name != "/dev/null" && !rest.contains(&"..") => {
                    let name = rest.join("/");
                    if !found.contains(&name) {
                        found.push(name);
                    }
                }
                _ => {}
            }
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_read_with_and_without_their_leading_parts() {
        let patch = "--- a/src/x.rs\t2026-01-01\n+++ b/src/x.rs\n@@ -1 +1 @@\n-old\n+new\n--- /dev/null\n+++ b/../../etc/passwd\n";
        assert_eq!(names(patch, Some(1)), ["src/x.rs"]);
        assert_eq!(names(patch, None)[..3], ["a/src/x.rs", "src/x.rs", "x.rs"]);
    }
}
