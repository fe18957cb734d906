//! `/gremlin`: scripts that change the graph, each in one transaction.

use std::sync::atomic::{AtomicU64, Ordering};

use serde_json::{Value, json};
use varve_server::ServerConfig;

use crate::fixture::Fixture;

fn people() -> Fixture {
    let fixture = Fixture::new();
    fixture.people();
    fixture
}

pub(crate) fn data(fixture: &Fixture, script: &str) -> Value {
    let body = json!({"gremlin": script}).to_string();
    let answer = fixture.done("POST", "/gremlin", &body);
    assert_eq!(answer["status"]["code"], 200, "{script}: {answer}");
    answer["result"]["data"].clone()
}

fn refused(fixture: &Fixture, script: &str, status: u16, message: &str) {
    let body = json!({"gremlin": script}).to_string();
    let answer = fixture.send("POST", "/gremlin", &body);
    let text = answer.text().to_owned();
    assert_eq!(answer.status, status, "{script}: {text}");
    assert!(text.contains(message), "{script}: {text}");
}

#[test]
fn elements_are_added_changed_and_removed() {
    let fixture = people();
    let added = data(
        &fixture,
        "g.addV('person').property('name','peter').property('age',35)",
    );
    let peter = json!({
        "id": "1:peter", "label": "person", "type": "vertex",
        "properties": {"name": "peter", "age": 35}
    });
    assert_eq!(added, json!([peter]));
    let edge = &data(
        &fixture,
        "g.V('1:peter').addE('created').to(__.V('2:lop')).property('date','2020-01-02')",
    )[0];
    assert_eq!(
        (&edge["label"], &edge["outV"], &edge["inV"]),
        (&json!("created"), &json!("1:peter"), &json!("2:lop"))
    );
    assert_eq!(
        data(
            &fixture,
            "g.V('2:lop').in('created').values('name').order()"
        ),
        json!(["marko", "peter"])
    );
    // What stands behind a change sees it, however it came by the element.
    assert_eq!(
        data(
            &fixture,
            "g.V('1:peter').as('a').property('city','Wuhan').select('a').values('city')"
        ),
        json!(["Wuhan"])
    );
    assert_eq!(
        data(
            &fixture,
            "g.V().has('person','city','Wuhan').values('name')"
        ),
        json!(["peter"])
    );
    assert_eq!(
        data(&fixture, "g.V('1:peter').properties('city').drop()"),
        json!([])
    );
    assert_eq!(
        data(&fixture, "g.V('1:peter').valueMap()"),
        json!([{"name": ["peter"], "age": [35]}])
    );
    assert_eq!(data(&fixture, "g.V('1:peter').drop()"), json!([]));
    assert_eq!(
        data(&fixture, "g.V('2:lop').in('created').values('name')"),
        json!(["marko"])
    );
}

#[test]
fn a_merge_finds_or_adds() {
    let fixture = people();
    let merge = "g.mergeV([(T.label):'person',name:'stephen'])\
                 .option(onCreate,[age:19]).option(onMatch,[age:20]).values('age')";
    assert_eq!(data(&fixture, merge), json!([19]));
    assert_eq!(data(&fixture, merge), json!([20]));
    let edge = "g.mergeE([(T.label):'created',(from):'1:stephen',(to):'2:lop'])\
                .option(onCreate,[date:'2020-01-02',weight:0.5d])\
                .option(onMatch,[weight:0.75d]).values('weight')";
    assert_eq!(data(&fixture, edge), json!([0.5]));
    assert_eq!(data(&fixture, edge), json!([0.75]));
    assert_eq!(
        data(&fixture, "g.V('1:stephen').outE().count()"),
        json!([1])
    );
    let idiom = "g.inject('a','b','a').as('n').coalesce(\
                 __.V().has('person','name','x'),\
                 __.addV('person').property('name','x').property('age',1)).dedup().count()";
    assert_eq!(
        data(&fixture, idiom),
        json!([1]),
        "each row sees those before"
    );
}

