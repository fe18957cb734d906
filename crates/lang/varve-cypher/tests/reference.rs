//! The reference page lists the functions that there are.

#[test]
fn the_reference_lists_every_function_once() {
    let path = concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/../../../docs/cypher-reference.md"
    );
    let page = std::fs::read_to_string(path).expect("docs/cypher-reference.md");
    let (_, functions) = page.split_once("\n## Functions\n").expect("the functions");
    let (functions, _) = functions.split_once("\n## ").expect("what follows them");
    let rows = functions.lines().filter(|line| line.starts_with("| "));
    let mut listed: Vec<&str> = rows
        .flat_map(|row| row.split('`').skip(1).step_by(2))
        .collect();
    listed.sort_unstable();
    let mut known: Vec<&str> = varve_cypher::function_names()
        .map(|(name, ..)| name)
        .collect();
    known.sort_unstable();
    assert_eq!(listed, known);
}
