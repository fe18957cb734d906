//! From verb and path to a route.
//!
//! The table is compiled into a tree of segments once; a look-up walks it with a handful of short
//! string comparisons and allocates only for percent-encoded segments. Both path forms lead to the
//! same routes: `/graphs/…`, and `/graphspaces/DEFAULT/graphs/…`; so do the two of the metadata
//! repository, with and without `enterprise`.

use http::Method;
use smallvec::SmallVec;

use crate::errors::ApiError;
use crate::path::{self, Segment, Segments};
use crate::route::{Route, Verb};

/// The one graph space that exists.
pub const DEFAULT_GRAPH_SPACE: &str = "DEFAULT";

/// The form of path that a client used.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PathForm {
    /// `/graphs/…`, or a global resource.
    Short,
    /// `/graphspaces/DEFAULT/…`.
    GraphSpace,
    /// `…/repository-services/users/{userId}/enterprise/…`: meant for all repositories of a cohort.
    Enterprise,
}

/// A compiled route table.
#[derive(Debug)]
pub struct Router {
    routes: Vec<&'static Route>,
    names: Vec<SmallVec<[&'static str; 4]>>,
    nodes: Vec<Node>,
}

#[derive(Debug, Default)]
struct Node {
    literals: Vec<(&'static str, usize)>,
    parameter: Option<usize>,
    /// The route of each verb, in the order of [`Verb::ALL`].
    routes: [Option<usize>; 4],
}

/// The result of a look-up.
#[derive(Debug)]
pub(crate) enum RouteMatch {
    /// A route, its parameters' values in order, and the form of the path.
    Route {
        index: usize,
        captures: Captures,
        form: PathForm,
    },
    /// OPTIONS on an existing path: the verbs it has.
    Options { allow: String },
}

pub(crate) type Captures = SmallVec<[Segment; 4]>;

/// The indexes of a path's segments that are parameters.
type Parameters = SmallVec<[usize; 4]>;

impl Router {
    /// Compiles a table. Panics at a programming error: two routes have the same verb and pattern,
    /// or `{graph}` is not the first parameter of its pattern.
    pub fn new(tables: &[&'static [Route]]) -> Self {
        let routes: Vec<&'static Route> = tables.iter().flat_map(|table| table.iter()).collect();
        let names = routes
            .iter()
            .map(|route| route.parameter_names().collect())
            .collect();
        let mut router = Self {
            routes,
            names,
            nodes: vec![Node::default()],
        };
        for index in 0..router.routes.len() {
            router.insert(index);
        }
        router
    }

    fn insert(&mut self, index: usize) {
        let route = self.routes[index];
        let graph = self.names[index].iter().position(|name| *name == "graph");
        assert!(
            graph.is_none_or(|at| at == 0),
            "{{graph}} is not the first parameter of {}",
            route.pattern
        );
        let mut node = 0;
        for segment in route
            .pattern
            .split('/')
            .filter(|segment| !segment.is_empty())
        {
            node = self.child(node, segment);
        }
        let slot = &mut self.nodes[node].routes[route.verb as usize];
        assert!(
            slot.is_none(),
            "two routes for {} {}",
            route.verb.as_str(),
            route.pattern
        );
        *slot = Some(index);
    }

    fn child(&mut self, node: usize, segment: &'static str) -> usize {
        let new = self.nodes.len();
        if segment.starts_with('{') {
            if let Some(child) = self.nodes[node].parameter {
                return child;
            }
            self.nodes[node].parameter = Some(new);
        } else {
            let literals = &mut self.nodes[node].literals;
            if let Some((_, child)) = literals.iter().find(|(literal, _)| *literal == segment) {
                return *child;
            }
            literals.push((segment, new));
        }
        self.nodes.push(Node::default());
        new
    }

    /// All routes; a route's index is its position here.
    pub fn routes(&self) -> &[&'static Route] {
        &self.routes
    }

    pub(crate) fn parameter_names(&self, index: usize) -> &[&'static str] {
        &self.names[index]
    }

    /// Finds the route of a request: 404 for an unknown path or graph space, 405 for a verb that
    /// the path lacks, 400 for a path that cannot be decoded.
    pub(crate) fn find(&self, method: &Method, path: &str) -> Result<RouteMatch, ApiError> {
        // Not `ok_or_else(ApiError::…)`: an error records the caller of its constructor.
        let segments = path::split(path)
            .map_err(|error| ApiError::bad_request(format!("Malformed path: {error}")))?;
        let Some(mut segments) = segments else {
            return Err(ApiError::unknown_path());
        };
        if is_enterprise(&segments, path) {
            segments.remove(ENTERPRISE_SEGMENT);
            return self.route(method, &mut segments, path, PathForm::Enterprise);
        }
        let (form, skip) = graph_space(&segments, path)?;
        self.route(method, &mut segments[skip..], path, form)
    }

    fn route(
        &self,
        method: &Method,
        segments: &mut [Segment],
        path: &str,
        form: PathForm,
    ) -> Result<RouteMatch, ApiError> {
        let mut parameters = Parameters::new();
        let Some(node) = self.walk(0, segments, (0, path), &mut parameters) else {
            return Err(match missing_part(segments, path) {
                Some(part) => ApiError::not_there_yet(part),
                None => ApiError::unknown_path(),
            });
        };
        if method == Method::OPTIONS {
            return Ok(RouteMatch::Options {
                allow: self.allow(node),
            });
        }
        let index = verb_of(method).and_then(|verb| self.nodes[node].routes[verb as usize]);
        let Some(index) = index else {
            return Err(ApiError::wrong_verb());
        };
        let captures = parameters.iter();
        Ok(RouteMatch::Route {
            index,
            captures: captures.map(|at| segments[*at].take()).collect(),
            form,
        })
    }

    /// Finds the node for the segments from `at` on; a literal takes precedence over a parameter.
    /// Adds the positions of parameters to `parameters`.
    fn walk(
        &self,
        node: usize,
        segments: &[Segment],
        (at, path): (usize, &str),
        parameters: &mut Parameters,
    ) -> Option<usize> {
        let node_ref = &self.nodes[node];
        let Some(first) = segments.get(at) else {
            return node_ref.routes.iter().any(Option::is_some).then_some(node);
        };
        let rest = (at + 1, path);
        let text = first.text(path);
        if let Some((_, child)) = node_ref
            .literals
            .iter()
            .find(|(literal, _)| *literal == text)
            && let Some(found) = self.walk(*child, segments, rest, parameters)
        {
            return Some(found);
        }
        let child = node_ref.parameter.filter(|_| !text.is_empty())?;
        parameters.push(at);
        let found = self.walk(child, segments, rest, parameters);
        if found.is_none() {
            parameters.pop();
        }
        found
    }

    fn allow(&self, node: usize) -> String {
        let mut allow = String::from("OPTIONS");
        for verb in Verb::ALL {
            if self.nodes[node].routes[verb as usize].is_some() {
                allow.push_str(if verb == Verb::Get { ",GET,HEAD" } else { "," });
                allow.push_str(if verb == Verb::Get { "" } else { verb.as_str() });
            }
        }
        allow
    }
}

fn verb_of(method: &Method) -> Option<Verb> {
    match *method {
        Method::GET | Method::HEAD => Some(Verb::Get),
        Method::POST => Some(Verb::Post),
        Method::PUT => Some(Verb::Put),
        Method::DELETE => Some(Verb::Delete),
        _ => None,
    }
}

/// Whether the path goes through a graph space, and how many segments that takes. Only resources of
/// a graph space answer below one: `/graphspaces/DEFAULT/versions` is unknown.
fn graph_space(segments: &Segments, path: &str) -> Result<(PathForm, usize), ApiError> {
    let text = |index: usize| segments.get(index).map(|segment| segment.text(path));
    if text(0) != Some("graphspaces") || segments.len() < 3 {
        return Ok((PathForm::Short, 0));
    }
    match (text(1), text(2)) {
        (Some(DEFAULT_GRAPH_SPACE), Some("graphs" | "auth")) => Ok((PathForm::GraphSpace, 2)),
        (Some(DEFAULT_GRAPH_SPACE), _) => Err(ApiError::unknown_path()),
        (name, _) => {
            let name = name.unwrap_or_default();
            Err(ApiError::not_found(format!(
                "Graph space '{name}' does not exist"
            )))
        }
    }
}

/// The unsupported part of HugeGraph's API to which an unknown path belongs.
fn missing_part(segments: &[Segment], path: &str) -> Option<&'static str> {
    let text = |index: usize| segments.get(index).map(|segment| segment.text(path));
    match (text(0)?, text(2), text(3)) {
        ("graphs", Some("jobs"), Some("cypher")) => Some("Cypher jobs"),
        ("graphs", Some("jobs"), Some("computer")) => Some("computer jobs"),
        _ => None,
    }
}

/// The index of `enterprise` in a path of the metadata repository: after
/// `servers/{serverName}/open-metadata/repository-services/users/{userId}`.
const ENTERPRISE_SEGMENT: usize = 6;

fn is_enterprise(segments: &Segments, path: &str) -> bool {
    segments.len() > ENTERPRISE_SEGMENT
        && segments[ENTERPRISE_SEGMENT].text(path) == "enterprise"
        && segments[0].text(path) == "servers"
        && segments[4].text(path) == "users"
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::request::RequestContext;
    use crate::respond::HandlerResult;
    use crate::respond::Response;
    use crate::route::{Handler, Scope};

    fn nothing(_: &RequestContext) -> HandlerResult {
        Ok(Response::no_content())
    }

    const H: Handler = Handler::Inline(nothing);
    static TABLE: &[Route] = &[
        Route::get("", H).reads(Scope::Server),
        Route::get("graphs/{graph}", H).reads(Scope::Server),
        Route::put("graphs/manage", H).writes(Scope::Server),
        Route::get("graphs/{graph}/graph/vertices/{id}", H).reads(Scope::Server),
        Route::put("graphs/{graph}/graph/vertices/batch", H).writes(Scope::Server),
        Route::get("graphspaces/{graphspace}", H).reads(Scope::Server),
        Route::get("graphspaces", H).reads(Scope::Server),
    ];

    fn check(method: Method, path: &str, expected: &str) {
        let router = Router::new(&[TABLE]);
        let found = match router.find(&method, path) {
            Ok(RouteMatch::Route {
                index,
                captures,
                form,
            }) => {
                let values: Vec<&str> = captures.iter().map(|segment| segment.text(path)).collect();
                format!("{} {values:?} {form:?}", TABLE[index].pattern)
            }
            Ok(RouteMatch::Options { allow }) => allow,
            Err(error) => format!("{} {}", error.status().as_u16(), error.message()),
        };
        assert_eq!(found, expected, "{method} {path}");
    }

    #[test]
    fn paths_find_their_routes() {
        check(Method::GET, "/", " [] Short");
        check(
            Method::GET,
            "/graphs/a%20b/",
            "graphs/{graph} [\"a b\"] Short",
        );
        check(
            Method::HEAD,
            "/graphspaces/DEFAULT/graphs/g",
            "graphs/{graph} [\"g\"] GraphSpace",
        );
        check(
            Method::GET,
            "/graphs/g/graph/vertices/%22a%2Fb%22",
            "graphs/{graph}/graph/vertices/{id} [\"g\", \"\\\"a/b\\\"\"] Short",
        );
        check(
            Method::GET,
            "/graphspaces/DEFAULT",
            "graphspaces/{graphspace} [\"DEFAULT\"] Short",
        );
        check(
            Method::PUT,
            "/graphs/g/graph/vertices/batch",
            "graphs/{graph}/graph/vertices/batch [\"g\"] Short",
        );
    }

    #[test]
    fn what_is_unknown_says_so() {
        check(Method::GET, "/nope", "404 HTTP 404 Not Found");
        check(Method::GET, "/graphs/g/graph", "404 HTTP 404 Not Found");
        check(
            Method::GET,
            "/graphs//graph/vertices/1",
            "404 HTTP 404 Not Found",
        );
        check(
            Method::GET,
            "/graphspaces/DEFAULT/versions",
            "404 HTTP 404 Not Found",
        );
        check(
            Method::GET,
            "/graphspaces/x/graphs/g",
            "404 Graph space 'x' does not exist",
        );
        check(Method::POST, "/graphs/g", "405 HTTP 405 Method Not Allowed");
        check(Method::PATCH, "/", "405 HTTP 405 Method Not Allowed");
        check(
            Method::GET,
            "/graphs/%ff",
            "400 Malformed path: the decoded text is not UTF-8",
        );
    }

    #[test]
    fn parts_that_are_not_there_yet_are_named() {
        for (path, part) in [
            ("/graphs/g/jobs/cypher", "Cypher jobs"),
            ("/graphspaces/DEFAULT/graphs/g/jobs/cypher/", "Cypher jobs"),
            ("/graphs/g/jobs/computer/lpa", "computer jobs"),
        ] {
            let message =
                format!("404 Not supported yet: {part}. GET /apis lists the supported resources");
            check(Method::GET, path, &message);
            check(Method::POST, path, &message);
        }
    }

    #[test]
    fn options_lists_the_verbs() {
        check(Method::OPTIONS, "/graphs/manage", "OPTIONS,PUT");
        check(
            Method::OPTIONS,
            "/graphs/g/graph/vertices/1",
            "OPTIONS,GET,HEAD",
        );
    }

    #[test]
    #[should_panic(expected = "two routes for GET graphs/{x}")]
    fn doubled_routes_are_refused() {
        static DOUBLED: &[Route] = &[Route::get("graphs/{x}", H).reads(Scope::Server)];
        let _ = Router::new(&[TABLE, DOUBLED]);
    }

    #[test]
    #[should_panic(expected = "{graph} is not the first parameter of things/{id}/{graph}")]
    fn a_graph_behind_another_parameter_is_refused() {
        static LATE: &[Route] = &[Route::get("things/{id}/{graph}", H).reads(Scope::Graph)];
        let _ = Router::new(&[LATE]);
    }
}
