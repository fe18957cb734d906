//! The command line, and how flags become settings.

use std::ffi::OsString;
use std::net::{SocketAddr, ToSocketAddrs as _};
use std::path::{Path, PathBuf};

use clap::{Args, CommandFactory as _, Parser, Subcommand, ValueEnum};

use crate::config::{Config, ConfigError, Overrides};

/// The version, and the commit of the build.
const VERSION: &str = concat!(
    env!("CARGO_PKG_VERSION"),
    " (",
    env!("VARVE_BUILT_COMMIT"),
    ")"
);

/// A graph database that remembers: every vertex and edge keeps when it was true and when it was
/// recorded.
#[derive(Debug, Parser)]
#[command(version = VERSION, max_term_width = 100)]
pub(crate) struct Cli {
    #[command(subcommand)]
    pub(crate) command: Command,
}

/// The commands.
#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Start the server
    Serve(ServeArguments),
    /// Load CSV or JSON Lines files, or a dump, into a graph of a running server
    Load(LoadArguments),
    /// Load a small example graph: six years of moves, with corrections and a plan
    Sample(SampleArguments),
    /// Write a graph as JSON Lines, which `varve load` can read: a graph of a running server or,
    /// with --data-dir, of a data folder that no server uses
    Dump(DumpArguments),
    /// Print the changes of commits to a graph of a running server, one line of JSON for each
    Changes(ChangesArguments),
    /// Check every row of the data against the invariants
    Verify(VerifyArguments),
    /// Manage users and their passwords in a data folder that no server uses
    User(UserArguments),
    /// Recover graphs with a damaged log: store the records before the damage, and move the log
    /// aside
    RecoverLog(RecoverLogArguments),
    /// Copy all graphs of a running server or of a data folder
    Backup(BackupArguments),
    /// List the backups of a store
    Backups(BackupsArguments),
    /// Restore a backup to a new data folder, or check it
    Restore(RestoreArguments),
    /// Change the consistency level of all servers on a Cassandra cluster, while none of them runs
    ChangeConsistency(ChangeConsistencyArguments),
    /// Measure a server: start the load tool, the program `varve-bench` beside this one
    #[command(disable_help_flag = true)]
    Bench(BenchArguments),
    /// Print every option with its meaning, unit and value as a TOML file
    Config(ConfigArguments),
    /// Print completions for a shell, e.g. `varve completions bash > /etc/bash_completion.d/varve`
    Completions(CompletionsArguments),
    /// Print the manual page in roff, of all commands; see it with `varve man | man -l -`
    Man,
}

/// The sources of options.
#[derive(Debug, Args)]
pub(crate) struct OptionArguments {
    /// TOML file of options; `varve config` prints one to start from
    #[arg(long, value_name = "FILE")]
    config: Option<PathBuf>,
    /// Folder of the data [default: data]
    #[arg(long, value_name = "DIR")]
    data_dir: Option<PathBuf>,
    /// Storage engine: rocksdb, memory or cassandra [default: rocksdb]
    #[arg(long, value_name = "NAME")]
    engine: Option<String>,
    /// When a write is acknowledged: sync, interval:<ms> or none [default: sync]
    #[arg(long, value_name = "MODE")]
    durability: Option<String>,
    /// Set any option, e.g. `--set server.max_connections=500`; may be repeated
    #[arg(long = "set", value_name = "SECTION.OPTION=VALUE")]
    settings: Vec<String>,
}

/// `varve serve`
#[derive(Debug, Args)]
pub(crate) struct ServeArguments {
    /// Address or host name, and port, to listen on; port 0 takes a free one [default:
    /// 127.0.0.1:8080]
    #[arg(long, value_name = "HOST:PORT", value_parser = resolve)]
    listen: Option<SocketAddr>,
    #[command(flatten)]
    options: OptionArguments,
}

