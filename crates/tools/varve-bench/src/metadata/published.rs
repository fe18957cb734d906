//! The published medians of two other repositories.
//!
//! They are in `data/published-metadata.csv`: whole milliseconds at the client, of the XTDB
//! connector and the JanusGraph connector. An empty cell was not measured.

use super::profile::Row;

const CSV: &str = include_str!("../../data/published-metadata.csv");

/// A repository whose figures are published.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Peer {
    Xtdb,
    JanusGraph,
}

impl Peer {
    pub(crate) const ALL: [Self; 2] = [Self::Xtdb, Self::JanusGraph];

    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Xtdb => "XTDB",
            Self::JanusGraph => "JanusGraph",
        }
    }

    /// The published median in milliseconds at a volume such as `0005-02`.
    pub(crate) fn median_ms(self, row: Row, volume: &str) -> Option<f64> {
        let mut lines = CSV.lines();
        let column = format!("{}_{volume}", self.name().to_ascii_lowercase());
        let at = lines.next()?.split(',').position(|name| name == column)?;
        lines.find_map(|line| {
            let cells: Vec<&str> = line.split(',').collect();
            let is_it = cells[0] == row.profile.name() && cells[1] == row.method;
            is_it.then(|| cells.get(at)?.parse().ok())?
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::metadata::profile::{PUBLISHED_ROWS, Profile, ROWS};

    #[test]
    fn the_rows_are_the_published_ones_in_their_order() {
        let lines: Vec<&str> = CSV.lines().skip(1).collect();
        assert_eq!(lines.len(), PUBLISHED_ROWS);
        for (line, info) in lines.iter().zip(ROWS) {
            let wanted = format!("{},{},", info.row.profile.name(), info.row.method);
            assert!(line.starts_with(&wanted), "{line} is not {wanted}");
        }
    }

    #[test]
    fn figures_are_found_by_row_and_volume() {
        let row = Row::new(Profile::GraphQueries, "getRelatedEntities");
        assert_eq!(Peer::Xtdb.median_ms(row, "0020-10"), Some(1246.5));
        assert_eq!(Peer::Xtdb.median_ms(row, "0040-10"), None);
        assert_eq!(Peer::JanusGraph.median_ms(row, "0005-02"), None);
        let row = Row::new(Profile::EntityCreation, "addEntity");
        assert_eq!(Peer::JanusGraph.median_ms(row, "0020-10"), Some(487.0));
        assert_eq!(Peer::Xtdb.median_ms(row, "1280-10"), None);
    }
}
