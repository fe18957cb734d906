//! What a change of the schema costs when the schema is large. Memory is counted, as time is not
//! the same twice.

use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use varve_graph::schema::{NewEdgeLabel, NewPropertyKey, NewVertexLabel};
use varve_graph::{Graph, GraphOptions, Registry};
use varve_kv::MemoryEngine;
use varve_model::time::SystemClock;

/// Bytes asked for since the process began.
static ALLOCATED: AtomicU64 = AtomicU64::new(0);

struct Counting;

// SAFETY: every call is passed on to the system's allocator as it is.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        ALLOCATED.fetch_add(layout.size() as u64, Ordering::Relaxed);
        // SAFETY: the caller keeps the contract of `alloc`.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, place: *mut u8, layout: Layout) {
        // SAFETY: the place was given out by `alloc`, with this layout.
        unsafe { System.dealloc(place, layout) }
    }
}

#[global_allocator]
static COUNTING: Counting = Counting;

const FEW: usize = 12;
const MANY: usize = 12_000;
/// Elements of each kind whose creation is counted.
const COUNTED: usize = 50;

/// Creates the elements of these numbers, a property key and two labels each.
fn create(graph: &Graph, numbers: std::ops::Range<usize>) {
    let catalogue = graph.catalogue();
    for number in numbers {
        let key = NewPropertyKey::named(&format!("key{number}"));
        catalogue.create_property_key(key).expect("a property key");
        let label = format!("vertex{number}");
        let vertices = NewVertexLabel::named(&label);
        catalogue.create_vertex_label(vertices).expect("a label");
        let edges = NewEdgeLabel::between(&format!("edge{number}"), &label, "vertex0");
        catalogue.create_edge_label(edges).expect("a label");
    }
}

#[test]
fn creating_a_schema_element_costs_the_same_with_12_000_labels_as_with_12() {
    let options = GraphOptions::new(Arc::new(SystemClock));
    let registry = Registry::open(Arc::new(MemoryEngine::new()), options).expect("a registry");
    let graph = registry.create("g").expect("a graph");
    let cost = |numbers: std::ops::Range<usize>| {
        let before = ALLOCATED.load(Ordering::Relaxed);
        create(&graph, numbers);
        (ALLOCATED.load(Ordering::Relaxed) - before) / COUNTED as u64
    };
    create(&graph, 0..FEW);
    let few = cost(FEW..FEW + COUNTED);
    create(&graph, FEW + COUNTED..MANY);
    let many = cost(MANY..MANY + COUNTED);
    println!("bytes allocated for three elements: {few} with {FEW} of each, {many} with {MANY}");
    // Paths in trees are longer, by a few nodes.
    assert!(many < 4 * few, "{few} bytes, then {many}");
}
