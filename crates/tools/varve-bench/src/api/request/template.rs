//! The text of each scenario's requests, with placeholders for the parts that change.

use super::super::payload::{Template, VertexKind};
use super::super::queries;
use super::super::scenario::{GraphAddress, Scenario, Sizes};

const VERTEX: &str = "graph/vertices/%22@@@@@@@@I%22";

/// The template of a scenario's requests.
pub(super) fn template(scenario: Scenario, sizes: &Sizes, place: &GraphAddress) -> Template {
    use Scenario as S;
    let get = |path: &str, kind: VertexKind| {
        let path = format!("{}/{path}", place.base);
        let text = format!("GET {path} HTTP/1.1\r\n{}\r\n", place.headers);
        Template::single(&text, kind)
    };
    if let Some(write) =
        schema_request(scenario, place).or_else(|| insertion(scenario, sizes, place))
    {
        return write;
    }
    match scenario {
        S::VertexById => get(VERTEX, VertexKind::Plain),
        S::EdgeById => get(
            &format!("graph/edges/S@@@@@@@@S{}S@@@@@@@@T", place.edge_middle),
            VertexKind::Plain,
        ),
        S::Adjacency => get(
            "graph/edges?vertex_id=%22@@@@@@@@I%22&direction=OUT&limit=100",
            VertexKind::Plain,
        ),
        other => match (queries::traverser(other), queries::gremlin(other)) {
            (Some(traverser), _) => get(&format!("traversers/{traverser}"), VertexKind::Person),
            (_, query) => gremlin(query.unwrap_or_default(), place),
        },
    }
}

/// A request that creates a schema element; `None` for other scenarios.
fn schema_request(scenario: Scenario, place: &GraphAddress) -> Option<Template> {
    use Scenario as S;
    let post = |path: &str, body: Template| request(path, body, place);
    Some(match scenario {
        S::PropertyKeys => post(
            "schema/propertykeys",
            schema_body("k", r#""data_type":"TEXT""#),
        ),
        S::VertexLabels => post(
            "schema/vertexlabels",
            schema_body(
                "v",
                r#""id_strategy":"CUSTOMIZE_STRING","properties":["bname","bage"]"#,
            ),
        ),
        S::EdgeLabels => post(
            "schema/edgelabels",
            schema_body(
                "e",
                r#""source_label":"benchv","target_label":"benchv","properties":["bsince"]"#,
            ),
        ),
        _ => return None,
    })
}

/// A request that inserts or overwrites elements; `None` for other scenarios.
fn insertion(scenario: Scenario, sizes: &Sizes, place: &GraphAddress) -> Option<Template> {
    use Scenario as S;
    let items = scenario.items(sizes);
    let array = |body: Template| body.wrapped(b"[", b"]");
    let (path, body) = match scenario {
        S::SingleInsertVertices => ("graph/vertices", Template::vertices(VertexKind::Plain, 1)),
        S::SingleInsertEdges => ("graph/edges", Template::edges(VertexKind::Plain, 1)),
        S::BatchInsertVertices | S::Overwrite => (
            "graph/vertices/batch",
            array(Template::vertices(VertexKind::Plain, items)),
        ),
        S::BatchInsertEdges => (
            "graph/edges/batch",
            array(Template::edges(VertexKind::Plain, items)),
        ),
        S::BatchInsertEdgesUnchecked => (
            "graph/edges/batch?check_vertex=false",
            array(Template::edges(VertexKind::Plain, items)),
        ),
        S::LoadPersons => (
            "graph/vertices/batch",
            array(Template::vertices(VertexKind::Person, items)),
        ),
        S::LoadKnows => (
            "graph/edges/batch?check_vertex=false",
            array(Template::edges(VertexKind::Person, items)),
        ),
        _ => return None,
    };
    Some(request(path, body, place))
}

/// The request of a Gremlin query. It binds only the variables that the query uses, since some
/// servers refuse others. Its path does not depend on the graph.
fn gremlin(query: &str, place: &GraphAddress) -> Template {
    let variables = [
        ("x", r#""@@@@@@@@S""#),
        ("y", r#""@@@@@@@@T""#),
        ("n", r#""@@@@@@@N""#),
        ("a", "@A"),
    ];
    let words = query.split(|letter: char| !letter.is_alphanumeric());
    let used = variables
        .into_iter()
        .filter(|(name, _)| words.clone().any(|word| word == *name));
    let bindings: Vec<String> = used
        .map(|(name, mark)| format!(r#""{name}":{mark}"#))
        .collect();
    let bindings = bindings.join(",");
    let body = format!(
        r#"{{"gremlin":"{query}","bindings":{{{bindings}}},"language":"gremlin-groovy","aliases":{{"g":"{}"}}}}"#,
        place.source
    );
    let head = format!(
        "POST /gremlin HTTP/1.1\r\n{}Content-Type: application/json\r\nContent-Length: {}\r\n\r\n",
        place.headers,
        body.len()
    );
    Template::single(&format!("{head}{body}"), VertexKind::Person)
}

fn schema_body(letter: &str, rest: &str) -> Template {
    let text = format!(r#"{{"name":"b{letter}@@@@@@@N",{rest},"check_exist":false}}"#);
    Template::single(&text, VertexKind::Plain)
}

fn request(path: &str, body: Template, place: &GraphAddress) -> Template {
    let head = format!(
        "POST {}/{path} HTTP/1.1\r\n{}Content-Type: application/json\r\nContent-Length: {}\r\n\r\n",
        place.base,
        place.headers,
        body.len()
    );
    body.wrapped(head.as_bytes(), b"")
}
