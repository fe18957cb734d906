//! Steps on vertices with several values of one key, and on meta-properties.

use std::collections::HashMap;

use varve_gremlin::execute::execute;
use varve_gremlin::parse_script;
use varve_model::value::DateTime;
use varve_model::{
    Cardinality, Properties, PropertyKeyId, Value as Stored, Vertex, VertexId, VertexLabelId,
};

use crate::OneGraph;
use crate::modern::Modern;

const NAME: PropertyKeyId = PropertyKeyId(1);
const AGE: PropertyKeyId = PropertyKeyId(2);
const LANG: PropertyKeyId = PropertyKeyId(3);
const WEIGHT: PropertyKeyId = PropertyKeyId(4);

/// Vertex 1 has the names marko (lang: it), mark and marko, and one age. Vertex 2 has one name.
/// Their weights have different types.
fn graph() -> Modern {
    let text = |text: &str| Stored::Text(text.to_owned());
    let mut marko = Properties::new();
    for (name, lang) in [("marko", Some("it")), ("mark", None), ("marko", None)] {
        let meta = lang.map(|lang| (LANG, text(lang))).into_iter().collect();
        marko.write(NAME, Cardinality::List, text(name), meta);
    }
    marko.set(AGE, Stored::Int(29));
    marko.set(WEIGHT, Stored::Short(7));
    let at = DateTime {
        micros: 1,
        offset: 7_200,
    };
    let vadas = [(NAME, text("vadas")), (WEIGHT, Stored::DateTime(at))];
    let vertex = |id, properties| Vertex {
        id: VertexId::Number(id),
        label: VertexLabelId(1),
        properties,
    };
    Modern::of(
        vec![vertex(1, marko), vertex(2, vadas.into_iter().collect())],
        Vec::new(),
    )
}

#[test]
fn every_step_sees_each_value_and_its_properties() {
    let graph = graph();
    for (text, wanted) in [
        ("g.V(1).values('name')", "marko mark marko"),
        ("g.V().values('name')", "marko mark marko vadas"),
        ("g.V().hasLabel('person').values('name').count()", "4"),
        ("g.V().groupCount().by('name')", "{marko=1, vadas=1}"),
        ("g.V(1).properties('name').count()", "3"),
        ("g.V(1).properties('name').dedup().count()", "3"),
        ("g.V(1).properties('name').id()", "1>name 1>name>1 1>name>2"),
        (
            "g.V(1).properties('name').hasValue('mark').id()",
            "1>name>1",
        ),
        ("g.V(1).properties().key()", "name name name age weight"),
        (
            "g.V(1).valueMap('name','age')",
            "{name=[marko, mark, marko], age=[29]}",
        ),
        ("g.V(1).valueMap('name').by(unfold())", "{name=marko}"),
        ("g.V(1).elementMap('age')", "{id=1, label=person, age=29}"),
        (
            "g.V(1).propertyMap('name')",
            "{name=[vp[name->marko], vp[name->mark], vp[name->marko]]}",
        ),
        ("g.V().has('name','mark').id()", "1"),
        ("g.V().has('name','marko').has('name','mark').id()", "1"),
        ("g.V().has('name','marko').count()", "1"),
        ("g.V().has('name',within('vadas','mark')).id()", "1 2"),
        ("g.V().has('name',__.is('mark')).id()", "1"),
        ("g.V(1).properties('name').properties().value()", "it"),
        ("g.V(1).properties('name').properties('lang').key()", "lang"),
        ("g.V(1).properties('name').values('lang')", "it"),
        ("g.V(1).properties('name').has('lang','it').id()", "1>name"),
        ("g.V(1).properties('name').has('lang').count()", "1"),
        ("g.V(1).properties('name').valueMap()", "{lang=it} {} {}"),
        (
            "g.V(1).properties('name').limit(1).elementMap()",
            "{id=1>name, key=name, value=marko, lang=it}",
        ),
        ("g.V(1).values('weight').math('_ + 1')", "8.0"),
        (
            "g.V(1).values('weight').is(typeOf(GType.SHORT)).count()",
            "1",
        ),
        (
            "g.V(2).values('weight')",
            "1970-01-01T02:00:00.000001+02:00",
        ),
    ] {
        assert_eq!(run(&graph, text), wanted, "{text}");
    }
}

fn run(graph: &Modern, text: &str) -> String {
    let script = parse_script(text).expect(text);
    let mut host = OneGraph {
        graph,
        effects: Vec::new(),
        as_written: false,
        limits: crate::wide(),
    };
    let results = execute(&script, HashMap::new(), &mut host).expect(text);
    let each = results.into_iter().flat_map(|(value, bulk)| {
        let bulk = usize::try_from(bulk).expect("few");
        std::iter::repeat_n(value.shown().to_string(), bulk)
    });
    each.collect::<Vec<_>>().join(" ")
}
