//! `call()`: services and their parameters.

use varve_query::plan::Op;
use varve_query::plan::call::{Call, Service};
use varve_query::value::ValueMap;
use varve_query::{QueryError, Value};

use super::Binder;
use crate::tree::{Argument, Step, StepName};

/// The modulators of `call`.
pub(super) const CALL: &[StepName] = &[StepName::With];

impl Binder<'_> {
    /// Binds `call()` with its modulators, the steps `behind`. Without arguments, it calls the
    /// service that lists all services.
    ///
    /// # Errors
    /// If there is no such service, a parameter is neither a map, a traversal nor null, or a
    /// modulator has neither one nor two arguments.
    pub(super) fn call(&self, step: &Step, behind: &[Step]) -> Result<Op, QueryError> {
        let (service, parameters) = match step.arguments.split_first() {
            None => (Service::List, [].as_slice()),
            Some((name, parameters)) => {
                let name = self.name(name)?;
                let service = Service::named(&name).ok_or_else(|| {
                    QueryError::invalid(format!(
                        "There is no service '{name}': g.call() lists all services"
                    ))
                })?;
                (service, parameters)
            }
        };
        let mut call = Call {
            service,
            given: ValueMap::default(),
            computed: None,
            with: Vec::new(),
        };
        for parameter in parameters {
            match parameter {
                Argument::Traversal(child) => call.computed = Some(self.plan(&child.steps)?),
                other => match self.value(other)? {
                    Value::Map(map) => call.given = map.as_ref().clone(),
                    Value::Null => {}
                    other => return Err(QueryError::cast(&other, "Map")),
                },
            }
        }
        for with in behind {
            let (name, value) = match with.arguments.as_slice() {
                [name] => (name, &Argument::Bool(true)),
                [name, value] => (name, value),
                _ => return Err(QueryError::invalid("with() needs a key")),
            };
            call.with.push((self.name(name)?, self.child(value)?));
        }
        Ok(Op::Call(Box::new(call)))
    }
}
