//! Label sets and the vertex labels of a graph.
//!
//! A vertex has one vertex label. In an open graph, that label stands for a set of labels of
//! Cypher: its name is the sorted labels, joined with [`SEPARATOR`]; the graph's default label
//! stands for no label. In a declared graph, the set has exactly the vertex label.

use std::sync::Arc;

use varve_model::VertexLabelId;
use varve_view::SchemaView;

use crate::expression::LabelTest;

/// Joins the labels of a set.
pub(crate) const SEPARATOR: &str = "::";
/// The vertex label that an open graph gives to vertices without a label.
pub(crate) const DEFAULT_LABEL: &str = "vertex";

/// The labels of the vertices with a vertex label: sorted, or the label and its supertypes.
pub(crate) fn names(schema: &dyn SchemaView, label: VertexLabelId) -> Vec<Arc<str>> {
    let own = match schema.vertex_label(label) {
        Some(found) => names_of(schema.is_open(), &found.name),
        None => return Vec::new(),
    };
    let above = schema.vertex_supertypes(label).iter();
    let above = above.filter_map(|label| schema.vertex_label(*label));
    let above = above.map(|label| Arc::from(label.name.as_str()));
    own.into_iter().chain(above).collect()
}

/// The labels for which the name of a vertex label stands.
pub(crate) fn names_of(is_open: bool, name: &str) -> Vec<Arc<str>> {
    match is_open {
        true if name == DEFAULT_LABEL => Vec::new(),
        true => name.split(SEPARATOR).map(Arc::from).collect(),
        false => vec![Arc::from(name)],
    }
}

/// The name of the vertex label for a set of labels, which is sorted here; `None` = the default
/// label.
///
/// # Errors
/// The reason why vertices of the graph cannot have these labels.
pub(crate) fn vertex_label(
    schema: &dyn SchemaView,
    mut labels: Vec<Arc<str>>,
) -> Result<Option<String>, String> {
    labels.sort_unstable();
    labels.dedup();
    if !schema.is_open() {
        return match labels.as_slice() {
            [one] => Ok(Some(one.to_string())),
            _ => Err(format!(
                "a node of a graph with a declared schema has exactly one label, not {}; open \
                 graphs allow any number",
                labels.len()
            )),
        };
    }
    let is_bad = |label: &&Arc<str>| {
        label.is_empty()
            || label.contains(SEPARATOR)
            || label.starts_with(':')
            || label.ends_with(':')
            || label.as_ref() == DEFAULT_LABEL
    };
    if let Some(bad) = labels.iter().find(is_bad) {
        return Err(format!(
            "the label '{bad}' cannot be stored: labels contain no '{SEPARATOR}', do not begin or \
             end with ':', and are not '{DEFAULT_LABEL}'"
        ));
    }
    Ok((!labels.is_empty()).then(|| labels.join(SEPARATOR)))
}

/// Whether the vertices with a vertex label satisfy a label expression.
pub(crate) fn node_satisfies(
    schema: &dyn SchemaView,
    label: VertexLabelId,
    test: &LabelTest,
) -> bool {
    let name = schema.vertex_label(label).map(|found| found.name.as_str());
    match (name, schema.is_open()) {
        (None, _) | (Some(DEFAULT_LABEL), true) => test.holds(&|_| false, false),
        (Some(name), true) => test.holds(
            &|wanted| name.split(SEPARATOR).any(|one| one == wanted),
            true,
        ),
        (Some(name), false) => {
            let above = schema.vertex_supertypes(label).iter();
            let above: Vec<&str> = above
                .filter_map(|label| schema.vertex_label(*label))
                .map(|label| label.name.as_str())
                .collect();
            test.holds(&|wanted| name == wanted || above.contains(&wanted), true)
        }
    }
}

/// Whether an element with these labels, or types, satisfies a label expression.
pub(crate) fn satisfies(test: &LabelTest, names: &[Arc<str>]) -> bool {
    match test {
        LabelTest::Name(name) => names.contains(name),
        LabelTest::Any => !names.is_empty(),
        LabelTest::Not(test) => !satisfies(test, names),
        LabelTest::And(all) => all.iter().all(|test| satisfies(test, names)),
        LabelTest::Or(all) => all.iter().any(|test| satisfies(test, names)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_vertex_label_stands_for_a_set_of_labels() {
        let none: [Arc<str>; 0] = [];
        assert_eq!(names_of(true, "A::B"), ["A".into(), "B".into()]);
        assert_eq!(names_of(true, DEFAULT_LABEL), none);
        assert_eq!(names_of(false, "A::B"), ["A::B".into()]);
    }
}
