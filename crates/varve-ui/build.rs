//! Lists the files of the explorer that `scripts/ui.sh` has built, for `include_bytes!`.
//!
//! `VARVE_UI_DIR` names their folder. The folder's name is a hash of the explorer's sources, so
//! cargo only has to watch the variable. If the variable is not set or empty, one page says how to
//! get the explorer. Nothing is downloaded or built here.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::{env, fs, io};

fn main() -> io::Result<()> {
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rerun-if-env-changed=VARVE_UI_DIR");
    let folder = env::var_os("VARVE_UI_DIR").filter(|value| !value.is_empty());
    let listing = match folder.map(PathBuf::from) {
        Some(folder) => listing(&folder)?,
        None => missing()?,
    };
    let out = env::var_os("OUT_DIR").ok_or_else(|| io::Error::other("cargo sets OUT_DIR"))?;
    fs::write(Path::new(&out).join("assets.rs"), listing)
}

/// The listing for builds without the explorer: one page.
fn missing() -> io::Result<String> {
    let page = env::current_dir()?.join("src/missing.html");
    println!("cargo::rerun-if-changed={}", page.display());
    Ok(format!(
        "pub(crate) const BUILD: &str = \"missing\";\n\
         pub(crate) static ASSETS: &[Asset] = &[Asset {{ name: \"index.html\", \
         content: Content::Plain(include_bytes!({page:?})) }}];\n"
    ))
}

fn listing(folder: &Path) -> io::Result<String> {
    let folder = folder.canonicalize().map_err(|error| {
        io::Error::other(format!("VARVE_UI_DIR is {}: {error}", folder.display()))
    })?;
    let build = folder.file_name().unwrap_or_default().to_string_lossy();
    let mut text = format!("pub(crate) const BUILD: &str = {build:?};\n");
    text.push_str("pub(crate) static ASSETS: &[Asset] = &[\n");
    let mut names = Vec::new();
    for part in ["", "assets"] {
        for entry in fs::read_dir(folder.join(part))? {
            let name = entry?.file_name().to_string_lossy().into_owned();
            let prefix = if part.is_empty() { "" } else { "assets/" };
            if let Some(plain) = name.strip_suffix(".gz") {
                names.push(format!("{prefix}{plain}"));
            }
        }
    }
    names.sort();
    for name in names {
        let path = |suffix: &str| folder.join(format!("{name}{suffix}"));
        let (gzip, brotli) = (path(".gz"), path(".br"));
        let _ = writeln!(
            text,
            "    Asset {{ name: {name:?}, content: Content::Packed {{ \
             gzip: include_bytes!({gzip:?}), brotli: include_bytes!({brotli:?}) }} }},"
        );
    }
    text.push_str("];\n");
    Ok(text)
}