/// The authorities that a tool trusts, and its own certificate and key.
#[derive(Debug, Default, Args)]
pub(crate) struct Trust {
    /// For https: a PEM file with the certificates of the trusted authorities, instead of those
    /// that the system trusts
    #[arg(long, value_name = "FILE")]
    pub(crate) ca_file: Option<PathBuf>,
    /// For https: a PEM file with the client's certificate, followed by those of the intermediate
    /// authorities
    #[arg(long, value_name = "FILE", requires = "client_key")]
    pub(crate) client_cert: Option<PathBuf>,
    /// A PEM file with the key of that certificate, not encrypted
    #[arg(long, value_name = "FILE", requires = "client_cert")]
    pub(crate) client_key: Option<PathBuf>,
}

/// A graph of a running server.
#[derive(Debug, Args)]
pub(crate) struct Target {
    /// Address of the server
    #[arg(
        long,
        visible_alias = "url",
        default_value = "http://127.0.0.1:8080",
        value_name = "URL"
    )]
    pub(crate) server: String,
    #[command(flatten)]
    pub(crate) trust: Trust,
    /// Name of the graph
    #[arg(long, default_value = "hugegraph", value_name = "NAME")]
    pub(crate) graph: String,
}

impl Target {
    /// The arguments that name the server and the graph, where they are not the usual ones.
    pub(crate) fn shown(&self) -> String {
        let mut shown = String::new();
        let given = [
            ("--server", &self.server, "http://127.0.0.1:8080"),
            ("--graph", &self.graph, "hugegraph"),
        ];
        for (name, value, usual) in given {
            if value != usual {
                shown.push_str(&format!(" {name} {value}"));
            }
        }
        shown
    }
}

/// `varve load`
#[derive(Debug, Args)]
pub(crate) struct LoadArguments {
    /// A mapping (a .toml file that describes the columns of the input files), or a dump of `varve
    /// dump`
    #[arg(required_unless_present = "infer")]
    input: Option<PathBuf>,
    /// Draft a mapping with its schema from the first rows of these files, and write it as
    /// mapping.toml into the current folder. Its format: docs/operating.md, "Load and dump"
    #[arg(long, value_name = "FILE", num_args = 1.., conflicts_with = "input")]
    pub(crate) infer: Vec<PathBuf>,
    #[command(flatten)]
    pub(crate) target: Target,
    /// JSON file of schema elements to create first, in the form of `GET …/schema`
    #[arg(long, value_name = "FILE")]
    pub(crate) schema: Option<PathBuf>,
    /// Elements per request
    #[arg(long, default_value_t = 500, value_name = "N")]
    pub(crate) batch: usize,
    /// Requests in flight at once
    #[arg(long, default_value_t = 4, value_name = "N")]
    pub(crate) threads: usize,
    /// Stop when more than this number of rows are refused
    #[arg(long, default_value_t = 500, value_name = "N")]
    pub(crate) max_errors: u64,
    /// File for the refused rows and the reasons [default: the input's name and .bad]
    #[arg(long, value_name = "FILE")]
    pub(crate) bad: Option<PathBuf>,
    /// Do not check whether the vertices of edges exist
    #[arg(long)]
    pub(crate) skip_vertex_check: bool,
    /// Start from the beginning, even if an earlier load of these files was interrupted
    #[arg(long)]
    pub(crate) restart: bool,
    /// Read all rows and check them against the server's schema, but write nothing
    #[arg(long)]
    pub(crate) dry_run: bool,
}

/// `varve sample`
#[derive(Debug, Args)]
pub(crate) struct SampleArguments {
    /// What to do
    #[arg(value_enum)]
    pub(crate) action: SampleAction,
    #[command(flatten)]
    pub(crate) target: Target,
}

/// What `varve sample` does.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum SampleAction {
    /// Load the example graph, unless it is loaded already
    Load,
}

/// The format of a dump as tables, or as one file for other programs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum DumpFormat {
    Csv,
    Jsonl,
    Parquet,
    Arrow,
    Graphml,
    Gexf,
}

impl DumpFormat {
    /// Its name, which is that of the server's exports and the ending of files.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Csv => "csv",
            Self::Jsonl => "jsonl",
            Self::Parquet => "parquet",
            Self::Arrow => "arrow",
            Self::Graphml => "graphml",
            Self::Gexf => "gexf",
        }
    }
}