#[test]
fn a_script_is_one_transaction() {
    let fixture = people();
    // It reads what it wrote.
    assert_eq!(
        data(
            &fixture,
            "g.addV('person').property('name','a').property('age',1).iterate()\n\
             g.addV('person').property('name','b').property('age',2).iterate()\n\
             g.V().has('person','age',lt(10)).values('name').order()"
        ),
        json!(["a", "b"])
    );
    // What fails leaves no trace.
    refused(
        &fixture,
        "g.V('1:a').drop().iterate(); g.addV('person').property('age',1)",
        400,
        "primary keys",
    );
    assert_eq!(data(&fixture, "g.V('1:a').count()"), json!([1]));
    refused(
        &fixture,
        "g.V('1:a').drop().iterate(); g.V().fail('no')",
        400,
        "no",
    );
    assert_eq!(data(&fixture, "g.V('1:a').count()"), json!([1]));
    // Unless it committed in between.
    refused(
        &fixture,
        "g.V('1:a').drop().iterate(); g.tx().commit(); g.V('1:b').drop().iterate(); g.V().fail('no')",
        400,
        "no",
    );
    assert_eq!(data(&fixture, "g.V('1:a').count()"), json!([0]));
    assert_eq!(data(&fixture, "g.V('1:b').count()"), json!([1]));
    data(&fixture, "g.V('1:b').drop().iterate(); g.tx().rollback()");
    assert_eq!(data(&fixture, "g.V('1:b').count()"), json!([1]));
}

#[test]
fn a_change_has_a_valid_period_and_the_past_stays() {
    let fixture = people();
    data(
        &fixture,
        "g.with('valid_from','2020-01-01').addV('person').property('name','old')\
         .property('age',30).iterate()",
    );
    assert_eq!(
        data(
            &fixture,
            "g.with('as_of','2021-01-01').V('1:old').values('age')"
        ),
        json!([30])
    );
    // A property of an element that exists: in every state that it has in the period.
    data(
        &fixture,
        "g.with('valid_from','2022-01-01').with('valid_to','2023-01-01').V('1:old')\
         .property('age',31).iterate()",
    );
    for (at, age) in [("2021-01-01", 30), ("2022-06-01", 31), ("2024-01-01", 30)] {
        let script = format!("g.with('as_of','{at}').V('1:old').values('age')");
        assert_eq!(data(&fixture, &script), json!([age]), "{at}");
    }
    data(
        &fixture,
        "g.with('valid_from','2020-06-01').V('1:old').property('city','Wuhan').iterate()",
    );
    let both = "g.with('as_of','2022-06-01').V('1:old').values('age','city')";
    assert_eq!(data(&fixture, both), json!([31, "Wuhan"]));
    refused(
        &fixture,
        "g.with('as_of','2021-01-01').V('1:marko').property('age',31)",
        400,
        "The past can't be changed",
    );
}

#[test]
fn what_the_schema_does_not_allow_is_refused() {
    let fixture = people();
    for (script, message) in [
        ("g.addV('nothing')", "nothing"),
        ("g.V('1:marko').property('nothing',1)", "nothing"),
        ("g.V('1:marko').property('name','other')", "primary key"),
        ("g.V('1:marko').property('age','old')", "age"),
        ("g.V('1:marko').property(list,'age',3)", "has one value"),
        (
            "g.V('1:marko').addE('created').to(__.V('1:vadas'))",
            "created",
        ),
        ("g.V('1:marko').addE('created')", "created"),
        (
            "g.V('1:marko').addE('created').to(__.V('1:x'))",
            "must resolve to a Vertex",
        ),
        ("g.V('1:marko').property('~id',1)", "hidden key"),
        (
            "g.mergeV([(T.label):'person',name:'x']).option(onCreate,[(T.label):'software'])",
            "cannot override",
        ),
        ("g.mergeV(__.constant(1))", "expected a Map"),
    ] {
        refused(&fixture, script, 400, message);
    }
    assert_eq!(data(&fixture, "g.V().count()"), json!([4]));
}

