//! Programs that stand in for a server that the tool starts.

use std::path::Path;

/// Another process writes it: what this one had open for writing, a child that another test starts
/// would have, too, and what somebody writes cannot be run.
fn write_program(path: &Path, text: &str) {
    let mut shell = std::process::Command::new("sh");
    shell.args(["-c", r#"printf %s "$1" >"$0" && chmod 755 "$0""#]);
    let written = shell.arg(path).arg(text).status().expect("a shell");
    assert!(written.success());
}

/// A program that says where the repository is, as a server does: another one for each volume,
/// which the data folder names.
pub(crate) fn program_of_volumes(path: &Path, urls: &[(&str, &str)]) {
    let cases = urls
        .iter()
        .map(|(volume, url)| format!("*{volume}) url={url};; "));
    let cases: String = cases.collect();
    let text = format!(
        "#!/bin/sh\nif [ \"$1\" = --version ]; then echo varve; exit; fi\n\
         while [ \"$1\" != --data-dir ]; do shift; done\necho kept >\"$2/data\"\n\
         case $2 in {cases}esac\necho \"serves on $url\"\nexec sleep 600\n"
    );
    write_program(path, &text);
}

/// A program that says where the repository is, as a server does, and leaves something in its data
/// folder.
pub(crate) fn program(path: &Path, url: &str, version: &str) {
    let text = format!(
        "#!/bin/sh\nif [ \"$1\" = --version ]; then echo {version}; exit; fi\n\
         while [ \"$1\" != --data-dir ]; do shift; done\necho kept >\"$2/data\"\n\
         echo \"serves on {url}\"\nexec sleep 600\n"
    );
    write_program(path, &text);
}
