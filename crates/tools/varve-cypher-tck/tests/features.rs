//! All feature files of the TCK are read: no unknown steps, and expected values are literals.

use std::path::Path;

use varve_cypher_tck::gherkin::{Step, scenarios};
use varve_cypher_tck::literal::Literal;

/// The number of scenarios in tck-1.0.0-M23.
const SCENARIOS: usize = 3_897;

#[test]
fn all_features_are_read() {
    let Ok(folder) = std::env::var("VARVE_TEST_CYPHER") else {
        eprintln!("skipped: VARVE_TEST_CYPHER names no folder of features");
        return;
    };
    let scenarios = scenarios(Path::new(&folder)).expect("the features");
    assert_eq!(scenarios.len(), SCENARIOS);
    let mut wrong = Vec::new();
    for scenario in &scenarios {
        for step in &scenario.steps {
            let fault = match step {
                Step::Unknown(text) => Some(text.clone()),
                Step::Result(_, table) => {
                    let mut cells = table.rows.iter().flatten();
                    cells.find_map(|cell| Literal::read(cell).err())
                }
                _ => None,
            };
            wrong.extend(fault.map(|fault| format!("{}: {fault}", scenario.path())));
        }
    }
    assert!(wrong.is_empty(), "{}:\n{}", wrong.len(), wrong.join("\n"));
}
