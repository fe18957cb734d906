//! What a user is answered: as an administrator on a graph without what is hidden.

use super::*;

/// What is asked of a graph and of the graph without what is hidden, at the same point of time.
fn questions(all: &Elements, random: &mut Random) -> Vec<Question> {
    let get = |text: String| Question::Get(text);
    let ids: Vec<&String> = all.vertices.keys().collect();
    let edges: Vec<_> = all.edges.keys().collect();
    let quoted = |id: &str| format!("%22{id}%22");
    let mut asked = Vec::new();
    for id in &ids {
        asked.push(get(format!("graph/vertices/{}", quoted(id))));
    }
    for id in &edges {
        asked.push(get(format!("graph/edges/{}", edge_path(id))));
    }
    for what in ["vertices", "edges"] {
        let label = match what {
            "vertices" => "a",
            _ => "ab",
        };
        for rest in [
            "limit=-1".to_owned(),
            format!("label={label}&limit=-1"),
            "offset=1&limit=3".to_owned(),
            format!("label={label}&properties=%7B%22level%22:%22P.gte(2)%22%7D&limit=-1"),
            "properties=%7B%22kind%22:%22x%22%7D&limit=-1".to_owned(),
            "properties=%7B%22level%22:%22P.lt(4)%22%7D&limit=2&page=".to_owned(),
            "limit=2&page=".to_owned(),
        ] {
            asked.push(get(format!("graph/{what}?{rest}")));
        }
        asked.push(get(format!(
            "traversers/{what}/scan?start=AA%3D%3D&end=%2Fw%3D%3D"
        )));
    }
    let each: Vec<String> = ids.iter().map(|id| format!("ids={}", quoted(id))).collect();
    asked.push(get(format!("traversers/vertices?{}", each.join("&"))));
    let each: Vec<String> = edges
        .iter()
        .map(|id| format!("ids={}", edge_path(id)))
        .collect();
    if !each.is_empty() {
        asked.push(get(format!("traversers/edges?{}", each.join("&"))));
    }
    for _ in 0..3 {
        let (one, other) = (random.pick(&ids), random.pick(&ids));
        let (one, other) = (quoted(one), quoted(other));
        for direction in ["OUT", "IN", "BOTH"] {
            asked.push(get(format!(
                "graph/edges?vertex_id={one}&direction={direction}&limit=-1"
            )));
        }
        for path in [
            format!("kout?source={one}&max_depth=2"),
            format!("kneighbor?source={one}&max_depth=3"),
            format!("shortestpath?source={one}&target={other}&max_depth=6"),
            format!("allshortestpaths?source={one}&target={other}&max_depth=6"),
            format!("paths?source={one}&target={other}&max_depth=3"),
            format!("rings?source={one}&max_depth=3"),
            format!("rays?source={one}&max_depth=3"),
            format!("crosspoints?source={one}&target={other}&max_depth=3"),
            format!("sameneighbors?vertex={one}&other={other}"),
            format!("jaccardsimilarity?vertex={one}&other={other}"),
        ] {
            asked.push(get(format!("traversers/{path}")));
        }
    }
    asked
}

/// What is posted, and scripts. Of the present only: the point is in the address or the script.
fn posted(all: &Elements, random: &mut Random) -> Vec<Question> {
    let ids: Vec<&String> = all.vertices.keys().collect();
    let mut asked = Vec::new();
    for _ in 0..2 {
        let (one, other) = (*random.pick(&ids), *random.pick(&ids));
        let steps = json!({"direction": "BOTH", "max_degree": 100});
        for (path, body) in [
            (
                "traversers/kout",
                json!({"source": one, "steps": steps, "max_depth": 2, "with_vertex": true,
                       "with_edge": true, "with_path": true}),
            ),
            (
                "traversers/kneighbor",
                json!({"source": one, "steps": steps, "max_depth": 2, "with_vertex": true}),
            ),
            (
                "traversers/customizedpaths",
                json!({"sources": {"ids": [one, other]}, "steps": [{"direction": "BOTH"},
                       {"direction": "OUT"}], "with_vertex": true}),
            ),
            (
                "traversers/jaccardsimilarity",
                json!({"vertex": one, "step": {"direction": "BOTH"}, "top": 5}),
            ),
            (
                "traversers/count",
                json!({"source": one, "steps": [{"direction": "BOTH"}, {"direction": "BOTH"}],
                       "contains_traversed": true}),
            ),
            (
                "traversers/neighborrank",
                json!({"source": one, "steps": [{"direction": "OUT"}, {"direction": "OUT"}],
                       "alpha": 0.8, "capacity": 1000}),
            ),
        ] {
            asked.push(Question::Post(path, body));
        }
        for script in [
            "g.V().count()".to_owned(),
            "g.E().count()".to_owned(),
            "g.V().hasLabel('a').id().order()".to_owned(),
            "g.V().has('level', P.gte(3)).id().order()".to_owned(),
            "g.V().has('b', 'kind', 'x').values('level')".to_owned(),
            "g.V().groupCount().by(label)".to_owned(),
            "g.E().groupCount().by(label)".to_owned(),
            "g.V().order().by(id).map(__.bothE().count())".to_owned(),
            "g.V().order().by(id).local(__.out().id().order().fold())".to_owned(),
            "g.E().has('level', P.lt(3)).id().order()".to_owned(),
            "g.V().out().in().dedup().id().order()".to_owned(),
            "g.V().repeat(__.both().simplePath()).times(2).path().count()".to_owned(),
            "g.V().where(__.in('ca')).id().order()".to_owned(),
            "g.E().outV().id().order()".to_owned(),
            "g.E().hasLabel('ab').inV().values('level').sum()".to_owned(),
            "g.V().values('level').max()".to_owned(),
            format!("g.V('{one}').valueMap()"),
            format!("g.V('{one}').both().id().order()"),
            format!("g.V('{one}').until(__.hasId('{other}')).repeat(__.both()).limit(1).count()"),
        ] {
            if !script.contains("until") {
                asked.push(Question::Script(script));
            }
        }
    }
    asked
}

