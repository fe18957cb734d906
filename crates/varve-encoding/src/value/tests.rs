//! Round trips of property values.

use proptest::prelude::*;

use super::*;
use crate::testing;

proptest! {
    #[test]
    fn values_come_back(value in testing::value(), rest in prop::collection::vec(any::<u8>(), 0..5)) {
        let mut bytes = Vec::new();
        put_value(&value, &mut bytes);
        let length = bytes.len();
        bytes.extend_from_slice(&rest);
        let (read, after) = take_value(&bytes).expect("own bytes");
        prop_assert!(read.is_identical(&value), "{read:?}");
        prop_assert_eq!(after, &rest[..]);
        let (whole, after) = take_value_ref(&bytes).expect("own bytes");
        prop_assert_eq!(after.len(), bytes.len() - length);
        let (shallow, after) = take_value_ref_shallow(&bytes).expect("own bytes");
        prop_assert_eq!(after.len(), bytes.len() - length);
        // As text: a float that is no number is not equal to itself.
        prop_assert_eq!(format!("{shallow:?}"), format!("{whole:?}"));
        for short in 0..length {
            prop_assert!(take_value(&bytes[..short]).is_none());
        }
    }

    #[test]
    fn varints_come_back(number in any::<u64>(), shift in 0..64_u32) {
        let number = number >> shift;
        let mut bytes = Vec::new();
        put_varint(number, &mut bytes);
        prop_assert!(bytes.len() <= 10);
        prop_assert_eq!(take_varint(&bytes), Some((number, &[][..])));
    }
}

#[test]
fn a_varint_over_64_bits_is_refused() {
    let mut bytes = vec![0xFF; 9];
    bytes.push(0x02);
    assert_eq!(take_varint(&bytes), None);
    bytes[9] = 0x81;
    bytes.push(0);
    assert_eq!(take_varint(&bytes), None);
}
