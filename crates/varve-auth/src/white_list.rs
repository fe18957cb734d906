//! The white list: the addresses from which clients may connect, if it is on.

use std::collections::BTreeSet;
use std::net::IpAddr;

use serde::{Deserialize, Serialize};

use crate::authenticator::{Auth, AuthError};
use crate::changes::DirectoryError;
use crate::directory::{Change, Entry};
use crate::record::Id;

/// Addresses and networks that the list may have.
const NETWORKS_MAX: usize = 10_000;

/// The list as it is stored.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct WhiteList {
    /// Whether clients of other addresses are refused.
    pub is_on: bool,
    /// Addresses, and networks in CIDR notation, as they were given.
    pub networks: BTreeSet<String>,
}

/// A network: the addresses with a common prefix.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Network {
    address: IpAddr,
    bits: u32,
}

impl Network {
    /// The network that a text names: `10.0.0.0/8`, `fd00::/8`, or an address alone.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        let (address, bits) = match text.split_once('/') {
            Some((address, bits)) => (address, Some(bits)),
            None => (text, None),
        };
        let address = address.parse::<IpAddr>().ok()?.to_canonical();
        let most = if address.is_ipv4() { 32 } else { 128 };
        let bits = match bits {
            Some(bits) => bits.parse().ok().filter(|bits| *bits <= most)?,
            None => most,
        };
        Some(Self { address, bits })
    }

    /// Whether it contains every address of its family.
    #[must_use]
    pub const fn is_everywhere(self) -> bool {
        self.bits == 0
    }

    /// Whether the network contains the address.
    #[must_use]
    pub fn contains(self, address: IpAddr) -> bool {
        match (self.address, address.to_canonical()) {
            (IpAddr::V4(own), IpAddr::V4(other)) => {
                let mask = u32::MAX.checked_shl(32 - self.bits).unwrap_or(0);
                (own.to_bits() ^ other.to_bits()) & mask == 0
            }
            (IpAddr::V6(own), IpAddr::V6(other)) => {
                let mask = u128::MAX.checked_shl(128 - self.bits).unwrap_or(0);
                (own.to_bits() ^ other.to_bits()) & mask == 0
            }
            _ => false,
        }
    }
}

/// The outcome of a change, by address.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct WhiteListChange {
    /// Addresses that were added or removed.
    pub changed: Vec<String>,
    /// Addresses that needed no change: already on the list, or not on it.
    pub unchanged: Vec<String>,
    /// Texts that are no addresses.
    pub illegal: Vec<String>,
}

impl Auth {
    /// The current white list.
    #[must_use]
    pub fn white_list(&self) -> WhiteList {
        self.directory().white_list().clone()
    }

    /// Switches the white list on or off.
    ///
    /// # Errors
    /// When the store fails.
    pub fn switch_white_list(&self, is_on: bool) -> Result<(), AuthError> {
        self.change_white_list(|list| {
            list.is_on = is_on;
            Ok(())
        })
    }

    /// Adds addresses to the white list.
    ///
    /// # Errors
    /// When there are too many; when the store fails.
    pub fn add_to_white_list(&self, given: &[String]) -> Result<WhiteListChange, AuthError> {
        let mut done = WhiteListChange::default();
        self.change_white_list(|list| {
            for text in given {
                let place = match Network::parse(text) {
                    None => &mut done.illegal,
                    Some(_) if list.networks.insert(text.clone()) => &mut done.changed,
                    Some(_) => &mut done.unchanged,
                };
                place.push(text.clone());
            }
            match list.networks.len() > NETWORKS_MAX {
                true => Err(DirectoryError::Invalid(format!(
                    "The white list must not have more than {NETWORKS_MAX} addresses"
                ))),
                false => Ok(()),
            }
        })?;
        Ok(done)
    }

    /// Removes addresses from the white list.
    ///
    /// # Errors
    /// When the store fails.
    pub fn remove_from_white_list(&self, given: &[String]) -> Result<WhiteListChange, AuthError> {
        let mut done = WhiteListChange::default();
        self.change_white_list(|list| {
            for text in given {
                let place = match list.networks.remove(text) {
                    true => &mut done.changed,
                    false => &mut done.unchanged,
                };
                place.push(text.clone());
            }
            Ok(())
        })?;
        Ok(done)
    }

    fn change_white_list(
        &self,
        change: impl FnOnce(&mut WhiteList) -> Result<(), DirectoryError>,
    ) -> Result<(), AuthError> {
        self.change(|directory| {
            let mut list = directory.white_list().clone();
            change(&mut list)?;
            Ok((Id::new(""), vec![Change::Put(Entry::WhiteList(list))]))
        })?;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn networks_have_the_addresses_that_begin_as_they_do() {
        let has = |network: &str, address: &str| {
            let network = Network::parse(network).expect("a network");
            network.contains(address.parse().expect("an address"))
        };
        assert!(has("10.0.0.1", "10.0.0.1") && !has("10.0.0.1", "10.0.0.2"));
        assert!(has("10.0.0.0/8", "10.255.0.2") && !has("10.0.0.0/8", "11.0.0.0"));
        assert!(has("10.0.0.0/8", "::ffff:10.1.2.3"));
        assert!(has("fd00::/8", "fd12::1") && !has("fd00::/8", "fe00::1"));
        assert!(has("0.0.0.0/0", "8.8.8.8") && !has("0.0.0.0/0", "::1"));
        for none in [
            "",
            "10.0.0",
            "999.1.1.1",
            "10.0.0.0/33",
            "::/129",
            "10.0.0.0/x",
            "a/8",
        ] {
            assert_eq!(Network::parse(none), None, "{none}");
        }
    }
}
