//! What the reports of all suites are made of: one page, tables, charts, numbers as text.
//!
//! A page is static: tables and charts are HTML and SVG written here, so that it reads without its
//! script, which only shows the figures under the pointer. All text that comes from files is
//! escaped.
//!
//! No library draws the charts: one such as `plotters` would replace ticks and axes only. It writes
//! fixed colours, where the page has those for light and dark surroundings, and has neither values
//! for the script nor an axis of nines.

pub(crate) mod chart;
pub(crate) mod page;
pub(crate) mod table;
pub(crate) mod text;