/// `varve dump`
#[derive(Debug, Args)]
pub(crate) struct DumpArguments {
    /// File to write; it must not exist
    pub(crate) output: PathBuf,
    #[command(flatten)]
    pub(crate) target: Target,
    /// Write all versions of each element, also of deleted ones, with their valid times
    #[arg(long, conflicts_with = "format")]
    pub(crate) history: bool,
    /// Write a folder with a file for each label and a mapping that loads them again, or one file
    /// of GraphML or GEXF
    #[arg(long, value_enum, value_name = "FORMAT")]
    pub(crate) format: Option<DumpFormat>,
    /// Valid time of the state: a date or an instant
    #[arg(long, requires = "format", value_name = "WHEN")]
    pub(crate) as_of: Option<String>,
    /// Transaction time of the state: a date, an instant or a commit version
    #[arg(long, requires = "format", value_name = "WHEN")]
    pub(crate) as_of_tx: Option<String>,
    /// Elements per request; fewer where the answer would be too large
    #[arg(long, default_value_t = 4000, value_name = "N")]
    pub(crate) batch: usize,
    #[command(flatten)]
    pub(crate) options: OptionArguments,
}

/// `varve changes`
#[derive(Debug, Args)]
pub(crate) struct ChangesArguments {
    /// Wait for further changes, even while the server is unreachable. Without this option, the
    /// command prints the changes up to the commit that is the newest at its start
    #[arg(long)]
    pub(crate) follow: bool,
    /// File with the cursor: read at the start, replaced after each page is printed
    #[arg(long, value_name = "FILE")]
    pub(crate) cursor: Option<PathBuf>,
    /// Where to start without a cursor: a commit version, an instant, `earliest` or `now`
    #[arg(long, default_value = "earliest", value_name = "WHEN")]
    pub(crate) since: String,
    /// Only changes of these labels, separated by commas
    #[arg(long, value_name = "LABELS")]
    pub(crate) labels: Option<String>,
    /// Only changes of these types: vertex, edge or schema, separated by commas
    #[arg(long, value_name = "TYPES")]
    pub(crate) types: Option<String>,
    /// Also print the state before each change
    #[arg(long)]
    pub(crate) before: bool,
    /// Also print the instants at which planned states begin or end
    #[arg(long)]
    pub(crate) effective: bool,
    /// Changes per request
    #[arg(long, default_value_t = 1000, value_name = "N")]
    pub(crate) batch: usize,
    #[command(flatten)]
    pub(crate) target: Target,
}

/// `varve verify`
#[derive(Debug, Args)]
pub(crate) struct VerifyArguments {
    /// Address of a running server to check. Without it, the data folder is checked; no server may
    /// be using it
    #[arg(long, visible_alias = "url", value_name = "URL")]
    pub(crate) server: Option<String>,
    #[command(flatten)]
    pub(crate) trust: Trust,
    /// Name of the graph [default: hugegraph with --server, else all]
    #[arg(long, value_name = "NAME")]
    pub(crate) graph: Option<String>,
    /// Add missing index entries, and remove those that no element has
    #[arg(long)]
    pub(crate) repair: bool,
    #[command(flatten)]
    pub(crate) options: OptionArguments,
}

/// `varve recover-log`
#[derive(Debug, Args)]
pub(crate) struct RecoverLogArguments {
    /// Name of the graph [default: all that have a damaged log]
    #[arg(long, value_name = "NAME")]
    pub(crate) graph: Option<String>,
    #[command(flatten)]
    pub(crate) options: OptionArguments,
}

/// `varve user`
#[derive(Debug, Args)]
pub(crate) struct UserArguments {
    /// What to do
    #[arg(value_enum)]
    pub(crate) action: UserAction,
    /// Name of the user
    #[arg(required_if_eq_any([("action", "add"), ("action", "password"), ("action", "remove")]))]
    pub(crate) name: Option<String>,
    #[command(flatten)]
    pub(crate) options: OptionArguments,
}

/// What `varve user` does.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum UserAction {
    /// Create a user; the password is the first line of standard input
    Add,
    /// Change the password of a user to the first line of standard input; also creates `admin`
    Password,
    /// Remove a user
    Remove,
    /// List the users
    List,
}

