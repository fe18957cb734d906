//! Scratch.
use clap::Parser;
#[derive(Parser)]
struct Line { #[command(flatten)] arguments: varve_bench::BenchArguments }
fn main() -> anyhow::Result<std::process::ExitCode> { varve_bench::run(&Line::parse().arguments) }
