//! What a user may not write is refused, and leaves no trace.

use super::*;

/// What a user may read, write and delete.
struct Rights {
    read: Vec<Rule>,
    write: Vec<Rule>,
    delete: Vec<Rule>,
}

impl Rights {
    fn reads_vertex(&self, vertex: &Element) -> bool {
        covers(&self.read, vertex)
    }

    /// Whether the ends of an edge are there for who treats it by these rules.
    fn knows_ends(&self, own: &[Rule], edge: &Element, of: &Elements) -> bool {
        let (source, target) = edge.ends.as_ref().unwrap();
        [source, target].iter().all(|id| {
            let end = of.vertices.get(*id);
            end.is_some_and(|end| covers(&self.read, end) || covers(own, end))
        })
    }
}

/// A request that changes something, and what there is afterwards if it is allowed.
struct Write {
    verb: &'static str,
    path: String,
    body: Value,
    after: Option<Elements>,
    /// The same as a script, and whether that finds something to change.
    script: Option<(String, bool)>,
}

impl Write {
    fn random(now: &Elements, rights: &Rights, random: &mut Random) -> Self {
        match random.below(7) {
            0 | 1 => Self::put_vertices(now, rights, random),
            2 => Self::append(now, rights, random),
            3 => Self::delete_vertex(now, rights, random),
            4 | 5 => Self::put_edge(now, rights, random),
            _ => Self::delete_edge(now, rights, random),
        }
    }

    fn put_vertices(now: &Elements, rights: &Rights, random: &mut Random) -> Self {
        let (mut after, mut allowed, mut body) = (now.clone(), true, Vec::new());
        for _ in 0..1 + random.below(3) {
            let label = LABELS[random.below(3)];
            let known: Vec<&String> = now
                .vertices
                .keys()
                .filter(|id| id.starts_with(label))
                .collect();
            let id = match known.is_empty() || random.one_in(3) {
                true => format!("{label}n{}", random.below(100)),
                false => (*random.pick(&known)).clone(),
            };
            let new = vertex(label, random);
            body.push(json_of(Some(&id), &new));
            allowed &= covers(&rights.write, &new);
            let before = now.vertices.get(&id);
            allowed &= before.is_none_or(|before| covers(&rights.write, before));
            after.vertices.insert(id, new);
        }
        Self {
            verb: "POST",
            path: "vertices/batch".to_owned(),
            body: json!(body),
            after: allowed.then_some(after),
            script: None,
        }
    }

    fn append(now: &Elements, rights: &Rights, random: &mut Random) -> Self {
        let ids: Vec<&String> = now.vertices.keys().collect();
        let id = *random.pick(&ids);
        let (before, level) = (&now.vertices[id], random.below(6) as i64);
        let changed = Element {
            level: Some(level),
            ..before.clone()
        };
        let allowed = rights.reads_vertex(before)
            && covers(&rights.write, before)
            && covers(&rights.write, &changed);
        let body = json!({"label": before.label, "properties": {"level": level}});
        let mut after = now.clone();
        after.vertices.insert(id.clone(), changed);
        Self {
            verb: "PUT",
            path: format!("vertices/%22{id}%22?action=append"),
            body,
            after: allowed.then_some(after),
            script: Some((
                format!("g.V('{id}').property('level', {level})"),
                rights.reads_vertex(before),
            )),
        }
    }

    fn delete_vertex(now: &Elements, rights: &Rights, random: &mut Random) -> Self {
        let ids: Vec<&String> = now.vertices.keys().collect();
        let id = *random.pick(&ids);
        let mut after = now.clone();
        let before = after.vertices.remove(id).unwrap();
        let is_seen = rights.reads_vertex(&before);
        let mut allowed = is_seen && covers(&rights.delete, &before);
        for (edge_id, edge) in &now.edges {
            if edge_id.1 == *id || edge_id.2 == *id {
                after.edges.remove(edge_id);
                allowed &=
                    covers(&rights.delete, edge) && rights.knows_ends(&rights.delete, edge, now);
            }
        }
        Self {
            verb: "DELETE",
            path: format!("vertices/%22{id}%22"),
            body: json!({}),
            after: allowed.then_some(after),
            script: Some((format!("g.V('{id}').drop()"), is_seen)),
        }
    }