/// Rows that are looked at are counted: merges that searched all changes would be a million.
#[test]
fn a_merge_looks_at_what_it_finds_whatever_its_transaction_has_changed() {
    let fixture = Fixture::with(ServerConfig {
        max_traversal_rows: 100_000,
        ..ServerConfig::default()
    });
    fixture.done("POST", "/graphs/open", r#"{"schema":"open"}"#);
    let script = "graph = open; g = graph.traversal(); g.addV('hub').property(T.id, 'hub').iterate()
        for (int i = 0; i < 1000; i++) {
            g.mergeV([(T.label): 'leaf', number: i]).iterate()
            g.mergeV([(T.label): 'end', (T.id): i]).iterate()
            g.mergeE([(T.label): 'leads', (Direction.OUT): 'hub', (Direction.IN): i]).iterate()
            g.mergeE([(T.label): 'led', (Direction.OUT): i, (Direction.IN): 'hub']).iterate()
        }
        [g.V().hasLabel('leaf').count().next(), g.V('hub').out().count().next(), g.E().count().next()]";
    assert_eq!(data(&fixture, script), json!([1_000, 1_000, 2_000]));
}

#[test]
fn what_a_script_drops_it_may_merge_again() {
    let fixture = people();
    let script = "g.V('1:josh').drop().iterate(); \
                  g.mergeV([(T.label):'person',name:'josh']).option(onCreate,[age:1]).values('age')";
    assert_eq!(data(&fixture, script), json!([1]));
    assert_eq!(data(&fixture, "g.V('1:josh').both().count()"), json!([0]));
}

#[test]
fn a_property_may_be_changed_again_and_again_in_one_traversal() {
    let fixture = people();
    let script = "g.V('1:marko').as('a').repeat(__.property('age',__.values('age')))\
                  .times(20000).select('a').values('age')";
    assert_eq!(data(&fixture, script), json!([29]));
}

#[test]
fn transactions_side_by_side_lose_and_double_nothing() {
    const CLIENTS: u64 = 8;
    const ROUNDS: u64 = 12;
    let fixture = people();
    data(
        &fixture,
        "g.addV('person').property('name','counter').property('age',0).iterate()\n\
         g.addV('person').property('name','bank0').property('age',100).iterate()\n\
         g.addV('person').property('name','bank1').property('age',100)",
    );
    let (counted, moved) = (AtomicU64::new(0), AtomicU64::new(0));
    let done = |script: &str| {
        let body = json!({"gremlin": script}).to_string();
        // Refused is as good as never sent.
        loop {
            let answer = fixture.send("POST", "/gremlin", &body);
            match answer.status {
                200 => break,
                503 => {}
                other => panic!("{script}: {other} {}", answer.text()),
            }
        }
    };
    std::thread::scope(|scope| {
        for client in 0..CLIENTS {
            let (done, counted, moved) = (&done, &counted, &moved);
            scope.spawn(move || {
                for round in 0..ROUNDS {
                    done(
                        "age = g.V('1:counter').values('age').next(); \
                         g.V('1:counter').property('age', age + 1).iterate()",
                    );
                    counted.fetch_add(1, Ordering::Relaxed);
                    done(&format!(
                        "g.mergeV([(T.label):'software',name:'s{round}'])\
                         .option(onCreate,[lang:'c{client}']).iterate()"
                    ));
                    let (from, to) = (client % 2, 1 - client % 2);
                    done(&format!(
                        "a = g.V('1:bank{from}').values('age').next(); \
                         b = g.V('1:bank{to}').values('age').next(); \
                         g.V('1:bank{from}').property('age', a - 1).iterate(); \
                         g.V('1:bank{to}').property('age', b + 1).iterate()"
                    ));
                    moved.fetch_add(1, Ordering::Relaxed);
                }
            });
        }
    });
    let total = CLIENTS * ROUNDS;
    assert_eq!(counted.load(Ordering::Relaxed), total);
    assert_eq!(
        data(&fixture, "g.V('1:counter').values('age')"),
        json!([total])
    );
    assert_eq!(
        data(&fixture, "g.V('1:bank0','1:bank1').values('age').sum()"),
        json!([200])
    );
    assert_eq!(
        data(&fixture, "g.V().hasLabel('software').count()"),
        json!([ROUNDS + 1])
    );
}
