//! The configuration as a documented TOML file, and its page `docs/configuration.md`.

use std::fmt::Write as _;

use super::layers::section_of;
use super::{Config, SECTIONS};

/// The secrets: options whose values are not printed, as (section, option).
const SECRET: [(&str, &str); 1] = [("storage.cassandra", "password")];

/// Every option with its documentation and its value in `config`, as a TOML file. Options with
/// their default value are commented out, so that the file shows which values were set. The value
/// of a secret that is set is not printed.
pub(crate) fn toml_text(config: &Config) -> String {
    let defaults = Config::default().to_table();
    let values = config.to_table();
    let mut text = String::from(
        "# Options of Varve. Each can also be set by the environment (VARVE_<SECTION>_<OPTION>) or by\n\
         # `--set <section>.<option>=<value>`. Flags override the environment, which overrides this file.\n",
    );
    for section in SECTIONS {
        let _ = write!(text, "\n# {}\n[{}]\n", section.about, section.name);
        for option in section.options {
            let value = section_of(&values, section.name).and_then(|table| table.get(option.name));
            let default =
                section_of(&defaults, section.name).and_then(|table| table.get(option.name));
            let Some(value) = value else { continue };
            text.push('\n');
            for line in option.text.trim_end().lines() {
                let _ = writeln!(text, "# {}", line.trim());
            }
            if SECRET.contains(&(section.name, option.name)) && Some(value) != default {
                let _ = writeln!(text, "# {} is set, and not printed", option.name);
                continue;
            }
            let mark = if Some(value) == default { "# " } else { "" };
            let _ = writeln!(text, "{mark}{} = {value}", option.name);
        }
    }
    text
}

/// The content of the page `docs/configuration.md`: every option with its default.
pub(crate) fn markdown() -> String {
    let defaults = Config::default().to_table();
    let mut page = String::from(
        "# Configuration\n\n\
         Options have four sources; each overrides those before it:\n\n\
         1. the defaults below;\n\
         2. a TOML file (`--config FILE`);\n\
         3. the environment: `VARVE_<SECTION>_<OPTION>`, for example `VARVE_SERVER_PORT=9000`. A dot in the name of a section is `_` here;\n\
         4. flags: `--listen`, `--data-dir`, `--engine`, `--durability`, and `--set <section>.<option>=<value>` for every option.\n\n\
         An unknown option is an error that names file, line and key. `varve config` prints all options as a TOML file to start from.\n\n\
         This page is printed by `varve config --markdown`; a test compares the two.\n",
    );
    for section in SECTIONS {
        let _ = write!(
            page,
            "\n## `[{}]`\n\n{}.\n\n| option | default | meaning |\n|---|---|---|\n",
            section.name, section.about
        );
        for option in section.options {
            let default = section_of(&defaults, section.name)
                .and_then(|table| table.get(option.name))
                .map(ToString::to_string)
                .unwrap_or_default();
            let meaning = option
                .text
                .split_whitespace()
                .collect::<Vec<_>>()
                .join(" ")
                .replace('|', "\\|");
            let _ = writeln!(page, "| `{}` | `{default}` | {meaning} |", option.name);
        }
    }
    page
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_configuration_page_is_the_generated_one() {
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/configuration.md");
        let page = std::fs::read_to_string(path).expect("docs/configuration.md is there");
        assert!(
            page == markdown(),
            "docs/configuration.md is not what `varve config --markdown` prints; write it anew with `make docs`"
        );
    }

    #[test]
    fn the_printed_file_reads_back_as_the_same_options() {
        let mut config = Config::default();
        config.storage.durability = "interval:250".to_owned();
        config.server.port = 9000;
        let text = toml_text(&config);
        assert!(text.contains("\nport = 9000\n") && text.contains("\n# host = "));
        let read: toml::Table = text.parse().expect("valid TOML");
        let top = SECTIONS
            .iter()
            .filter(|section| !section.name.contains('.'));
        assert_eq!(read.len(), top.count(), "only sections at the top");
        assert_eq!(
            Config::from_file_text("x.toml", &text).expect("accepted"),
            config
        );
    }

    #[test]
    fn a_password_is_not_printed() {
        let mut config = Config::default();
        config.storage.cassandra.user = "me".to_owned();
        config.storage.cassandra.password = "opensesame".to_owned();
        let text = toml_text(&config);
        assert!(!text.contains("opensesame"));
        assert!(text.contains("\n# password is set, and not printed\n"));
        config.storage.cassandra.password.clear();
        let read = Config::from_file_text("x.toml", &text).expect("accepted");
        assert_eq!(read, config);
        for (section, option) in SECRET {
            let section = SECTIONS.iter().find(|known| known.name == section);
            let options = section.expect("there is such a section").options;
            assert!(options.iter().any(|known| known.name == option));
        }
    }

    #[test]
    fn every_option_has_documentation() {
        let table = Config::default().to_table();
        let top = SECTIONS
            .iter()
            .filter(|section| !section.name.contains('.'));
        assert_eq!(table.len(), top.count());
        for section in SECTIONS {
            let mut keys = section_of(&table, section.name)
                .expect("a section is a table")
                .clone();
            keys.retain(|_, value| !value.is_table());
            let documented: Vec<&str> = section.options.iter().map(|option| option.name).collect();
            assert_eq!(keys.len(), documented.len(), "[{}]", section.name);
            for key in keys.keys() {
                assert!(
                    documented.contains(&key.as_str()),
                    "[{}] {key}",
                    section.name
                );
            }
            for option in section.options {
                assert!(
                    option.text.trim().len() > 10,
                    "[{}] {}",
                    section.name,
                    option.name
                );
            }
        }
    }
}
