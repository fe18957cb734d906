//! Two worlds of valid time: a graph with hidden states and one without them. Reads, histories and
//! writes with periods are answered alike, but for refusals (403) where something hidden would be
//! overwritten or deleted.

use super::*;

/// The instants at which states begin; the last one is still present.
const YEARS: [&str; 5] = ["2018", "2019", "2020", "2021", "2022"];

/// The states of each element in each year.
type States = BTreeMap<usize, Elements>;

/// The period of a year: without an end for the last one.
fn period(from: usize, to: usize) -> String {
    let to = match YEARS.get(to) {
        Some(to) => format!("&valid_to={to}-01-01"),
        None => String::new(),
    };
    format!("valid_from={}-01-01{to}", YEARS[from])
}

fn random_states(random: &mut Random) -> States {
    let mut states = States::new();
    for year in 0..YEARS.len() {
        let mut elements = Elements::default();
        for at in 0..9 {
            if random.one_in(5) {
                continue;
            }
            // The last vertices have another label in some years.
            let label = match at {
                0..6 => LABELS[at % 3],
                _ => LABELS[random.below(2)],
            };
            let id = format!("v{at}");
            elements.vertices.insert(id, vertex(label, random));
        }
        let ids: Vec<String> = elements.vertices.keys().cloned().collect();
        for _ in 0..12 {
            let (source, target) = (random.pick(&ids).clone(), random.pick(&ids).clone());
            let ends = (
                elements.vertices[&source].label,
                elements.vertices[&target].label,
            );
            let link = LINKS
                .iter()
                .find(|(_, from, to)| (*from, *to) == (ends.0, ends.1));
            if let Some((label, ..)) = link {
                let edge = Element {
                    ends: Some((source.clone(), target.clone())),
                    ..vertex(label, random)
                };
                let id = ((*label).to_owned(), source, target);
                elements.edges.insert(id, edge);
            }
        }
        states.insert(year, elements);
    }
    states
}

fn body(id: Option<&str>, element: &Element, of: &Elements) -> Value {
    let mut body = json_of(id, element);
    if let Some((source, target)) = &element.ends {
        body["outVLabel"] = json!(of.vertices[source].label);
        body["inVLabel"] = json!(of.vertices[target].label);
    }
    body
}

/// What of the states may be seen. A right on a label without conditions needs no present state.
fn visible(states: &States, rules: &[Rule]) -> States {
    let now = &states[&(YEARS.len() - 1)];
    let is_free = |element: &Element| {
        let mut each = rules.iter();
        each.any(|rule| rule.conditions.is_empty() && rule.covers(element))
    };
    let sees = |element: &Element, present: Option<&Element>| {
        is_free(element)
            || (covers(rules, element) && present.is_none_or(|present| covers(rules, present)))
    };
    let mut seen = states.clone();
    for elements in seen.values_mut() {
        let all = elements.vertices.clone();
        elements
            .vertices
            .retain(|id, vertex| sees(vertex, now.vertices.get(id)));
        let vertices = &elements.vertices;
        elements.edges.retain(|id, edge| {
            assert!(all.contains_key(&id.1));
            sees(edge, now.edges.get(id))
                && vertices.contains_key(&id.1)
                && vertices.contains_key(&id.2)
        });
    }
    seen
}

impl World {
    fn store_years(&self, graph: &str, states: &States) {
        let post = |path: &str, body: Vec<Value>, year: usize| {
            if body.is_empty() {
                return;
            }
            let period = period(year, year + 1);
            let path = format!("/graphs/{graph}/graph/{path}?{period}");
            let answer = send_by(&self.admin, "POST", &path, &json!(body));
            assert_eq!(answer.status, 201, "{path}: {}", answer.text());
        };
        for (year, elements) in states {
            let vertices = elements.vertices.iter();
            let vertices = vertices.map(|(id, own)| body(Some(id), own, elements));
            post("vertices/batch", vertices.collect(), *year);
        }
        for (year, elements) in states {
            let edges = elements.edges.values();
            let edges = edges.map(|own| body(None, own, elements));
            post("edges/batch", edges.collect(), *year);
        }
    }
}

