//! The kinds of requests, with their tags and names.

use std::fmt;

use crate::handshake::Version;

/// Which request a message is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[repr(u8)]
#[expect(missing_docs, reason = "the variants of Request have the same names")]
pub enum Kind {
    Hello = 0x01,
    Goodbye = 0x02,
    Reset = 0x0F,
    Run = 0x10,
    Begin = 0x11,
    Commit = 0x12,
    Rollback = 0x13,
    Discard = 0x2F,
    Pull = 0x3F,
    Telemetry = 0x54,
    Route = 0x66,
    Logon = 0x6A,
    Logoff = 0x6B,
}

impl Kind {
    /// All kinds.
    pub const ALL: [Kind; 13] = {
        use Kind::{
            Begin, Commit, Discard, Goodbye, Hello, Logoff, Logon, Pull, Reset, Rollback, Route,
            Run, Telemetry,
        };
        [
            Hello, Goodbye, Reset, Run, Begin, Commit, Rollback, Discard, Pull, Telemetry, Route,
            Logon, Logoff,
        ]
    };

    /// The request of this tag, if the version has it.
    #[must_use]
    pub fn of(tag: u8, version: Version) -> Option<Kind> {
        let known = |kind: &Kind| kind.tag() == tag && version >= kind.since();
        Kind::ALL.into_iter().find(known)
    }

    /// The tag of the message.
    #[must_use]
    pub const fn tag(self) -> u8 {
        self as u8
    }

    /// The first version with the request, or the oldest one that the crate speaks.
    const fn since(self) -> Version {
        match self {
            Kind::Logon | Kind::Logoff => Version::V5_1,
            Kind::Telemetry => Version::V5_4,
            _ => Version::V4_4,
        }
    }
}

impl fmt::Display for Kind {
    /// Writes the name as in Bolt's specification.
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&format!("{self:?}").to_uppercase())
    }
}