/// `varve backup`
#[derive(Debug, Args)]
pub(crate) struct BackupArguments {
    /// New folder for the backup, or a store of backups as `s3://bucket/prefix` or
    /// `file:///folder`; with --server, the name of a folder in the server's backup folder.
    /// Without it, the backup goes to the store of the option `backup.to`, with --server of the
    /// server's
    pub(crate) target: Option<PathBuf>,
    /// Address of a running server to back up. Without it, the data folder is backed up; no server
    /// may be using it
    #[arg(long, visible_alias = "url", value_name = "URL")]
    pub(crate) server: Option<String>,
    #[command(flatten)]
    pub(crate) trust: Trust,
    #[command(flatten)]
    pub(crate) options: OptionArguments,
}

/// `varve backups`
#[derive(Debug, Args)]
pub(crate) struct BackupsArguments {
    /// The store of backups: `s3://bucket/prefix` or a folder [default: the option `backup.to`]
    pub(crate) store: Option<String>,
    #[command(flatten)]
    pub(crate) options: OptionArguments,
}

/// `varve restore`
#[derive(Debug, Args)]
pub(crate) struct RestoreArguments {
    /// Folder of the backup, or the store that has it: `s3://bucket/prefix` or a folder
    pub(crate) source: String,
    /// The backup of the store, as `varve backups` names it
    #[arg(long, value_name = "NAME", default_value = LATEST)]
    pub(crate) at: String,
    /// Only read the backup and compare it with its checksums
    #[arg(long)]
    pub(crate) check: bool,
    #[command(flatten)]
    pub(crate) options: OptionArguments,
}

/// What names the newest backup of a store.
pub(crate) const LATEST: &str = "latest";

/// `varve change-consistency`
#[derive(Debug, Args)]
pub(crate) struct ChangeConsistencyArguments {
    /// The options of the servers, with the new `storage.cassandra.consistency`
    #[command(flatten)]
    pub(crate) options: OptionArguments,
}

/// `varve bench`
#[derive(Debug, Args)]
pub(crate) struct BenchArguments {
    /// The arguments of `varve-bench`
    #[arg(
        value_name = "ARGUMENT",
        trailing_var_arg = true,
        allow_hyphen_values = true
    )]
    pub(crate) words: Vec<OsString>,
}

/// `varve config`
#[derive(Debug, Args)]
pub(crate) struct ConfigArguments {
    /// Print the documentation page instead
    #[arg(long)]
    pub(crate) markdown: bool,
    #[command(flatten)]
    pub(crate) options: OptionArguments,
}

/// The address of `host:port`. If a name has several addresses, the first IPv4 address: `localhost`
/// is 127.0.0.1.
fn resolve(text: &str) -> Result<SocketAddr, String> {
    let found = text
        .to_socket_addrs()
        .map_err(|error| match text.contains(':') {
            true => format!("{error}"),
            false => "expected <host>:<port>, as in 127.0.0.1:8080".to_owned(),
        })?;
    let addresses: Vec<SocketAddr> = found.collect();
    let first = addresses.iter().find(|address| address.is_ipv4());
    first
        .or(addresses.first())
        .copied()
        .ok_or_else(|| "the name has no address".to_owned())
}

/// `varve completions`
#[derive(Debug, Args)]
pub(crate) struct CompletionsArguments {
    /// The shell
    pub(crate) shell: clap_complete::Shell,
}

/// The completions of a shell.
pub(crate) fn completions(shell: clap_complete::Shell) -> Vec<u8> {
    let mut text = Vec::new();
    clap_complete::generate(shell, &mut Cli::command(), "varve", &mut text);
    text
}

/// The manual page: the page of the program, followed by sections for its commands.
///
/// # Errors
/// Never: the page is written to memory.
pub(crate) fn manual() -> std::io::Result<Vec<u8>> {
    let mut text = Vec::new();
    let mut program = Cli::command();
    program.build();
    clap_mangen::Man::new(program.clone()).render(&mut text)?;
    let commands = program.get_subcommands();
    for command in commands.filter(|command| command.get_name() != "help") {
        let page = clap_mangen::Man::new(command.clone());
        page.render_name_section(&mut text)?;
        page.render_synopsis_section(&mut text)?;
        page.render_options_section(&mut text)?;
    }
    Ok(text)
}