    fn put_edge(now: &Elements, rights: &Rights, random: &mut Random) -> Self {
        let ids: Vec<&String> = now.vertices.keys().collect();
        let link = loop {
            let (source, target) = (*random.pick(&ids), *random.pick(&ids));
            let link = LINKS
                .iter()
                .find(|(_, from, to)| source.starts_with(from) && target.starts_with(to));
            if let Some((label, ..)) = link {
                break (*label, source.clone(), target.clone());
            }
        };
        let new = Element {
            ends: Some((link.1.clone(), link.2.clone())),
            ..vertex(link.0, random)
        };
        let id = (link.0.to_owned(), link.1, link.2);
        let allowed = |edge: &Element| {
            covers(&rights.write, edge) && rights.knows_ends(&rights.write, edge, now)
        };
        let is_allowed = allowed(&new) && now.edges.get(&id).is_none_or(allowed);
        let body = json_of(None, &new);
        let mut after = now.clone();
        after.edges.insert(id, new);
        Self {
            verb: "POST",
            path: "edges".to_owned(),
            body,
            after: is_allowed.then_some(after),
            script: None,
        }
    }

    fn delete_edge(now: &Elements, rights: &Rights, random: &mut Random) -> Self {
        let ids: Vec<_> = now.edges.keys().collect();
        if ids.is_empty() {
            return Self::put_edge(now, rights, random);
        }
        let id = *random.pick(&ids);
        let mut after = now.clone();
        let before = after.edges.remove(id).unwrap();
        let is_seen = covers(&rights.read, &before) && rights.knows_ends(&[], &before, now);
        let allowed = is_seen
            && covers(&rights.delete, &before)
            && rights.knows_ends(&rights.delete, &before, now);
        Self {
            verb: "DELETE",
            path: format!("edges/{}", edge_path(id)),
            body: json!({}),
            after: allowed.then_some(after),
            script: Some((
                format!("g.E('{}').drop()", edge_path(id).replace("%3E", ">")),
                is_seen,
            )),
        }
    }
}

impl World {
    /// All elements of a graph, as the administrator sees them.
    fn dump(&self, graph: &str) -> [Value; 2] {
        ["vertices", "edges"].map(|what| {
            let question = Question::Get(format!("graph/{what}?limit=-1"));
            normal(&self.ask(&self.admin, graph, &question), graph).1
        })
    }
}

#[test]
fn what_may_not_be_written_is_refused_and_leaves_no_trace() {
    let world = World::new();
    let (mut allowed, mut refused) = (0, 0);
    for seed in 0..WORLDS {
        let random = &mut Random::new(1_000 + seed);
        let name = format!("written{seed}x");
        let graph = world.graph(&name);
        let mut now = Elements::random(random);
        world.store(&name, &Elements::default(), &now);
        let rights = Rights {
            read: rules(random),
            write: rules(random),
            delete: rules(random),
        };
        for (permission, rules) in [
            ("READ", &rights.read),
            ("WRITE", &rights.write),
            ("DELETE", &rights.delete),
        ] {
            let resources: Vec<Value> = rules.iter().map(Rule::json).collect();
            world.grant(USERS[0], &name, permission, &resources);
        }
        world.grant(USERS[0], &name, "EXECUTE", &[json!({"type": "GREMLIN"})]);
        for _ in 0..60 {
            let write = Write::random(&now, &rights, random);
            let (before, dump) = (graph.published(), world.dump(&name));
            let user = &world.users[0];
            let script = write.script.filter(|_| random.one_in(2));
            let (path, answer) = match &script {
                Some((script, _)) => {
                    let question = Question::Script(script.clone());
                    (script.clone(), world.ask(user, &name, &question))
                }
                None => {
                    let path = format!("/graphs/{name}/graph/{}", write.path);
                    let answer = send_by(user, write.verb, &path, &write.body);
                    (path, answer)
                }
            };
            let what = format!(
                "{} {path} {}: {} {}",
                write.verb,
                write.body,
                answer.status,
                answer.text()
            );
            // A script does nothing to what it does not find.
            if let Some((_, false)) = script {
                assert_eq!((answer.status, graph.published()), (200, before), "{what}");
                continue;
            }
            match write.after {
                Some(after) => {
                    assert!(answer.status < 300, "{what}");
                    now = after;
                    allowed += 1;
                }
                None => {
                    assert!((400..500).contains(&answer.status), "{what}");
                    assert_eq!(graph.published(), before, "{what}");
                    assert_eq!(world.dump(&name), dump, "{what}");
                    refused += 1;
                }
            }
        }
        let copy = format!("written{seed}y");
        world.graph(&copy);
        world.store(&copy, &Elements::default(), &now);
        assert_eq!(world.dump(&name), world.dump(&copy));
    }
    assert!(allowed > 50 && refused > 50, "{allowed} {refused}");
}

