//! The options of Bolt.

use crate::section;

section! {
    /// The options of Bolt, the protocol of Neo4j's drivers. It answers fixed queries until the
    /// language is there.
    pub struct BoltConfig {
        /// Address and port of the listener, as in `127.0.0.1:7687`. Port 0 takes a free port.
        /// Empty: there is no such listener.
        listen: String = String::new(),
        /// The graph of clients that name no database.
        default_graph: String = "hugegraph".to_owned(),
    }
}