impl LoadArguments {
    /// The mapping or dump.
    pub(crate) fn input(&self) -> &Path {
        self.input
            .as_deref()
            .expect("the command line has it unless it infers")
    }
}

impl OptionArguments {
    /// Whether the command line names a data folder.
    pub(crate) fn names_data(&self) -> bool {
        self.data_dir.is_some()
    }

    /// The options of all layers.
    ///
    /// # Errors
    /// As [`Config::load`].
    pub(crate) fn load(&self) -> Result<Config, ConfigError> {
        self.load_with(Vec::new())
    }

    fn load_with(&self, mut settings: Vec<(String, String)>) -> Result<Config, ConfigError> {
        for setting in &self.settings {
            let (key, value) = setting.split_once('=').ok_or_else(|| {
                ConfigError::new(format!(
                    "--set {setting}: expected <section>.<option>=<value>"
                ))
            })?;
            settings.push((key.to_owned(), value.to_owned()));
        }
        let mut flag = |key: &str, value: Option<String>| {
            settings.extend(value.map(|value| (key.to_owned(), value)));
        };
        let data_dir = self
            .data_dir
            .as_ref()
            .map(|path| path.display().to_string());
        flag("storage.data_dir", data_dir);
        flag("storage.engine", self.engine.clone());
        flag("storage.durability", self.durability.clone());
        let overrides = Overrides {
            file: self.config.clone(),
            settings,
        };
        let environment = std::env::vars_os().filter_map(|(name, value)| {
            Some((name.into_string().ok()?, value.into_string().ok()?))
        });
        Config::load(&overrides, environment)
    }
}

impl ServeArguments {
    /// The options of all layers.
    ///
    /// # Errors
    /// As [`Config::load`].
    pub(crate) fn load(&self) -> Result<Config, ConfigError> {
        let settings = self.listen.map_or_else(Vec::new, |address| {
            vec![
                ("server.host".to_owned(), address.ip().to_string()),
                ("server.port".to_owned(), address.port().to_string()),
            ]
        });
        self.options.load_with(settings)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_command_line_is_consistent() {
        Cli::command().debug_assert();
    }

    #[test]
    fn completions_and_the_manual_name_all_commands_and_their_options() {
        let manual = String::from_utf8(manual().expect("written to memory")).expect("text");
        assert!(manual.starts_with(".ie"), "{manual:.40}");
        for shell in [clap_complete::Shell::Bash, clap_complete::Shell::Zsh] {
            let completions = String::from_utf8(completions(shell)).expect("text");
            for command in Cli::command().get_subcommands() {
                let name = command.get_name();
                assert!(completions.contains(name), "{shell}: {name}");
                let escaped = name.replace('-', "\\-");
                assert!(manual.contains(&format!("varve\\-{escaped}")), "{name}");
            }
            assert!(completions.contains("--listen"), "{shell}");
        }
        assert!(manual.contains("\\-\\-listen"));
    }

    #[test]
    fn a_host_name_is_listened_on_by_its_address() {
        let listen = |text: &str| {
            let cli = Cli::try_parse_from(["varve", "serve", "--listen", text]);
            let Command::Serve(arguments) = cli.map_err(|error| error.to_string())?.command else {
                panic!("not serve")
            };
            let address = arguments.load().expect("valid").server.address();
            Ok::<_, String>(address.to_string())
        };
        assert_eq!(listen("localhost:8090").as_deref(), Ok("127.0.0.1:8090"));
        assert_eq!(listen("[::1]:1").as_deref(), Ok("[::1]:1"));
        let error = listen("8080").expect_err("no port");
        assert!(error.contains("expected <host>:<port>"), "{error}");
    }

    #[test]
    fn flags_win_over_set() {
        let cli = Cli::try_parse_from([
            "varve",
            "serve",
            "--listen",
            "[::1]:0",
            "--set",
            "storage.engine=rocksdb",
            "--engine",
            "memory",
        ])
        .expect("parses");
        let Command::Serve(arguments) = cli.command else {
            panic!("not serve")
        };
        let config = arguments.load().expect("valid");
        assert_eq!(config.server.address().to_string(), "[::1]:0");
        assert_eq!(config.storage.engine, "memory");
    }
}