/// Everything that may be asked of the elements, at each year and of their histories.
fn questions(states: &States) -> Vec<Question> {
    let mut paths = BTreeSet::new();
    for elements in states.values() {
        paths.extend(
            elements
                .vertices
                .keys()
                .map(|id| format!("vertices/%22{id}%22")),
        );
        paths.extend(
            elements
                .edges
                .keys()
                .map(|id| format!("edges/{}", edge_path(id))),
        );
    }
    let mut asked = Vec::new();
    for path in &paths {
        for year in YEARS {
            asked.push(format!("graph/{path}?as_of={year}-06-01"));
        }
        asked.push(format!("graph/{path}/history"));
        asked.push(format!("graph/{path}/timeline"));
    }
    for year in YEARS {
        for listing in ["vertices?limit=-1", "edges?limit=-1"] {
            asked.push(format!("graph/{listing}&as_of={year}-06-01"));
        }
    }
    asked.into_iter().map(Question::Get).collect()
}

/// A request that writes in a period. `known`: ids and edges of the graph with hidden states.
struct Write {
    verb: &'static str,
    path: String,
    body: Value,
}

impl Write {
    fn random(states: &States, random: &mut Random) -> Self {
        let from = random.below(YEARS.len());
        let to = from + 1 + random.below(YEARS.len() - from);
        let period = period(from, to);
        let elements = &states[&from];
        let ids: Vec<String> = (0..9).map(|at| format!("v{at}")).collect();
        let id = random.pick(&ids).clone();
        let edges: Vec<_> = states.values().flat_map(|own| own.edges.iter()).collect();
        let (edge_id, edge) = *random.pick(&edges);
        let level = random.below(6) as i64;
        let label = elements.vertices.get(&id).map_or("a", |own| own.label);
        let skip = ["", "&skip_unchanged=true"][random.below(2)];
        let (verb, path, body) = match random.below(9) {
            0 => {
                let new = vertex(LABELS[random.below(3)], random);
                ("POST", "vertices?".to_owned(), json_of(Some(&id), &new))
            }
            1 | 2 => {
                let body = json!({"label": label, "properties": {"level": level}});
                ("PUT", format!("vertices/%22{id}%22?action=append&"), body)
            }
            3 => {
                let own = json!({"id": id, "label": label, "properties": {"level": level}});
                let body = json!({"vertices": [own], "update_strategies": {"level": "OVERRIDE"},
                                  "create_if_not_exist": true});
                ("PUT", "vertices/batch?".to_owned(), body)
            }
            4 => ("DELETE", format!("vertices/%22{id}%22?"), json!({})),
            5 => {
                let label = format!("vertices/%22{id}%22?label={label}&");
                ("DELETE", label, json!({}))
            }
            6 => {
                let mut body = json_of(None, edge);
                body["outVLabel"] = json!(LINKS.iter().find(|it| it.0 == edge.label).unwrap().1);
                body["inVLabel"] = json!(LINKS.iter().find(|it| it.0 == edge.label).unwrap().2);
                let check = ["check_vertex=false&", ""][random.below(2)];
                let body = json!([body]);
                ("POST", format!("edges/batch?{check}"), body)
            }
            7 => {
                let body = json!({"label": edge.label, "properties": {"level": level}});
                let path = format!("edges/{}?action=append&", edge_path(edge_id));
                ("PUT", path, body)
            }
            _ => (
                "DELETE",
                format!("edges/{}?", edge_path(edge_id)),
                json!({}),
            ),
        };
        Self {
            verb,
            path: format!("{path}{period}{skip}"),
            body,
        }
    }
}

