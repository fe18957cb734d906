//! The requests that store the rows of a file.

use serde_json::{Map, Value as Json};

use crate::batches::BatchKind;
use crate::catalogue::Catalogue;
use crate::mapping::Source;

/// How the elements of a file are stored.
#[derive(Debug, Clone)]
pub struct Storing {
    kind: BatchKind,
    checks_vertices: bool,
    ends_edge: bool,
    /// The strategies of a batch update.
    update: Option<Json>,
}

impl Storing {
    /// For the rows of `source`.
    #[must_use]
    pub fn of(
        source: &Source,
        kind: BatchKind,
        catalogue: &Catalogue,
        checks_vertices: bool,
    ) -> Self {
        let update = source.update.then(|| {
            let names = changing(source, kind, catalogue);
            let strategies = names.into_iter().map(|name| (name, Json::from("OVERRIDE")));
            Json::Object(strategies.collect::<Map<String, Json>>())
        });
        Self {
            kind,
            checks_vertices,
            ends_edge: source.valid_to_ends_edge,
            update,
        }
    }

    /// Whether it is a batch update, which is a PUT; else it is a POST.
    #[must_use]
    pub fn is_update(&self) -> bool {
        self.update.is_some()
    }

    /// The query parameters.
    #[must_use]
    pub fn query(&self, skip_unchanged: bool) -> String {
        let is_edges = self.kind == BatchKind::Edges;
        let mut parameters = Vec::new();
        if is_edges && !self.is_update() {
            parameters.push(format!("check_vertex={}", self.checks_vertices));
        }
        if self.ends_edge {
            parameters.push("valid_to_ends_edge=true".to_owned());
        }
        if skip_unchanged {
            parameters.push("skip_unchanged=true".to_owned());
        }
        parameters.join("&")
    }

    /// The body for elements, of which `elements` is an array.
    #[must_use]
    pub fn body(&self, elements: &str) -> String {
        let Some(strategies) = &self.update else {
            return elements.to_owned();
        };
        let (name, more) = match self.kind {
            BatchKind::Vertices => ("vertices", String::new()),
            BatchKind::Edges => (
                "edges",
                format!(",\"check_vertex\":{}", self.checks_vertices),
            ),
        };
        format!(
            "{{\"{name}\":{elements},\"update_strategies\":{strategies},\
             \"create_if_not_exist\":true{more}}}"
        )
    }
}

/// The properties of a source's label that an update may change.
pub(crate) fn changing(source: &Source, kind: BatchKind, catalogue: &Catalogue) -> Vec<String> {
    let (properties, keys) = match kind {
        BatchKind::Vertices => match catalogue.vertex_label(&source.label) {
            Ok(label) => (&label.properties, &label.primary_keys),
            Err(_) => return Vec::new(),
        },
        BatchKind::Edges => match catalogue.edge_label(&source.label) {
            Ok(label) => (&label.properties, &label.sort_keys),
            Err(_) => return Vec::new(),
        },
    };
    let properties = properties.iter().filter(|name| !keys.contains(name));
    properties.cloned().collect()
}
