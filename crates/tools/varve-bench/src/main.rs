//! The load tool: load tests of any server that speaks HugeGraph's REST API, and the performance
//! suite of any open-metadata repository.

use std::process::ExitCode;

fn main() -> ExitCode {
    varve_bench::main()
}
