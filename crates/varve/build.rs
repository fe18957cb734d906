//! Finds out which commit is built: `VARVE_COMMIT` if it is set (for builds without the
//! repository), else git's.

use std::process::Command;

/// Digits of a commit's name.
const DIGITS: usize = 12;

fn main() {
    println!("cargo:rerun-if-env-changed=VARVE_COMMIT");
    let named = std::env::var("VARVE_COMMIT").ok();
    let commit = named
        .filter(|name| !name.is_empty())
        .or_else(|| git(&["rev-parse", "HEAD"]));
    if let Some(head) = git(&["rev-parse", "--git-path", "HEAD"]) {
        watch(&head);
    }
    // What HEAD points to changes with each commit, HEAD itself does not.
    let branch = git(&["symbolic-ref", "-q", "HEAD"]);
    if let Some(path) = branch.and_then(|name| git(&["rev-parse", "--git-path", &name])) {
        watch(&path);
    }
    let commit = commit.unwrap_or_else(|| "unknown".to_owned());
    let plain = commit.chars().filter(char::is_ascii_alphanumeric);
    let commit: String = plain.take(DIGITS).collect();
    println!("cargo:rustc-env=VARVE_BUILT_COMMIT={commit}");
}

/// Builds anew when the file changes, or where there is none yet, the folder that it will be in: a
/// path that does not exist would do that with every build.
fn watch(path: &str) {
    let path = std::path::Path::new(path);
    let watched = match path.exists() {
        true => Some(path),
        false => path.parent().filter(|parent| parent.exists()),
    };
    if let Some(watched) = watched {
        println!("cargo:rerun-if-changed={}", watched.display());
    }
}

fn git(arguments: &[&str]) -> Option<String> {
    let output = Command::new("git").args(arguments).output().ok()?;
    let text = String::from_utf8(output.stdout).ok()?;
    let text = text.trim();
    (output.status.success() && !text.is_empty()).then(|| text.to_owned())
}
