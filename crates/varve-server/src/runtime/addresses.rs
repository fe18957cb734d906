//! Counts the open connections of each address, so that one client cannot take all.

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::net::{IpAddr, Ipv6Addr};
use std::sync::Arc;

use parking_lot::Mutex;

/// The prefix of IPv6 addresses that count as one client, in bits: a client may choose the others.
const IPV6_NETWORK_BITS: u32 = 64;

/// The connections of each address that is not this machine's own.
#[derive(Debug)]
pub(super) struct Addresses {
    open: Mutex<HashMap<IpAddr, usize>>,
    /// 0 is no limit.
    max: usize,
}

/// A connection's slot among those of its address, returned when it is dropped.
#[derive(Debug)]
pub(super) struct ConnectionSlot {
    of: Arc<Addresses>,
    address: IpAddr,
}

/// The address has the most connections that it may have.
#[derive(Debug)]
pub(super) struct TooMany;

impl Addresses {
    pub(super) fn new(max: usize) -> Arc<Self> {
        Arc::new(Self {
            open: Mutex::default(),
            max,
        })
    }

    /// A slot for a connection from this address; `None` if the address is not counted.
    pub(super) fn enter(self: &Arc<Self>, from: IpAddr) -> Result<Option<ConnectionSlot>, TooMany> {
        let address = counted_as(from);
        if self.max == 0 || address.is_loopback() {
            return Ok(None);
        }
        let mut open = self.open.lock();
        let count = open.entry(address).or_default();
        if *count >= self.max {
            return Err(TooMany);
        }
        *count += 1;
        Ok(Some(ConnectionSlot {
            of: Arc::clone(self),
            address,
        }))
    }
}

impl Drop for ConnectionSlot {
    fn drop(&mut self) {
        if let Entry::Occupied(mut count) = self.of.open.lock().entry(self.address) {
            *count.get_mut() -= 1;
            if *count.get() == 0 {
                count.remove();
            }
        }
    }
}

/// The address itself, of IPv6 its network.
pub(crate) fn counted_as(address: IpAddr) -> IpAddr {
    match address.to_canonical() {
        IpAddr::V6(address) if !address.is_loopback() => {
            let network = u128::MAX << (u128::BITS - IPV6_NETWORK_BITS);
            IpAddr::V6(Ipv6Addr::from(u128::from(address) & network))
        }
        address => address,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_has_so_many_connections_and_this_machine_any_number() {
        let addresses = Addresses::new(2);
        let enter = |from: &str| addresses.enter(from.parse().unwrap());
        let first = enter("10.0.0.1").unwrap();
        let _second = enter("::ffff:10.0.0.1").unwrap();
        assert!(enter("10.0.0.1").is_err());
        let _other = enter("10.0.0.2").unwrap();
        drop(first);
        let _third = enter("10.0.0.1").unwrap();
        assert!(enter("10.0.0.1").is_err());
        for loopback in ["127.0.0.1", "::1", "::ffff:127.0.0.1"] {
            assert!(enter(loopback).unwrap().is_none(), "{loopback}");
        }
        let _one = enter("2001:db8::1").unwrap();
        let _two = enter("2001:db8::2").unwrap();
        assert!(enter("2001:db8::3").is_err(), "of the same network");
        assert!(enter("2001:db8:0:1::1").is_ok());
    }

    #[test]
    fn what_is_over_is_forgotten() {
        let addresses = Addresses::new(1);
        drop(addresses.enter("10.0.0.1".parse().unwrap()).unwrap());
        assert!(addresses.open.lock().is_empty());
        let unlimited = Addresses::new(0);
        let entered = unlimited.enter("10.0.0.1".parse().unwrap());
        assert!(entered.unwrap().is_none());
    }
}
