//! TinkerPop's graphs as scripts that fill them.

use std::fmt::Write;
use std::path::Path;

/// Statements of one script of those that fill a large graph: the steps of a text are bounded.
const STATEMENTS: usize = 500;

const MODERN: &str = "
g.addV('person').property(T.id,1).property('name','marko').property('age',29).as('marko').
  addV('person').property(T.id,2).property('name','vadas').property('age',27).as('vadas').
  addV('software').property(T.id,3).property('name','lop').property('lang','java').as('lop').
  addV('person').property(T.id,4).property('name','josh').property('age',32).as('josh').
  addV('software').property(T.id,5).property('name','ripple').property('lang','java').as('ripple').
  addV('person').property(T.id,6).property('name','peter').property('age',35).as('peter').
  addE('knows').from('marko').to('vadas').property(T.id,7).property('weight',0.5d).
  addE('knows').from('marko').to('josh').property(T.id,8).property('weight',1.0d).
  addE('created').from('marko').to('lop').property(T.id,9).property('weight',0.4d).
  addE('created').from('josh').to('ripple').property(T.id,10).property('weight',1.0d).
  addE('created').from('josh').to('lop').property(T.id,11).property('weight',0.4d).
  addE('created').from('peter').to('lop').property(T.id,12).property('weight',0.2d).iterate()";

const SINK: &str = "
g.addV('loops').property(T.id,1000).property('name','loop').as('loop').
  addV('message').property(T.id,2000).property('name','a').as('a').
  addV('message').property(T.id,2001).property('name','b').as('b').
  addE('self').from('loop').to('loop').addE('link').from('a').to('b').iterate()";

const CREW: &str = "
g.addV('person').property(T.id,1).property('name','marko').as('marko').
  property(list,'location','san diego','startTime',1997,'endTime',2001).
  property(list,'location','santa cruz','startTime',2001,'endTime',2004).
  property(list,'location','brussels','startTime',2004,'endTime',2005).
  property(list,'location','santa fe','startTime',2005).
  addV('person').property(T.id,7).property('name','stephen').as('stephen').
  property(list,'location','centreville','startTime',1990,'endTime',2000).
  property(list,'location','dulles','startTime',2000,'endTime',2006).
  property(list,'location','purcellville','startTime',2006).
  addV('person').property(T.id,8).property('name','matthias').as('matthias').
  property(list,'location','bremen','startTime',2004,'endTime',2007).
  property(list,'location','baltimore','startTime',2007,'endTime',2011).
  property(list,'location','oakland','startTime',2011,'endTime',2014).
  property(list,'location','seattle','startTime',2014).
  addV('person').property(T.id,9).property('name','daniel').as('daniel').
  property(list,'location','spremberg','startTime',1982,'endTime',2005).
  property(list,'location','kaiserslautern','startTime',2005,'endTime',2009).
  property(list,'location','aachen','startTime',2009).
  addV('software').property(T.id,10).property('name','gremlin').as('gremlin').
  addV('software').property(T.id,11).property('name','tinkergraph').as('tinkergraph').
  addE('develops').from('marko').to('gremlin').property('since',2009).
  addE('develops').from('marko').to('tinkergraph').property('since',2010).
  addE('uses').from('marko').to('gremlin').property('skill',4).
  addE('uses').from('marko').to('tinkergraph').property('skill',5).
  addE('develops').from('stephen').to('gremlin').property('since',2010).
  addE('develops').from('stephen').to('tinkergraph').property('since',2011).
  addE('uses').from('stephen').to('gremlin').property('skill',5).
  addE('uses').from('stephen').to('tinkergraph').property('skill',4).
  addE('develops').from('matthias').to('gremlin').property('since',2012).
  addE('uses').from('matthias').to('gremlin').property('skill',3).
  addE('uses').from('matthias').to('tinkergraph').property('skill',3).
  addE('uses').from('daniel').to('gremlin').property('skill',5).
  addE('uses').from('daniel').to('tinkergraph').property('skill',3).
  addE('traverses').from('gremlin').to('tinkergraph').iterate()";

/// The scripts that fill a graph; none for `empty`.
pub(crate) fn filling(graph: &str) -> Vec<String> {
    match graph {
        "modern" => vec![MODERN.to_owned()],
        "crew" => vec![CREW.to_owned()],
        "sink" => vec![SINK.to_owned()],
        "grateful" => grateful(),
        _ => Vec::new(),
    }
}

/// What stands in `text` between two others.
fn between<'t>(text: &'t str, start: &str, end: &str) -> Option<&'t str> {
    let (_, rest) = text.split_once(start)?;
    rest.split_once(end).map(|(inside, _)| inside)
}

fn datum<'t>(text: &'t str, key: &str) -> Option<&'t str> {
    between(text, &format!("<data key=\"{key}\">"), "</data>")
}

/// A text in quotes.
pub(crate) fn quoted(text: &str) -> String {
    format!("'{}'", text.replace('\\', "\\\\").replace('\'', "\\'"))
}

/// The graph `grateful` from its file beside the features.
fn grateful() -> Vec<String> {
    let folder = std::env::var("VARVE_GREMLIN_FEATURES").expect("VARVE_GREMLIN_FEATURES");
    let path = "org/apache/tinkerpop/gremlin/structure/io/graphml/grateful-dead.xml";
    let file = std::fs::read_to_string(Path::new(&folder).join(path)).expect("the graph's file");
    let mut statements = Vec::new();
    for node in file.split("<node ").skip(1) {
        let (node, _) = node.split_once("</node>").expect("the end of a node");
        let id = between(node, "id=\"", "\"").expect("an id");
        let label = datum(node, "labelV").expect("a label");
        let mut text = format!("g.addV('{label}').property(T.id,{id})");
        for key in ["name", "songType", "performances"] {
            let Some(value) = datum(node, key) else {
                continue;
            };
            let value = value.replace("&amp;", "&").replace("&apos;", "'");
            let value = match key {
                "performances" => value,
                _ => quoted(&value),
            };
            let _ = write!(text, ".property('{key}',{value})");
        }
        statements.push(text);
    }
    for edge in file.split("<edge ").skip(1) {
        let (edge, _) = edge.split_once("</edge>").expect("the end of an edge");
        let end = |name: &str| between(edge, &format!("{name}=\""), "\"").expect("an end");
        let (source, target) = (end("source"), end("target"));
        let label = datum(edge, "labelE").expect("a label");
        let mut text = format!("g.V({source}).addE('{label}').to(__.V({target}))");
        if let Some(weight) = datum(edge, "weight") {
            let _ = write!(text, ".property('weight',{weight})");
        }
        statements.push(text);
    }
    let scripts = statements.chunks(STATEMENTS);
    scripts
        .map(|each| format!("{}.iterate()", each.join(".iterate()\n")))
        .collect()
}