#[test]
fn writes_with_periods_and_histories_are_answered_as_on_a_graph_without_what_is_hidden() {
    let world = World::new();
    let (mut alike, mut refused, mut hidden) = (0, 0, 0);
    for seed in 0..WORLDS {
        let random = &mut Random::new(5_000 + seed);
        let (name, without) = (format!("years{seed}x"), format!("years{seed}y"));
        let graph = world.graph(&name);
        world.graph(&without);
        let states = random_states(random);
        let rules = rules(random);
        let seen = visible(&states, &rules);
        for year in states.keys() {
            hidden += states[year].vertices.len() - seen[year].vertices.len();
        }
        world.store_years(&name, &states);
        world.store_years(&without, &seen);
        let resources: Vec<Value> = rules.iter().map(Rule::json).collect();
        for graph in [&name, &without] {
            for permission in ["READ", "WRITE", "DELETE"] {
                world.grant(USERS[0], graph, permission, &resources);
            }
        }
        let user = &world.users[0];
        let compare = |what: &str| {
            for question in questions(&states) {
                let mut got = normal(&world.ask(user, &name, &question), &name);
                let mut wanted = normal(&world.ask(&world.admin, &without, &question), &without);
                for value in [&mut got.1, &mut wanted.1] {
                    sort(value);
                }
                assert_eq!(
                    got, wanted,
                    "{question:?} {what} of seed {seed} with {rules:#?}"
                );
            }
        };
        compare("at first");
        for _ in 0..40 {
            let Write { verb, path, body } = Write::random(&states, random);
            let send = |client: &Client, graph: &str| {
                let path = format!("/graphs/{graph}/graph/{path}");
                send_by(client, verb, &path, &body)
            };
            let before = graph.published();
            let answer = send(user, &name);
            if answer.status == 403 {
                assert_eq!(graph.published(), before, "{}", answer.text());
                refused += 1;
                continue;
            }
            let got = normal(&answer, &name);
            let wanted = normal(&send(user, &without), &without);
            assert_eq!(
                got, wanted,
                "{verb} {path} {body} of seed {seed} with {rules:#?}"
            );
            alike += 1;
        }
        compare("at last");
    }
    assert!(
        alike > 100 && refused > 20 && hidden > 50,
        "{alike} {refused} {hidden}"
    );
}

#[test]
fn a_version_names_only_visible_ones_as_newer() {
    let world = World::new();
    world.graph("newer");
    let adults = json!({"type": "VERTEX", "label": "a", "properties": {"level": "P.gte(4)"}});
    world.grant("u0", "newer", "READ", &[adults]);
    for level in [5, 1, 4] {
        let body = json!({"id": "a1", "label": "a", "properties": {"level": level}});
        let path = "/graphs/newer/graph/vertices";
        let answer = send_by(&world.admin, "POST", path, &body);
        assert_eq!(answer.status, 201, "{}", answer.text());
    }
    let newer = |client: &Client, rest: &str| {
        let path = format!("graph/vertices/%22a1%22/history{rest}");
        let answer = world.ask(client, "newer", &Question::Get(path));
        let answer: Value = serde_json::from_slice(&answer.body).unwrap();
        let versions = answer["versions"].as_array().unwrap().clone();
        let pairs = versions
            .iter()
            .map(|it| (it["version"].clone(), it["superseded_by"].clone()));
        (pairs.collect::<Vec<_>>(), answer["page"].clone())
    };
    let (all, _) = newer(&world.admin, "");
    let [third, second, first] = all.try_into().unwrap();
    assert_eq!(first.1, second.0);
    let user = &world.users[0];
    let seen = [third.clone(), (first.0.clone(), third.0.clone())];
    assert_eq!(newer(user, "").0, seen);
    // Also where the newer one is on an earlier page.
    let (page, next) = newer(user, "?limit=1");
    assert_eq!(page, seen[..1]);
    let next = next.as_str().unwrap();
    assert_eq!(newer(user, &format!("?limit=1&page={next}")).0, seen[1..]);
}

