//! Programs that replace the server that the tool starts.

use std::path::Path;

/// Writes an executable file from another process. A child process that another test starts would
/// inherit a descriptor that this process has open for writing, and a file that is open for writing
/// cannot be executed.
fn write_program(path: &Path, text: &str) {
    let mut shell = std::process::Command::new("sh");
    shell.args(["-c", r#"printf %s "$1" >"$0" && chmod 755 "$0""#]);
    let written = shell.arg(path).arg(text).status().expect("a shell");
    assert!(written.success());
}

/// A program that prints the repository's address like a server, with a different one for each
/// volume, as named by the data folder.
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

/// A program that prints the repository's address like a server, and leaves a file in its data
/// folder.
pub(crate) fn program(path: &Path, url: &str, version: &str) {
    let text = format!(
        "#!/bin/sh\nif [ \"$1\" = --version ]; then echo {version}; exit; fi\n\
         while [ \"$1\" != --data-dir ]; do shift; done\necho kept >\"$2/data\"\n\
         echo \"serves on {url}\"\nexec sleep 600\n"
    );
    write_program(path, &text);
}