/// A hidden vertex that gets an earlier state, in the same request or in the plans of a load, is
/// an end like one that does not exist before and after that state.
#[test]
fn an_earlier_state_shows_nothing_of_a_hidden_end() {
    let world = World::new();
    world.graph("plans");
    let vertices = json!([{"id": "a1", "label": "a", "properties": {}},
        {"id": "b1", "label": "b", "properties": {}}]);
    let path = "/graphs/plans/graph/vertices/batch?valid_from=2000-01-01";
    assert_eq!(send_by(&world.admin, "POST", path, &vertices).status, 201);
    let own = ["VERTEX", "EDGE"].map(|kind| json!({"type": kind, "label": "a|aa"}));
    for permission in ["READ", "WRITE"] {
        world.grant(USERS[0], "plans", permission, &own);
    }
    let user = &world.users[0];
    let answer = |path: &str, body: &Value, id: &str| {
        let answer = send_by(user, "POST", &format!("/graphs/plans/{path}"), body);
        (answer.status, answer.text().replace(id, "ID"))
    };
    let day = |year: u16| json!([{"valid_from": format!("{year}-01-01"), "valid_to": format!("{year}-01-02")}]);
    let asked = |id: &str, planned: &Value, from: &str| {
        let end = |id: &str, planned: &Value| json!({"id": id, "label": "a", "planned": planned});
        let ends = [end("a1", &json!([])), end(id, planned)];
        let edge = json!({"label": "aa", "valid_from": from, "ends": ends});
        answer("load/ends", &json!({ "edges": [edge] }), id)
    };
    for (planned, from) in [
        (&day(1900), "1900-01-01"),
        (&day(1900), "2010-01-01"),
        (&day(2010), "2010-01-01"),
        (&day(2010), "2009-01-01"),
        (&json!([]), "2010-01-01"),
        (&json!([{"valid_from": "2020-01-01"}]), "2010-01-01"),
    ] {
        let hidden = asked("b1", planned, from);
        assert_eq!(hidden, asked("b9", planned, from), "{planned} {from}");
        assert!(!hidden.1.contains("null"), "{hidden:?}");
    }
    let known = asked("a1", &json!([]), "2010-01-01");
    assert_eq!(known, (200, r#"{"refused":[null]}"#.to_owned()));
    // A batch with the vertex and the edge.
    let both = |id: &str, (from, to): (&str, &str)| {
        let vertex = json!({"id": id, "label": "a", "properties": {}, "valid_from": from,
            "valid_to": to});
        let edge = json!({"label": "aa", "outV": "a1", "outVLabel": "a", "inV": id,
            "inVLabel": "a", "properties": {}, "valid_from": from});
        answer(
            "graph/batch",
            &json!({"vertices": [vertex], "edges": [edge]}),
            id,
        )
    };
    let period = ("2010-01-01", "2010-01-02");
    let hidden = both("b1", period);
    assert_eq!(hidden.0, 400, "{hidden:?}");
    assert!(hidden.1.contains("it ends at 2010-01-02"), "{hidden:?}");
    assert_eq!(hidden, both("b9", period));
}

/// An edge that is corrected ends, which takes the right to delete, too.
#[test]
fn a_correction_takes_the_right_to_delete() {
    let world = World::new();
    world.graph("corrected");
    let vertices = json!([{"id": "a1", "label": "a", "properties": {}},
        {"id": "a2", "label": "a", "properties": {}}]);
    let path = "/graphs/corrected/graph/vertices/batch?valid_from=2000-01-01";
    assert_eq!(send_by(&world.admin, "POST", path, &vertices).status, 201);
    let all = ["VERTEX", "EDGE"].map(|kind| json!({"type": kind, "label": "*"}));
    for permission in ["READ", "WRITE"] {
        world.grant(USERS[0], "corrected", permission, &all);
    }
    let edge = |to: Option<&str>| {
        json!({"label": "aa", "outV": "a1", "outVLabel": "a", "inV": "a2", "inVLabel": "a",
            "properties": {}, "valid_from": "2010-01-01", "valid_to": to})
    };
    let user = &world.users[0];
    let post = |path: &str, body: &Value| {
        let path = format!("/graphs/corrected/graph/{path}");
        send_by(user, "POST", &path, body).status
    };
    let exists = |day: &str| {
        let path = format!("/graphs/corrected/graph/edges/Sa1%3E1%3E1%3E%3ESa2?as_of={day}");
        send_by(user, "GET", &path, &json!({})).status == 200
    };
    assert_eq!(post("edges/batch", &json!([edge(None)])), 201);
    let correction = edge(Some("2011-01-01"));
    let path = "edges/batch?valid_to_ends_edge=true";
    assert_eq!(post(path, &json!([correction])), 403);
    assert!(exists("2012-01-01"));
    // Of other requests it is no parameter.
    post("edges?valid_to_ends_edge=true", &correction);
    post(
        "batch?valid_to_ends_edge=true",
        &json!({"vertices": [], "edges": [correction]}),
    );
    assert!(exists("2012-01-01"));
    world.grant(USERS[0], "corrected", "DELETE", &all);
    assert_eq!(post(path, &json!([correction])), 201);
    assert!(exists("2010-06-01") && !exists("2012-01-01"));
}