/// What is asked of everything that is or was there.
fn histories(past: &Elements, now: &Elements) -> Vec<Question> {
    let vertices = past.vertices.keys().chain(now.vertices.keys());
    let vertices = vertices.map(|id| format!("vertices/%22{id}%22"));
    let edges = past.edges.keys().chain(now.edges.keys());
    let edges = edges.map(|id| format!("edges/{}", edge_path(id)));
    let all: BTreeSet<String> = vertices.chain(edges).collect();
    let each = all.iter().flat_map(|path| {
        [
            format!("graph/{path}/history"),
            format!("graph/{path}/timeline"),
        ]
    });
    let lists = ["vertices", "edges"].map(|what| format!("graph/{what}/history?limit=1000"));
    each.chain(lists).map(Question::Get).collect()
}

#[test]
fn a_user_is_answered_as_an_administrator_on_a_graph_without_what_is_hidden() {
    let world = World::new();
    let (mut cases, mut hidden) = (0, 0);
    for seed in 0..WORLDS {
        let random = &mut Random::new(seed);
        let name = format!("world{seed}x");
        let graph = world.graph(&name);
        let past = Elements::random(random);
        world.store(&name, &Elements::default(), &past);
        let then = graph.published().0;
        let now = past.changed(random);
        world.store(&name, &past, &now);
        for (user, client) in USERS.iter().zip(&world.users) {
            let rules = rules(random);
            let resources: Vec<Value> = rules.iter().map(Rule::json).collect();
            world.grant(user, &name, "READ", &resources);
            world.grant(user, &name, "EXECUTE", &[json!({"type": "GREMLIN"})]);
            let seen = now.seen(&rules, &now);
            hidden += now.vertices.len() - seen.vertices.len();
            let without = format!("world{seed}{user}now");
            world.graph(&without);
            world.store(&without, &Elements::default(), &seen);
            let mut asked = questions(&now, random);
            asked.extend(posted(&now, random));
            let compare = |question: &Question, reference: &str, own: &Question| {
                let mut got = normal(&world.ask(client, &name, own), &name);
                let mut wanted = normal(&world.ask(&world.admin, reference, question), reference);
                if reference.ends_with("then") {
                    // The past comes in another order where it is not the present.
                    for value in [&mut got.1, &mut wanted.1] {
                        sort(value);
                    }
                }
                assert_eq!(
                    got, wanted,
                    "{own:?} of {user} on {name} with {rules:#?}\n{now:#?}"
                );
            };
            for question in &asked {
                compare(question, &without, question);
            }
            for listing in [
                "vertices?",
                "edges?",
                "vertices?label=a&",
                "edges?label=aa&",
                "vertices?properties=%7B%22level%22:%22P.lt(4)%22%7D&",
            ] {
                let got = world.pages(client, &name, listing);
                let wanted = world.pages(&world.admin, &without, listing);
                assert_eq!(got, wanted, "{listing} of {user} on {name} with {rules:#?}");
            }
            let before = format!("world{seed}{user}then");
            world.graph(&before);
            world.store(&before, &Elements::default(), &past.seen(&rules, &now));
            let of_past = questions(&past, random);
            for question in &of_past {
                let Question::Get(path) = question else {
                    continue;
                };
                if path.contains("offset=1") || path.contains("limit=2") {
                    continue;
                }
                let sign = if path.contains('?') { '&' } else { '?' };
                let own = Question::Get(format!("{path}{sign}as_of_tx={then}"));
                compare(question, &before, &own);
            }
            for script in [
                "g.V().id().order()",
                "g.E().id().order()",
                "g.V().both().count()",
            ] {
                let own = script.replace("g.V", &format!("g.with('as_of_tx', '{then}').V"));
                let own = own.replace("g.E", &format!("g.with('as_of_tx', '{then}').E"));
                let question = Question::Script(script.to_owned());
                compare(&question, &before, &Question::Script(own));
            }
            // The same graph with its past: what was hidden once, and what became of the rest.
            world.store(&before, &past.seen(&rules, &now), &seen);
            let histories = histories(&past, &now);
            for question in &histories {
                compare(question, &before, question);
            }
            cases += asked.len() + of_past.len() + 3 + histories.len();
        }
    }
    assert!(
        cases >= 500 && hidden > 50,
        "{cases} cases, {hidden} hidden"
    );
}
