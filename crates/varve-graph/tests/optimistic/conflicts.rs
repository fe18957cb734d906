//! When another commit refuses a transaction.

use super::*;

#[test]
fn of_two_that_change_one_element_the_second_is_refused() {
    for graph in graphs() {
        let first = begin(&graph);
        add(&first, 0, 1);
        add(&first, 1, 1);
        assert_eq!(commit(first), Ok(()));
        for change in [0, 1, 2] {
            let (one, other) = (begin(&graph), begin(&graph));
            set_age(&one, 0, 10);
            match change {
                0 => set_age(&other, 0, 20),
                1 => {
                    let id = ElementId::Vertex(vertex_id(0));
                    other.remove(&id, &Meter::unlimited()).expect("removed");
                }
                _ => add(&other, 0, 30),
            }
            // What else it changes does not happen either.
            set_age(&other, 1, 40 + change);
            assert_eq!(commit(one), Ok(()));
            assert_eq!(commit(other), Err(ErrorKind::Conflict));
            let age = |n| {
                let vertex = graph.vertex(&vertex_id(n), TemporalScope::NOW);
                let vertex = vertex.expect("read").expect("a vertex");
                vertex.properties.get(AGE).cloned()
            };
            assert_eq!(age(0), Some(Value::Int(10)));
            assert_eq!(age(1), Some(Value::Int(1)));
        }
        let (one, other) = (begin(&graph), begin(&graph));
        set_age(&one, 0, 11);
        set_age(&other, 1, 12);
        assert_eq!(commit(one), Ok(()));
        assert_eq!(commit(other), Ok(()), "different elements");
    }
}

#[test]
fn of_two_that_add_one_element_the_second_is_refused() {
    for graph in graphs() {
        let (one, other) = (begin(&graph), begin(&graph));
        add(&one, 0, 1);
        add(&other, 0, 2);
        assert_eq!(commit(one), Ok(()));
        assert_eq!(commit(other), Err(ErrorKind::Conflict));
    }
}

#[test]
fn what_was_not_found_must_still_be_absent() {
    for graph in graphs() {
        let all = |(view, _): (&dyn GraphView, &dyn SchemaView),
                   meter: &Meter,
                   visit: &mut dyn FnMut(&ElementId) -> Flow|
         -> Result<(), ViewError> {
            let ask = ScanAsk {
                elements: Elements::Vertices(&[]),
                conditions: &[],
                order: None,
                properties: &[],
            };
            view.scan(&ask, None, 10, meter, &mut |found| match found {
                ScannedElement::Vertex { key, .. } => {
                    visit(&ElementId::Vertex(view.vertex_id(key).expect("a key")))
                }
                ScannedElement::Edge(_) => Flow::Continue(()),
            })?;
            Ok(())
        };
        let (one, other) = (begin(&graph), begin(&graph));
        for (transaction, n) in [(&one, 0), (&other, 1)] {
            transaction.expect_absent(b"no vertex".to_vec(), Arc::new(all));
            add(transaction, n, 1);
        }
        assert_eq!(commit(one), Ok(()));
        assert_eq!(commit(other), Err(ErrorKind::Conflict));
    }
}

#[test]
fn a_search_that_cannot_be_repeated_fails_with_the_kind_of_its_failure() {
    type Fail = fn() -> ViewError;
    let failures: [(Fail, ErrorKind); 6] = [
        (|| ViewError::Rows { max: 1 }, ErrorKind::LimitExceeded),
        (|| ViewError::Memory { max: 1 }, ErrorKind::LimitExceeded),
        (|| ViewError::Deadline, ErrorKind::Busy),
        (|| ViewError::NoIndex("none".to_owned()), ErrorKind::NoIndex),
        (
            || ViewError::failed(ErrorKind::Storage, "damaged"),
            ErrorKind::Storage,
        ),
        (
            || ViewError::failed(ErrorKind::Tombstones, "too many"),
            ErrorKind::Tombstones,
        ),
    ];
    for graph in graphs() {
        for (fail, kind) in failures {
            let transaction = begin(&graph);
            let search = move |_: (&dyn GraphView, &dyn SchemaView),
                               _: &Meter,
                               _: &mut dyn FnMut(&ElementId) -> Flow|
                  -> Result<(), ViewError> { Err(fail()) };
            transaction.expect_absent(b"no vertex".to_vec(), Arc::new(search));
            add(&transaction, 0, 1);
            assert_eq!(commit(transaction), Err(kind));
        }
    }
}

