//! `SHOW` as a query: a call of a hidden procedure, and the clauses that follow.

use std::fmt::{self, Write as _};

use varve_cypher::tree::{ExpressionKind, Projection, SchemaName, Show, ShowTarget};

use super::listing;
use super::writing::quoted;

/// The text of the query that a `SHOW` stands for.
///
/// # Errors
/// What is not supported.
pub(crate) fn rewritten(show: &Show) -> Result<String, String> {
    let (call, columns, defaults) = target(&show.target)?;
    let all = || columns.iter().map(|(name, _)| Item::of(name));
    let mut text = String::new();
    let (yielded, rest) = match &show.yields {
        None => (all().take(defaults).collect::<Vec<_>>(), None),
        Some(yields) if yields.star => (all().collect(), Some(yields)),
        Some(yields) => (items(yields)?, Some(yields)),
    };
    let names: Vec<String> = yielded.iter().map(|item| quoted(&item.name)).collect();
    let names = names.join(", ");
    let yielded: Vec<String> = yielded.iter().map(ToString::to_string).collect();
    let _ = write!(text, "CALL {call} YIELD {}", yielded.join(", "));
    if let Some(yields) = rest {
        let _ = write!(text, " WITH {names}");
        tail(yields, &mut text);
    } else if let Some(filter) = &show.filter {
        let _ = write!(text, " WHERE {filter}");
    }
    match &show.returns {
        Some(returns) => {
            let _ = write!(text, " RETURN {returns}");
        }
        None => {
            let _ = write!(text, " RETURN {names}");
        }
    }
    Ok(text)
}

/// `ORDER BY`, `SKIP`, `LIMIT` and `WHERE` of a projection.
fn tail(projection: &Projection, text: &mut String) {
    for (at, sort) in projection.order.iter().enumerate() {
        let _ = write!(text, "{}{sort}", if at == 0 { " ORDER BY " } else { ", " });
    }
    if let Some(skip) = &projection.skip {
        let _ = write!(text, " SKIP {skip}");
    }
    if let Some(limit) = &projection.limit {
        let _ = write!(text, " LIMIT {limit}");
    }
    if let Some(filter) = &projection.filter {
        let _ = write!(text, " WHERE {filter}");
    }
}

/// A column of `YIELD`, and its name from there on.
struct Item {
    column: String,
    name: String,
}

impl Item {
    fn of(column: &str) -> Self {
        Self {
            column: column.to_owned(),
            name: column.to_owned(),
        }
    }
}

impl fmt::Display for Item {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&quoted(&self.column))?;
        match self.name == self.column {
            true => Ok(()),
            false => write!(f, " AS {}", quoted(&self.name)),
        }
    }
}

/// The columns of `YIELD`.
fn items(yields: &Projection) -> Result<Vec<Item>, String> {
    let item = |item: &varve_cypher::tree::ProjectionItem| match &item.expression.kind {
        ExpressionKind::Variable(column) => Ok(Item {
            column: column.text.to_string(),
            name: item.alias.as_ref().unwrap_or(column).text.to_string(),
        }),
        _ => Err("YIELD of SHOW takes names of columns".to_owned()),
    };
    yields.items.iter().map(item).collect()
}

/// A call, its columns, and how many of them are shown without `YIELD`.
type Target = (String, &'static [(&'static str, &'static str)], usize);

fn target(target: &ShowTarget) -> Result<Target, String> {
    let database = |name: &str| {
        let name = name.replace('\\', "\\\\").replace('\'', "\\'");
        format!("varve.show.databases('{name}')")
    };
    Ok(match target {
        ShowTarget::Indexes(kind) => {
            let kind = kind.map_or_else(|| "null".to_owned(), |kind| format!("'{}'", kind.text()));
            (format!("varve.show.indexes({kind})"), listing::INDEXES, 12)
        }
        ShowTarget::Constraints {
            relationships,
            kind,
        } => {
            let kind = kind.map_or_else(|| "null".to_owned(), |kind| format!("'{}'", kind.text()));
            let relationships =
                relationships.map_or_else(|| "null".to_owned(), |shown| shown.to_string());
            let call = format!("varve.show.constraints({kind}, {relationships})");
            (call, listing::CONSTRAINTS, 8)
        }
        ShowTarget::Procedures => ("varve.show.procedures()".to_owned(), listing::PROCEDURES, 4),
        ShowTarget::Functions(Some(false)) => {
            return Err("SHOW USER DEFINED FUNCTIONS".to_owned());
        }
        ShowTarget::Functions(_) => ("varve.show.functions()".to_owned(), listing::FUNCTIONS, 3),
        ShowTarget::Databases => (
            "varve.show.databases(null)".to_owned(),
            listing::DATABASES,
            13,
        ),
        ShowTarget::DefaultDatabase | ShowTarget::HomeDatabase => {
            (database(""), listing::DATABASES, 13)
        }
        ShowTarget::Database(SchemaName::Name(name)) => {
            (database(&name.text), listing::DATABASES, 13)
        }
        ShowTarget::Database(SchemaName::Parameter(name)) => (
            format!("varve.show.databases(${})", quoted(&name.text)),
            listing::DATABASES,
            13,
        ),
        ShowTarget::CurrentUser => (
            "varve.show.currentUser()".to_owned(),
            listing::CURRENT_USER,
            5,
        ),
    })
}

#[cfg(test)]
mod tests {
    use varve_cypher::tree::StatementKind;

    use super::*;

    #[test]
    fn show_becomes_a_call() {
        for (text, expected) in [
            (
                "SHOW PROCEDURES YIELD name WHERE name = 'x' RETURN count(name) > 0",
                "CALL varve.show.procedures() YIELD `name` WITH `name` WHERE name = 'x' \
                 RETURN count(name) > 0",
            ),
            (
                "SHOW CURRENT USER",
                "CALL varve.show.currentUser() YIELD `user`, `roles`, `passwordChangeRequired`, \
                 `suspended`, `home` RETURN `user`, `roles`, `passwordChangeRequired`, \
                 `suspended`, `home`",
            ),
            (
                "SHOW VECTOR INDEXES YIELD name AS n ORDER BY n LIMIT 2",
                "CALL varve.show.indexes('VECTOR') YIELD `name` AS `n` WITH `n` ORDER BY n LIMIT 2 \
                 RETURN `n`",
            ),
            (
                "SHOW NODE UNIQUENESS CONSTRAINTS YIELD name",
                "CALL varve.show.constraints('UNIQUENESS', false) YIELD `name` WITH `name` \
                 RETURN `name`",
            ),
            (
                "SHOW DATABASE $name YIELD name",
                "CALL varve.show.databases($`name`) YIELD `name` WITH `name` RETURN `name`",
            ),
            (
                "SHOW INDEXES YIELD name AS `a AS ``b`",
                "CALL varve.show.indexes(null) YIELD `name` AS `a AS ``b` WITH `a AS ``b` \
                 RETURN `a AS ``b`",
            ),
        ] {
            let StatementKind::Show(show) = varve_cypher::parse(text).expect("read").kind else {
                panic!("{text}");
            };
            assert_eq!(rewritten(&show).as_deref(), Ok(expected));
            varve_cypher::parse(expected).expect("read");
        }
    }
}
