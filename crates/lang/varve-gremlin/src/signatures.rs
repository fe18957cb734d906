//! The arguments of steps, source instructions and predicates: one table for texts and bytecode.
//!
//! A form is a list of parameters, each a letter: see [`parameter_name`]. `*` after the last letter
//! means any number of such arguments, also none. Forms are separated by blanks; `-` is the form
//! without arguments. Variables and computed values fit everywhere, since their type is known only
//! at run time.

use std::fmt::Write;

use crate::literals::shortened;
use crate::tree::{Argument, ElementLiteral, PredicateName, SourceName, StepName};

/// The name of a letter of a form in messages.
const fn parameter_name(letter: u8) -> &'static str {
    match letter {
        b'S' | b's' => "String",
        b'O' => "Object",
        b'P' => "P",
        b'X' => "Traversal",
        b'T' => "T",
        b'I' => "Integer",
        b'F' => "Number",
        b'B' => "boolean",
        b'M' => "Map",
        b'C' => "Cardinality",
        b'c' => "Scope",
        b'o' => "Order",
        b'p' => "Pop",
        b'k' => "Column",
        b'd' => "Direction",
        b'f' => "Operator",
        b'b' => "Barrier",
        b'm' => "Merge",
        b'D' => "DT",
        b'G' => "GType",
        b'V' => "Vertex",
        b't' => "Date",
        b'y' => "Strategy",
        _ => "?",
    }
}

/// The forms of a step.
#[must_use]
pub const fn step_forms(name: StepName) -> &'static str {
    use StepName as N;
    match name {
        N::V | N::E | N::Inject => "O*",
        N::AddV => "- s X",
        N::AddE => "s X",
        N::MergeV | N::MergeE => "- M X",
        N::Aggregate => "s cs",
        N::All | N::Any => "P",
        N::And | N::Or | N::Match | N::Union | N::Coalesce => "X*",
        N::As | N::Cap | N::Project => "sS*",
        N::AsNumber => "- G",
        N::AsString | N::Count | N::Max | N::Mean | N::Min | N::Sum | N::Order => "- c",
        N::Length | N::ToLower | N::ToUpper | N::Trim | N::LTrim | N::RTrim => "- c",
        N::Barrier => "- b I",
        N::Both | N::BothE | N::In | N::InE | N::Out | N::OutE => "S*",
        N::ElementMap | N::Properties | N::PropertyMap | N::Values => "S*",
        N::Branch => "X T k",
        N::By => "- o T To k ko s so X Xo",
        N::Call => "- s sM sX sMX",
        N::Choose => "X XX XXX P PX PXX T k",
        N::Coin => "F",
        N::Combine | N::Difference | N::Disjunct | N::Intersect | N::Merge | N::Product => "O",
        N::Concat => "XX* S*",
        N::Conjoin | N::Format | N::Math | N::Io | N::Store | N::Subgraph => "s",
        N::Constant => "O",
        N::DateAdd => "DI",
        N::DateDiff => "t X",
        N::Dedup => "cS* S*",
        N::Emit => "- P X",
        N::Fail | N::Group | N::GroupCount | N::Loops | N::Profile | N::Tree => "- s",
        N::Filter | N::Until => "P X",
        N::FlatMap | N::Local | N::Map | N::Not | N::Optional | N::SideEffect => "X",
        N::Fold => "- Of",
        N::From => "s X V",
        N::To => "dS* s X V",
        N::Has => "S SP SX SO SSP SSO TP TX TO",
        N::HasId | N::HasValue => "P OO*",
        N::HasKey | N::HasLabel => "P SS*",
        N::HasNot => "S",
        N::Is => "P O",
        N::Limit | N::Skip | N::Sample => "I cI",
        N::None => "P",
        N::Option => "PX mM mMC mX OX X",
        N::PageRank => "- F",
        N::Property => "COOO* CM OOO* M",
        N::Range => "II cII",
        N::Repeat => "X sX",
        N::Replace => "SS cSS",
        N::Sack => "- f",
        N::Select => "k psS* pX sS* X",
        N::Split => "S cS",
        N::Substring => "I cI II cII",
        N::Tail => "- c I cI",
        N::TimeLimit | N::Times => "I",
        N::ToE => "dS*",
        N::ToV => "d",
        N::ValueMap => "BS* S*",
        N::Where => "P sP X",
        N::With => "s sO",
        N::AsBool | N::AsDate | N::BothV | N::ConnectedComponent | N::CyclicPath => "-",
        N::Discard | N::Drop | N::Element | N::Id | N::Identity | N::InV | N::Index => "-",
        N::Key | N::Label | N::OtherV | N::OutV | N::Path | N::PeerPressure | N::Read => "-",
        N::Reverse | N::ShortestPath | N::SimplePath | N::Unfold | N::Value | N::Write => "-",
    }
}

