//! The common parts of the reports of all suites: page, tables, charts, numbers as text.
//!
//! A page is static: tables and charts are HTML and SVG generated here. It can be read without its
//! script, which only shows the figures under the pointer. All text from files is escaped.
//!
//! No library draws the charts. One such as `plotters` would only replace ticks and axes. It writes
//! fixed colours, while the page adapts to light and dark surroundings; and it has neither values
//! for the script nor an axis of nines.

pub(crate) mod chart;
pub(crate) mod page;
pub(crate) mod table;
pub(crate) mod text;
