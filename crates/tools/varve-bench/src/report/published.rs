//! Published figures, digit for digit: the tables of HugeGraph's API load tests, and the medians of
//! two open-metadata repositories.
//!
//! HugeGraph's are in `data/published-api.csv`. v0.2 is text on its page; v0.4.4 and v0.5.6 are
//! pictures, transcribed by eye. The pictures contradict each other in one place: the row of 2,000
//! users with 200 vertices a request on 48 processors. It has a 90 % line of 159 in `best` and of
//! 150 in the two others, and `cpu-memory` lists it under HDD although it was measured on SSD.

/// A published row. Figures are text, as published.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Published {
    /// `v0.2`, `v0.4.4`, `v0.5.6`.
    pub(crate) page: &'static str,
    /// `rocksdb` or `cassandra`.
    pub(crate) backend: &'static str,
    /// The table or picture on the page.
    pub(crate) table: &'static str,
    /// The server's machine.
    pub(crate) machine: &'static str,
    /// Our name for the scenario.
    pub(crate) scenario: &'static str,
    pub(crate) concurrency: u32,
    /// Elements in a request.
    pub(crate) items: u32,
    /// Samples, average, median, 90 % line, min, max (ms), error, throughput (requests a second)
    /// and KB a second.
    pub(crate) figures: [&'static str; 9],
}

impl Published {
    pub(crate) fn throughput(&self) -> f64 {
        self.number(7)
    }

    /// Mean in ms.
    pub(crate) fn average_ms(&self) -> f64 {
        self.number(1)
    }

    fn number(&self, at: usize) -> f64 {
        self.figures[at].parse().unwrap_or(f64::NAN)
    }

    /// Whether the row has no errors.
    pub(crate) fn clean(&self) -> bool {
        matches!(self.figures[6], "0" | "0.00%")
    }

    /// Whether it is comparable with this scenario of ours. The published tests do not state
    /// whether edges were checked, so both kinds are.
    pub(crate) fn is_of(&self, scenario: &str) -> bool {
        self.scenario == scenario.trim_end_matches("_unchecked")
    }

    /// Page, backend and table, as a caption.
    pub(crate) fn source(&self) -> String {
        format!("{} {} {}", self.page, self.backend, self.table)
    }
}

/// All rows in the order of the pages.
pub(crate) fn rows() -> Vec<Published> {
    include_str!("../../data/published-api.csv")
        .lines()
        .skip(1)
        .filter_map(parse)
        .collect()
}

/// The row of the scenario with the most elements a second, among those without errors. Rows of the
/// RocksDB back end take precedence, since Varve uses RocksDB.
pub(crate) fn best<'a>(rows: &'a [Published], scenario: &str) -> Option<&'a Published> {
    let items = |row: &Published| row.throughput() * f64::from(row.items);
    let most = |backend: Option<&str>| {
        rows.iter()
            .filter(|row| row.is_of(scenario) && row.clean())
            .filter(|row| backend.is_none_or(|name| row.backend == name))
            .max_by(|a, b| items(a).total_cmp(&items(b)))
    };
    most(Some("rocksdb")).or_else(|| most(None))
}

/// Parses a line of the file. Only the machine is quoted, since it contains commas.
fn parse(line: &'static str) -> Option<Published> {
    let (head, rest) = line.split_once(",\"")?;
    let (machine, tail) = rest.split_once("\",")?;
    let mut head = head.split(',');
    let mut tail = tail.split(',');
    let row = Published {
        page: head.next()?,
        backend: head.next()?,
        table: head.next()?,
        machine,
        scenario: tail.next()?,
        concurrency: tail.next()?.parse().ok()?,
        items: tail.next()?.parse().ok()?,
        figures: {
            let figures: Vec<&str> = tail.collect();
            figures.try_into().ok()?
        },
    };
    Some(row)
}

/// Medians in whole milliseconds at the client; an empty cell was not measured.
const MEDIANS: &str = include_str!("../../data/published-metadata.csv");

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
    pub(crate) fn median_ms(self, profile: &str, method: &str, volume: &str) -> Option<f64> {
        let mut lines = MEDIANS.lines();
        let column = format!("{}_{volume}", self.name().to_ascii_lowercase());
        let at = lines.next()?.split(',').position(|name| name == column)?;
        lines.find_map(|line| {
            let cells: Vec<&str> = line.split(',').collect();
            let is_it = cells[0] == profile && cells[1] == method;
            is_it.then(|| cells.get(at)?.parse().ok())?
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::metadata::{PUBLISHED_ROWS, ROWS};

    #[test]
    fn every_line_is_read() {
        let rows = rows();
        assert_eq!(
            rows.len(),
            include_str!("../../data/published-api.csv").lines().count() - 1
        );
        assert_eq!(rows.len(), 110);
        for row in &rows {
            assert!(row.throughput() > 0.0 && row.average_ms() >= 0.0, "{row:?}");
        }
    }

    /// Throughput times the elements in a request is the figure that the project quotes for itself.
    #[test]
    fn the_best_rows_are_those_quoted() {
        let rows = rows();
        let items = |scenario: &str| {
            let row = best(&rows, scenario).expect("a row");
            (row.throughput() * f64::from(row.items)).floor()
        };
        assert_eq!(items("batch_insert_vertices"), 405_360.0);
        assert_eq!(items("batch_insert_edges"), 388_446.0);
        assert_eq!(items("single_insert_vertices"), 10_729.0);
        assert_eq!(items("single_insert_edges"), 8_417.0);
        assert_eq!(items("vertex_by_id"), 12_663.0);
        assert_eq!(items("edge_by_id"), 12_225.0);
        assert_eq!(items("property_keys"), 920.0);
    }

    #[test]
    fn the_rows_are_the_published_ones_in_their_order() {
        let lines: Vec<&str> = MEDIANS.lines().skip(1).collect();
        assert_eq!(lines.len(), PUBLISHED_ROWS);
        for (line, info) in lines.iter().zip(ROWS) {
            let wanted = format!("{},{},", info.row.profile.name(), info.row.method);
            assert!(line.starts_with(&wanted), "{line} is not {wanted}");
        }
    }

    #[test]
    fn figures_are_found_by_row_and_volume() {
        let walks =
            |peer: Peer, volume| peer.median_ms("Graph queries", "getRelatedEntities", volume);
        assert_eq!(walks(Peer::Xtdb, "0020-10"), Some(1246.5));
        assert_eq!(walks(Peer::Xtdb, "0040-10"), None);
        assert_eq!(walks(Peer::JanusGraph, "0005-02"), None);
        let adds = |peer: Peer, volume| peer.median_ms("Entity creation", "addEntity", volume);
        assert_eq!(adds(Peer::JanusGraph, "0020-10"), Some(487.0));
        assert_eq!(adds(Peer::Xtdb, "1280-10"), None);
    }
}