/// The forms of a source instruction.
#[must_use]
pub const fn source_forms(name: SourceName) -> &'static str {
    match name {
        SourceName::With => "s sO",
        SourceName::WithBulk => "B",
        SourceName::WithPath => "-",
        SourceName::WithSack => "O Of",
        SourceName::WithSideEffect => "sO sOf",
        SourceName::WithStrategies | SourceName::WithoutStrategies => "yy*",
    }
}

/// The forms of a predicate.
#[must_use]
pub const fn predicate_forms(name: PredicateName) -> &'static str {
    use PredicateName as N;
    match name {
        N::Eq | N::Neq | N::Lt | N::Lte | N::Gt | N::Gte | N::TextContains | N::Contains => "O",
        N::Inside | N::Outside | N::Between => "OO",
        N::Within | N::Without => "O*",
        N::TypeOf => "G s",
        N::Containing | N::NotContaining | N::StartingWith | N::NotStartingWith => "S",
        N::EndingWith | N::NotEndingWith | N::Regex | N::NotRegex => "S",
    }
}

/// Whether an argument fits a parameter.
fn fits(letter: u8, argument: &Argument) -> bool {
    use Argument as A;
    match argument {
        A::Variable(_) | A::Computed(_) | A::Value(_) => return letter != b'y',
        _ => {}
    }
    match letter {
        b'S' => matches!(argument, A::String(_) | A::Null),
        b's' => matches!(argument, A::String(_)),
        b'O' => !matches!(argument, A::Predicate(_) | A::Strategy(_)),
        b'P' => matches!(argument, A::Predicate(_)),
        b'X' => matches!(argument, A::Traversal(_)),
        b'T' => matches!(argument, A::T(_)),
        b'I' => matches!(
            argument,
            A::Byte(_) | A::Short(_) | A::Int(_) | A::Long(_) | A::BigInt(_)
        ),
        b'F' => matches!(
            argument,
            A::Byte(_)
                | A::Short(_)
                | A::Int(_)
                | A::Long(_)
                | A::BigInt(_)
                | A::Float(_)
                | A::Double(_)
                | A::BigDecimal(_)
        ),
        b'B' => matches!(argument, A::Bool(_)),
        b'M' => matches!(argument, A::Map(_) | A::Null),
        b'C' => matches!(argument, A::Cardinality(_)),
        b'c' => matches!(argument, A::Scope(_)),
        b'o' => matches!(argument, A::Order(_)),
        b'p' => matches!(argument, A::Pop(_)),
        b'k' => matches!(argument, A::Column(_)),
        b'd' => matches!(argument, A::Direction(_)),
        b'f' => matches!(argument, A::Operator(_)),
        b'b' => matches!(argument, A::Barrier(_)),
        b'm' => matches!(argument, A::Merge(_)),
        b'D' => matches!(argument, A::Dt(_)),
        b'G' => matches!(argument, A::GType(_)),
        b'V' => {
            matches!(argument, A::Element(element) if matches!(**element, ElementLiteral::Vertex { .. }))
        }
        b't' => matches!(argument, A::DateTime(_) | A::Now),
        b'y' => matches!(argument, A::Strategy(_)),
        _ => false,
    }
}

/// Whether the arguments match one of the forms.
pub(crate) fn match_forms(forms: &str, arguments: &[Argument]) -> bool {
    forms
        .split(' ')
        .any(|form| match_form(form.as_bytes(), arguments))
}