#[test]
fn a_vertex_that_is_removed_takes_the_edges_that_came_meanwhile() {
    for graph in graphs() {
        let first = begin(&graph);
        add(&first, 0, 1);
        add(&first, 1, 1);
        assert_eq!(commit(first), Ok(()));
        let (one, other) = (begin(&graph), begin(&graph));
        let mut model = Model::default();
        for n in [0, 1] {
            let vertex = graph.vertex(&vertex_id(n), TemporalScope::NOW);
            let vertex = vertex.expect("read").expect("a vertex");
            model.vertices.insert(vertex.id.clone(), vertex);
        }
        model.add_edge(&one, &mut Random::new(1), (0, 1));
        let id = ElementId::Vertex(vertex_id(1));
        other.remove(&id, &Meter::unlimited()).expect("removed");
        assert_eq!(commit(one), Ok(()));
        assert_eq!(commit(other), Ok(()));
        model.vertices.remove(&vertex_id(1));
        model.edges.clear();
        let view = graph.view(TemporalScope::NOW).expect("a view");
        same(&view, &model, &mut Random::new(2));

        // The other way round the edge has no end.
        let one = begin(&graph);
        add(&one, 1, 1);
        assert_eq!(commit(one), Ok(()));
        let (one, other) = (begin(&graph), begin(&graph));
        let vertex = graph.vertex(&vertex_id(1), TemporalScope::NOW);
        let vertex = vertex.expect("read").expect("a vertex");
        model.vertices.insert(vertex.id.clone(), vertex);
        model.add_edge(&other, &mut Random::new(1), (0, 1));
        one.remove(&id, &Meter::unlimited()).expect("removed");
        assert_eq!(commit(one), Ok(()));
        assert_eq!(commit(other), Err(ErrorKind::Conflict));
    }
}

#[test]
fn what_a_transaction_removes_itself_is_no_conflict_for_what_it_did_not_find() {
    for graph in graphs() {
        let first = begin(&graph);
        add(&first, 0, 1);
        assert_eq!(commit(first), Ok(()));
        let again = begin(&graph);
        let id = ElementId::Vertex(vertex_id(0));
        again.remove(&id, &Meter::unlimited()).expect("removed");
        let all = |_: (&dyn GraphView, &dyn SchemaView),
                   _: &Meter,
                   visit: &mut dyn FnMut(&ElementId) -> Flow|
         -> Result<(), ViewError> {
            let _ = visit(&ElementId::Vertex(vertex_id(0)));
            Ok(())
        };
        again.expect_absent(b"v0".to_vec(), Arc::new(all));
        add(&again, 1, 1);
        assert_eq!(commit(again), Ok(()));
    }
}

#[test]
fn a_vertex_is_not_removed_with_an_edge_that_another_commit_changed() {
    for graph in graphs() {
        let first = begin(&graph);
        add(&first, 0, 1);
        add(&first, 1, 1);
        let mut model = Model::default();
        for n in [0, 1] {
            let vertex = Vertex {
                id: vertex_id(n),
                label: VertexLabelId(1),
                properties: Properties::new(),
            };
            model.vertices.insert(vertex.id.clone(), vertex);
        }
        model.add_edge(&first, &mut Random::new(1), (0, 1));
        assert_eq!(commit(first), Ok(()));
        let edge = model.edges.keys().next().expect("an edge").clone();
        let (one, other) = (begin(&graph), begin(&graph));
        let (vertex, age) = (ElementId::Vertex(vertex_id(1)), Value::Int(3));
        one.remove(&vertex, &Meter::unlimited()).expect("removed");
        let edge = ElementId::Edge(edge);
        let done = other.set_property(&edge, &write("age", &age), &Meter::unlimited());
        done.expect("changed");
        assert_eq!(commit(other), Ok(()));
        assert_eq!(commit(one), Err(ErrorKind::Conflict));
    }
}
