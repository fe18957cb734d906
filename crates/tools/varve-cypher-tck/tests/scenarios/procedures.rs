//! The procedures that scenarios declare: a signature, and a table of arguments and results.

use varve_cypher::tree::{TypeKind, TypeName, ValueType};
use varve_cypher::{CypherError, Graph, ProcedureField, Procedures, Signature, Value};
use varve_cypher_tck::gherkin::Table;
use varve_cypher_tck::literal::Literal;

use crate::world::value_of;

/// The declared procedures.
#[derive(Default)]
pub(crate) struct TestProcedures(Vec<(Signature, Vec<Vec<Value>>)>);

impl TestProcedures {
    /// Adds a procedure, whose signature is `name(a :: TYPE?) :: (b :: TYPE?)`.
    pub(crate) fn add(&mut self, text: &str, table: &Table) -> Result<(), String> {
        let wrong = || format!("skipped: the signature {text}");
        let (head, columns) = text.split_once(") :: (").ok_or_else(wrong)?;
        let (name, arguments) = head.split_once('(').ok_or_else(wrong)?;
        let arguments = fields(arguments).ok_or_else(wrong)?;
        let columns = columns.trim_end().strip_suffix(')').ok_or_else(wrong)?;
        let signature = Signature {
            name: name.to_owned(),
            required: arguments.len(),
            arguments,
            columns: fields(columns).ok_or_else(wrong)?,
            writes: false,
        };
        let mut rows = Vec::new();
        for row in &table.rows {
            let cells = row.iter().filter(|cell| !cell.is_empty());
            let values = cells.map(|cell| Literal::read(cell).map(|value| value_of(&value)));
            rows.push(values.collect::<Result<Vec<_>, _>>()?);
        }
        self.0.push((signature, rows));
        Ok(())
    }
}

fn fields(text: &str) -> Option<Vec<ProcedureField>> {
    let fields = text.split(',').filter(|field| !field.trim().is_empty());
    fields
        .map(|field| {
            let (name, typed) = field.split_once("::")?;
            Some(ProcedureField {
                name: name.trim().to_owned(),
                typed: type_of(typed.trim().trim_end_matches('?'))?,
            })
        })
        .collect()
}

fn type_of(name: &str) -> Option<ValueType> {
    let named = |name| ValueType {
        kind: TypeKind::Named(name),
        not_null: false,
    };
    Some(match name {
        "STRING" => named(TypeName::String),
        "INTEGER" => named(TypeName::Integer),
        "FLOAT" => named(TypeName::Float),
        "BOOLEAN" => named(TypeName::Boolean),
        "NUMBER" => ValueType {
            kind: TypeKind::Union(vec![named(TypeName::Integer), named(TypeName::Float)]),
            not_null: false,
        },
        "ANY" => named(TypeName::Any),
        _ => return None,
    })
}

/// Whether an argument is the one of a row; numbers of both types are compared by their value.
fn is_same(argument: &Value, wanted: &Value) -> bool {
    #[allow(
        clippy::cast_precision_loss,
        reason = "the numbers of scenarios are small"
    )]
    let number = |value: &Value| match value {
        Value::Integer(number) => Some(*number as f64),
        Value::Float(number) => Some(*number),
        _ => None,
    };
    match (argument, wanted) {
        (Value::Null, Value::Null) => true,
        (Value::String(one), Value::String(other)) => one == other,
        (Value::Boolean(one), Value::Boolean(other)) => one == other,
        _ => match (number(argument), number(wanted)) {
            (Some(one), Some(other)) => one.total_cmp(&other).is_eq(),
            _ => false,
        },
    }
}

impl Procedures for TestProcedures {
    fn signature(&self, name: &str) -> Option<Signature> {
        let mut all = self.0.iter().map(|(signature, _)| signature);
        all.find(|signature| signature.name == name).cloned()
    }

    fn call(
        &self,
        name: &str,
        arguments: &[Value],
        _: &Graph<'_>,
    ) -> Result<Vec<Vec<Value>>, CypherError> {
        let mut found = Vec::new();
        for (signature, rows) in self.0.iter().filter(|(one, _)| one.name == name) {
            let count = signature.arguments.len();
            for row in rows {
                let mut pairs = arguments.iter().zip(row);
                if row.len() >= count && pairs.all(|(one, other)| is_same(one, other)) {
                    found.push(row[count..].to_vec());
                }
            }
        }
        Ok(found)
    }
}