#[test]
fn an_edge_names_the_stored_labels_of_its_ends_and_these_stay() {
    let world = World::new();
    world.graph("ends");
    let send = |client: &Client, verb: &str, path: &str, body: &Value| {
        let path = format!("/graphs/ends/graph/{path}");
        send_by(client, verb, &path, body)
    };
    let vertex = |id: &str, label: &str| json!({"id": id, "label": label, "properties": {}});
    let edge = |target: &str| {
        json!({"label": "aa", "outV": "x", "inV": target, "outVLabel": "a", "inVLabel": "a",
               "properties": {}})
    };
    let admin = &world.admin;
    let vertices = json!([vertex("x", "a"), vertex("y", "a"), vertex("secret", "b")]);
    assert_eq!(send(admin, "POST", "vertices/batch", &vertices).status, 201);
    assert_eq!(send(admin, "POST", "edges", &edge("y")).status, 201);
    // Whoever may not see an end cannot name another label for it.
    let resources = [
        json!({"type": "VERTEX", "label": "a"}),
        json!({"type": "EDGE", "label": "*"}),
    ];
    for permission in ["READ", "WRITE", "DELETE"] {
        world.grant("u0", "ends", permission, &resources);
    }
    let user = &world.users[0];
    let unchecked = "edges/batch?check_vertex=false";
    let [hidden, absent] = ["secret", "absent"].map(|target| {
        let answer = send(user, "POST", unchecked, &json!([edge(target)]));
        (answer.status, answer.text().replace(target, "TARGET"))
    });
    assert_eq!(hidden.0, 400, "{}", hidden.1);
    assert_eq!(hidden, absent);
    assert_eq!(
        send(user, "POST", unchecked, &json!([edge("y")])).status,
        201
    );
    // A vertex with edges keeps its label: the edge would name the old one.
    for path in [
        "vertices",
        "vertices?valid_from=2100-01-01",
        "vertices?valid_from=2000-01-01",
    ] {
        let refused = send(admin, "POST", path, &vertex("y", "b"));
        assert_eq!(refused.status, 400, "{path}: {}", refused.text());
        let text = refused.text();
        assert!(text.contains("has edges") && text.contains("'a'"), "{text}");
    }
    // Before the edge began, and without edges, it may have another.
    let past = "vertices?valid_from=2000-01-01&valid_to=2001-01-01";
    assert_eq!(send(admin, "POST", past, &vertex("y", "b")).status, 201);
    assert_eq!(
        send(admin, "POST", "vertices", &vertex("secret", "c")).status,
        201
    );
    let gone = send(admin, "DELETE", "vertices/%22y%22", &json!({}));
    assert_eq!(gone.status, 204, "{}", gone.text());
    assert_eq!(
        send(admin, "POST", "vertices", &vertex("y", "b")).status,
        201
    );
    let alias = json!({"g": "__g_ends"});
    let script = "g.V('x').drop(); g.addV('c').property(id, 'x').label()";
    let body = json!({"gremlin": script, "aliases": alias});
    let again = send_by(admin, "POST", "/gremlin", &body);
    assert_eq!(again.status, 200, "{}", again.text());
}

#[test]
fn hidden_edges_do_not_cut_a_timeline() {
    let mut config = ServerConfig::default();
    config.explore.count_max = 5;
    config.explore.elements_max = 5;
    let world = World::with(config);
    world.graph("cut");
    let send = |path: &str, body: &Value| {
        let path = format!("/graphs/cut/graph/{path}");
        let answer = send_by(&world.admin, "POST", &path, body);
        assert_eq!(answer.status, 201, "{}", answer.text());
    };
    let vertex = |id: &str| json!({"id": id, "label": "a", "properties": {}});
    send(
        "vertices/batch?valid_from=2000-01-01",
        &json!([vertex("x"), vertex("y")]),
    );
    for level in 0..12 {
        let edge = json!({"label": "aa", "outV": "x", "inV": "y", "outVLabel": "a",
            "inVLabel": "a", "properties": {"level": level}});
        send(&format!("edges?valid_from={}-01-01", 2000 + level), &edge);
    }
    let resources = [
        json!({"type": "VERTEX", "label": "*"}),
        json!({"type": "EDGE", "label": "*", "properties": {"level": "P.gt(50)"}}),
    ];
    world.grant("u0", "cut", "READ", &resources);
    let truncated = |client: &Client| {
        let ask = Question::Post(
            "explore/timeline",
            json!({"vertices": ["\"x\"", "\"y\""], "between": true}),
        );
        let answer = world.ask(client, "cut", &ask);
        assert_eq!(answer.status, 200, "{}", answer.text());
        let answer: Value = serde_json::from_slice(&answer.body).unwrap();
        answer["truncated"].clone()
    };
    assert_eq!(truncated(&world.admin), json!(true));
    assert_eq!(truncated(&world.users[0]), json!(false));
}
