//! Calls of procedures.

use super::clauses::Branch;
use super::{Type, syntax};
use crate::error::{Error, ErrorClass, Outcome};
use crate::expression::Expr;
use crate::functions::Types;
use crate::plan::{Op, ProcedureOp};
use crate::procedures::{Signature, name_of};
use crate::tree::{Name, ProcedureCall, Text, TypeKind, TypeName, ValueType, YieldItem};

impl Branch<'_, '_> {
    /// A call within a query.
    pub(super) fn call(&mut self, call: &ProcedureCall) -> Outcome<()> {
        let signature = self.signature(call)?;
        let items = call.yields.as_ref().map(|yields| yields.items.as_deref());
        match items {
            None => self.call_of(call, &signature, &[]),
            Some(None) => self.call_of(call, &signature, &all_columns(&signature)),
            Some(Some(items)) => self.call_of(call, &signature, items),
        }
    }

    /// A call that is a whole query: its columns are the result's.
    pub(super) fn standalone_call(&mut self, call: &ProcedureCall) -> Outcome<()> {
        let signature = self.signature(call)?;
        let items = call.yields.as_ref().and_then(|yields| yields.items.clone());
        let items = items.unwrap_or_else(|| all_columns(&signature));
        self.call_of(call, &signature, &items)?;
        let each = self.scope.variables().iter();
        let columns = each.map(|one| (one.name.clone(), one.typed)).collect();
        self.columns = Some(columns);
        Ok(())
    }

    fn signature(&self, call: &ProcedureCall) -> Outcome<Signature> {
        let name = name_of(&call.name);
        let found = self.binder.procedures.signature(&name);
        found.ok_or_else(|| {
            let span = call.name.span();
            if self.binder.procedures.is_missing(&name) {
                let message = format!("the procedure {name} is not supported");
                let class = ErrorClass::NotSupported;
                return Error::compile(class, "NotSupported", span, message).into();
            }
            let message = format!("there is no procedure '{name}'");
            let class = ErrorClass::ProcedureError;
            Error::compile(class, "ProcedureNotFound", span, message).into()
        })
    }

    fn call_of(
        &mut self,
        call: &ProcedureCall,
        signature: &Signature,
        items: &[YieldItem],
    ) -> Outcome<()> {
        self.binder.reads = true;
        let arguments = self.call_arguments(call, signature)?;
        let mut columns = Vec::with_capacity(items.len());
        let mut new: Vec<(Name, Type)> = Vec::with_capacity(items.len());
        for item in items {
            let mut each = signature.columns.iter();
            let Some(at) = each.position(|column| *column.name == *item.column.text) else {
                let message = format!("{} has no column '{}'", signature.name, item.column.text);
                return Err(syntax("UndefinedVariable", item.column.span, message));
            };
            let name = item.alias.as_ref().unwrap_or(&item.column);
            self.check_new(name)?;
            if new.iter().any(|(other, _)| other.text == name.text) {
                let message = format!("the variable '{}' is bound already", name.text);
                return Err(syntax("VariableAlreadyBound", name.span, message));
            }
            new.push((name.clone(), type_of(&signature.columns[at].typed)));
            columns.push(at);
        }
        if signature.writes {
            self.period(None)?;
            self.will_write();
            self.ops.push(Op::Eager);
        }
        self.ops.push(Op::Call(ProcedureOp {
            name: signature.name.clone(),
            arguments,
            columns,
            optional: call.optional,
            is_void: signature.columns.is_empty(),
        }));
        if signature.writes {
            self.ops.push(Op::Eager);
        }
        for (name, typed) in new {
            let slot = self.scope.new_slot();
            self.scope.declare(name.text, slot, typed);
        }
        if let Some(filter) = call
            .yields
            .as_ref()
            .and_then(|yields| yields.filter.as_ref())
        {
            let filter = self.condition(filter)?;
            self.ops.push(Op::Filter(filter));
        }
        Ok(())
    }

    fn call_arguments(
        &mut self,
        call: &ProcedureCall,
        signature: &Signature,
    ) -> Outcome<Vec<Expr>> {
        let Some(given) = &call.arguments else {
            // Without a list of arguments, parameters of the same names are passed.
            let mut passed = Vec::with_capacity(signature.arguments.len());
            for argument in &signature.arguments {
                let name = Text::new(&argument.name);
                self.binder.parameter(&name);
                passed.push(Expr::Parameter(name));
            }
            return Ok(passed);
        };
        if given.len() < signature.required || given.len() > signature.arguments.len() {
            let message = format!(
                "{} takes {} arguments, not {}",
                signature.name,
                signature.arguments.len(),
                given.len()
            );
            return Err(syntax("InvalidNumberOfArguments", call.span, message));
        }
        let mut bound = Vec::with_capacity(given.len());
        for (argument, field) in given.iter().zip(&signature.arguments) {
            let (expr, typed) = self.expr(argument)?;
            if !typed.may_be(taken(&field.typed)) {
                let message = format!("'{}' has another type", field.name);
                return Err(syntax("InvalidArgumentType", argument.span, message));
            }
            bound.push(expr);
        }
        Ok(bound)
    }
}

/// All columns, under their own names.
fn all_columns(signature: &Signature) -> Vec<YieldItem> {
    let item = |column: &crate::procedures::ProcedureField| YieldItem {
        column: Name {
            text: Text::new(&column.name),
            span: crate::tree::Span::default(),
        },
        alias: None,
    };
    signature.columns.iter().map(item).collect()
}

/// The kinds of values that an argument of a type takes: integers for floats, too.
fn taken(typed: &ValueType) -> Types {
    match type_of(typed).kinds {
        kinds if kinds == Types::FLOAT => Types::NUMBER,
        kinds => kinds,
    }
}

/// The static type of values of a type.
fn type_of(typed: &ValueType) -> Type {
    match &typed.kind {
        TypeKind::Named(name) => Type::one(named(*name)),
        TypeKind::List(item) => Type::list_of(type_of(item).kinds),
        TypeKind::Union(all) => {
            let each = all.iter().map(type_of);
            each.fold(Type::NULL, Type::or)
        }
    }
}

const fn named(name: TypeName) -> Types {
    match name {
        TypeName::Nothing | TypeName::Null => Types::NONE,
        TypeName::Boolean => Types::BOOLEAN,
        TypeName::String => Types::STRING,
        TypeName::Integer => Types::INTEGER,
        TypeName::Float => Types::FLOAT,
        TypeName::Date => Types::DATE,
        TypeName::LocalTime => Types::LOCAL_TIME,
        TypeName::ZonedTime => Types::TIME,
        TypeName::LocalDateTime => Types::LOCAL_DATETIME,
        TypeName::ZonedDateTime => Types::DATETIME,
        TypeName::Duration => Types::DURATION,
        TypeName::Point => Types::POINT,
        TypeName::Node => Types::NODE,
        TypeName::Relationship => Types::RELATIONSHIP,
        TypeName::Map => Types::MAP.or(Types::ELEMENT),
        TypeName::Path => Types::PATH,
        TypeName::PropertyValue | TypeName::Any => Types::ANY,
    }
}