fn match_form(form: &[u8], arguments: &[Argument]) -> bool {
    if form == b"-" {
        return arguments.is_empty();
    }
    let (fixed, repeated) = match form {
        [fixed @ .., letter, b'*'] => (fixed, Some(*letter)),
        fixed => (fixed, None),
    };
    if arguments.len() < fixed.len() || (repeated.is_none() && arguments.len() > fixed.len()) {
        return false;
    }
    let (first, rest) = arguments.split_at(fixed.len());
    first
        .iter()
        .zip(fixed)
        .all(|(argument, letter)| fits(*letter, argument))
        && rest
            .iter()
            .all(|argument| repeated.is_some_and(|letter| fits(letter, argument)))
}

/// The error message of a wrong call, in Groovy's words, which clients search for.
pub(crate) fn no_such_call(class: &str, name: &str, arguments: &[Argument], forms: &str) -> String {
    let mut message =
        format!("No signature of method: {class}.{name}() is applicable for argument types: (");
    for (place, argument) in arguments.iter().enumerate() {
        let comma = if place > 0 { ", " } else { "" };
        let _ = write!(message, "{comma}{}", kind_name(argument));
    }
    message.push_str(") values: [");
    for (place, argument) in arguments.iter().enumerate() {
        let comma = if place > 0 { ", " } else { "" };
        let value = argument.to_string();
        let _ = write!(message, "{comma}{}", shortened(&value));
    }
    message.push(']');
    for (place, form) in forms.split(' ').filter(|form| !form.is_empty()).enumerate() {
        message.push_str(if place > 0 {
            ", "
        } else {
            "\nPossible solutions: "
        });
        message.push_str(name);
        write_form(form, &mut message);
    }
    message
}

fn write_form(form: &str, message: &mut String) {
    message.push('(');
    for (place, letter) in form.bytes().enumerate() {
        match letter {
            b'-' => {}
            b'*' => message.push_str("..."),
            _ => {
                message.push_str(if place > 0 { ", " } else { "" });
                message.push_str(parameter_name(letter));
            }
        }
    }
    message.push(')');
}

/// The Java class name of an argument, as clients know it.
pub(crate) const fn kind_name(argument: &Argument) -> &'static str {
    use Argument as A;
    match argument {
        A::Null => "null",
        A::Bool(_) => "Boolean",
        A::Byte(_) => "Byte",
        A::Short(_) => "Short",
        A::Int(_) => "Integer",
        A::Long(_) => "Long",
        A::BigInt(_) => "BigInteger",
        A::Float(_) => "Float",
        A::Double(_) => "Double",
        A::BigDecimal(_) => "BigDecimal",
        A::Char(_) => "Character",
        A::String(_) => "String",
        A::DateTime(_) | A::Now => "OffsetDateTime",
        A::Duration(_) => "Duration",
        A::Uuid(_) | A::RandomUuid => "UUID",
        A::Binary(_) => "ByteBuffer",
        A::List(_) => "ArrayList",
        A::Set(_) => "LinkedHashSet",
        A::Map(_) => "LinkedHashMap",
        A::Range(_) => "Range",
        A::Variable(_) | A::Computed(_) => "Object",
        A::Value(value) => value.type_name(),
        A::Traversal(_) => "Traversal",
        A::Predicate(_) => "P",
        A::T(_) => "T",
        A::Order(_) => "Order",
        A::Scope(_) => "Scope",
        A::Pop(_) => "Pop",
        A::Column(_) => "Column",
        A::Direction(_) => "Direction",
        A::Operator(_) => "Operator",
        A::Barrier(_) => "Barrier",
        A::Pick(_) => "Pick",
        A::Merge(_) => "Merge",
        A::Cardinality(_) => "Cardinality",
        A::CardinalityValue(..) => "CardinalityValue",
        A::Dt(_) => "DT",
        A::GType(_) => "GType",
        A::Strategy(_) => "Strategy",
        A::Element(element) => match **element {
            ElementLiteral::Vertex { .. } => "Vertex",
            ElementLiteral::Edge { .. } => "Edge",
            ElementLiteral::VertexProperty { .. } => "VertexProperty",
            ElementLiteral::Property { .. } => "Property",
        },
    }
}
