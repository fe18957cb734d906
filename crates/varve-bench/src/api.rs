//! The load tool: runs the scenarios of HugeGraph's published load tests, and ours, against a server.

pub mod report;
pub mod result;
pub mod table;
