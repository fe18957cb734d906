//! The schema of generated cases: every id strategy, sort keys, a parent label with sub labels,
//! times to live, labels that keep no history or little, and every kind of index.

use varve_model::schema::{
    AggregateType, EdgeLabelType, Frequency, IdStrategy, IndexBase, IndexType, Retention,
    SchemaStatus, WriteType,
};
use varve_model::{
    Cardinality, DataType, Datum, EdgeLabel, EdgeLabelId, IndexLabel, IndexLabelId, PropertyKey,
    PropertyKeyId, VertexLabel, VertexLabelId,
};

use crate::Random;
use crate::model::ModelSchema;

/// The labels and keys by name.
pub mod labels {
    use varve_model::{EdgeLabelId, PropertyKeyId, VertexLabelId};

    /// TEXT, primary key of persons.
    pub const NAME: PropertyKeyId = PropertyKeyId(1);
    /// INT.
    pub const AGE: PropertyKeyId = PropertyKeyId(2);
    /// DOUBLE.
    pub const WEIGHT: PropertyKeyId = PropertyKeyId(3);
    /// DATE, sort key.
    pub const SINCE: PropertyKeyId = PropertyKeyId(4);
    /// SET of TEXT.
    pub const TAGS: PropertyKeyId = PropertyKeyId(5);
    /// LIST of INT.
    pub const MARKS: PropertyKeyId = PropertyKeyId(6);
    /// TEXT.
    pub const CITY: PropertyKeyId = PropertyKeyId(7);
    /// LONG, unique among items.
    pub const CODE: PropertyKeyId = PropertyKeyId(8);

    /// PRIMARY_KEY.
    pub const PERSON: VertexLabelId = VertexLabelId(1);
    /// CUSTOMIZE_STRING.
    pub const ITEM: VertexLabelId = VertexLabelId(2);
    /// CUSTOMIZE_NUMBER, with a time to live.
    pub const GADGET: VertexLabelId = VertexLabelId(3);
    /// CUSTOMIZE_STRING, with no or little history; may have the same id as an item.
    pub const GHOST: VertexLabelId = VertexLabelId(4);
    /// AUTOMATIC.
    pub const AUTO: VertexLabelId = VertexLabelId(5);
    /// CUSTOMIZE_UUID.
    pub const TOKEN: VertexLabelId = VertexLabelId(6);

    /// Person to person, MULTIPLE by SINCE.
    pub const KNOWS: EdgeLabelId = EdgeLabelId(1);
    /// Person to item.
    pub const HAS: EdgeLabelId = EdgeLabelId(2);
    /// PARENT of the next two.
    pub const RELATED: EdgeLabelId = EdgeLabelId(3);
    /// SUB: person to item.
    pub const LIKES: EdgeLabelId = EdgeLabelId(4);
    /// SUB: item to person.
    pub const PLEASES: EdgeLabelId = EdgeLabelId(5);
    /// Person to person, with no or little history.
    pub const SHADOWS: EdgeLabelId = EdgeLabelId(6);
    /// Person to item, with a time to live.
    pub const BORROWS: EdgeLabelId = EdgeLabelId(7);
}

use labels::*;

/// The schema elements to create before a case runs; their ids are those that a new graph assigns
/// in this order.
#[derive(Debug, Clone)]
pub struct SchemaPlan {
    /// Property keys.
    pub property_keys: Vec<PropertyKey>,
    /// Labels.
    pub model: ModelSchema,
}

/// A schema; `random` determines times to live and retention.
#[must_use]
pub fn plan(random: &mut Random) -> SchemaPlan {
    let start = (!random.one_in(3)).then_some(SINCE);
    let mut gadget = vertex_label(GADGET, "gadget", IdStrategy::CustomizeNumber, &[AGE, SINCE]);
    gadget.ttl = 3;
    gadget.ttl_start_time = start.filter(|_| random.one_in(2));
    let mut ghost = vertex_label(GHOST, "ghost", IdStrategy::CustomizeString, &[AGE, CITY]);
    ghost.retention = random_retention(random);
    let mut person = vertex_label(
        PERSON,
        "person",
        IdStrategy::PrimaryKey,
        &[NAME, AGE, TAGS, CITY],
    );
    person.primary_keys = vec![NAME];
    person.nullable_keys.retain(|key| *key != NAME);
    let item = [WEIGHT, MARKS, CITY, CODE];
    let vertex_labels = vec![
        person,
        vertex_label(ITEM, "item", IdStrategy::CustomizeString, &item),
        gadget,
        ghost,
        vertex_label(AUTO, "auto", IdStrategy::Automatic, &[AGE]),
        vertex_label(TOKEN, "token", IdStrategy::CustomizeUuid, &[AGE]),
    ];
    let model = ModelSchema {
        vertex_labels,
        edge_labels: edge_labels(random_retention(random)),
        index_labels: index_labels(),
    };
    SchemaPlan {
        property_keys: property_keys(),
        model,
    }
}

/// No history, or one second.
fn random_retention(random: &mut Random) -> Retention {
    if random.one_in(2) {
        Retention::None
    } else {
        Retention::For(1_000_000)
    }
}

fn property_keys() -> Vec<PropertyKey> {
    let key = |id: PropertyKeyId, name: &str, data_type, cardinality| PropertyKey {
        id,
        name: name.to_owned(),
        data_type,
        cardinality,
        aggregate_type: AggregateType::None,
        write_type: WriteType::Oltp,
        status: SchemaStatus::Created,
        user_data: Datum::Map(Vec::new()),
    };
    vec![
        key(NAME, "name", DataType::Text, Cardinality::Single),
        key(AGE, "age", DataType::Int, Cardinality::Single),
        key(WEIGHT, "weight", DataType::Double, Cardinality::Single),
        key(SINCE, "since", DataType::Date, Cardinality::Single),
        key(TAGS, "tags", DataType::Text, Cardinality::Set),
        key(MARKS, "marks", DataType::Int, Cardinality::List),
        key(CITY, "city", DataType::Text, Cardinality::Single),
        key(CODE, "code", DataType::Long, Cardinality::Single),
    ]
}

fn vertex_label(
    id: VertexLabelId,
    name: &str,
    id_strategy: IdStrategy,
    properties: &[PropertyKeyId],
) -> VertexLabel {
    VertexLabel {
        id,
        name: name.to_owned(),
        id_strategy,
        properties: properties.to_vec(),
        primary_keys: Vec::new(),
        nullable_keys: properties.to_vec(),
        ttl: 0,
        ttl_start_time: None,
        enable_label_index: true,
        retention: Retention::All,
        status: SchemaStatus::Created,
        user_data: Datum::Map(Vec::new()),
    }
}

fn edge_labels(shadowed: Retention) -> Vec<EdgeLabel> {
    let label = |id: EdgeLabelId, name: &str, link, properties: &[PropertyKeyId]| EdgeLabel {
        id,
        name: name.to_owned(),
        label_type: EdgeLabelType::Normal,
        parent: None,
        link,
        frequency: Frequency::Single,
        sort_keys: Vec::new(),
        properties: properties.to_vec(),
        nullable_keys: properties.to_vec(),
        ttl: 0,
        ttl_start_time: None,
        enable_label_index: true,
        retention: Retention::All,
        status: SchemaStatus::Created,
        user_data: Datum::Map(Vec::new()),
    };
    let mut knows = label(KNOWS, "knows", Some((PERSON, PERSON)), &[SINCE, WEIGHT]);
    knows.frequency = Frequency::Multiple;
    knows.sort_keys = vec![SINCE];
    knows.nullable_keys = vec![WEIGHT];
    let has = label(HAS, "has", Some((PERSON, ITEM)), &[WEIGHT]);
    let mut related = label(RELATED, "related", None, &[]);
    related.label_type = EdgeLabelType::Parent;
    let mut likes = label(LIKES, "likes", Some((PERSON, ITEM)), &[WEIGHT]);
    let mut pleases = label(PLEASES, "pleases", Some((ITEM, PERSON)), &[WEIGHT]);
    for sub in [&mut likes, &mut pleases] {
        sub.label_type = EdgeLabelType::Sub;
        sub.parent = Some(RELATED);
    }
    let mut shadows = label(SHADOWS, "shadows", Some((PERSON, PERSON)), &[AGE]);
    shadows.retention = shadowed;
    let mut borrows = label(BORROWS, "borrows", Some((PERSON, ITEM)), &[WEIGHT]);
    borrows.ttl = 2;
    vec![knows, has, related, likes, pleases, shadows, borrows]
}

fn index_labels() -> Vec<IndexLabel> {
    use IndexBase::{Edge, Vertex};
    use IndexType::{Range, Secondary, Unique};
    let labels = [
        ("personByCity", Vertex(PERSON), Secondary, CITY),
        ("personByAge", Vertex(PERSON), Range, AGE),
        ("personByTags", Vertex(PERSON), Secondary, TAGS),
        ("itemByWeight", Vertex(ITEM), Range, WEIGHT),
        ("itemByCode", Vertex(ITEM), Unique, CODE),
        ("knowsByWeight", Edge(KNOWS), Range, WEIGHT),
        ("ghostByCity", Vertex(GHOST), Secondary, CITY),
        ("gadgetByAge", Vertex(GADGET), Range, AGE),
        ("itemByMarks", Vertex(ITEM), Secondary, MARKS),
        ("likesByWeight", Edge(LIKES), Range, WEIGHT),
        ("borrowsByWeight", Edge(BORROWS), Range, WEIGHT),
    ];
    let label = |(at, (name, base, index_type, field)): (usize, (&str, _, _, _))| IndexLabel {
        id: IndexLabelId(u32::try_from(at).unwrap() + 1),
        name: name.to_owned(),
        base,
        index_type,
        fields: vec![field],
        buckets: 1,
        group: None,
        status: SchemaStatus::Created,
        user_data: Datum::Map(Vec::new()),
    };
    labels.into_iter().enumerate().map(label).collect()
}
