//! Chunks and the states of a connection.

use bytes::{BufMut, BytesMut};
use proptest::prelude::*;
use varve_bolt::framing::{Decoder, frame, write_keep_alive, write_message};
use varve_bolt::state::Admission;
use varve_bolt::{BoltError, Kind, State, Version};

/// Decodes the input, which comes in parts of `part` bytes.
fn decoded(bytes: &[u8], part: usize, limit: usize) -> Result<Vec<Vec<u8>>, BoltError> {
    let mut decoder = Decoder::new(limit);
    let (mut input, mut messages) = (BytesMut::new(), Vec::new());
    for part in bytes.chunks(part) {
        input.extend_from_slice(part);
        while let Some(message) = decoder.decode(&mut input)? {
            assert!(!decoder.in_message());
            messages.push(message.to_vec());
        }
        assert!(input.len() < 2, "only half a header is left");
    }
    Ok(messages)
}

#[test]
fn the_examples_of_the_specification_are_decoded() {
    let long: Vec<u8> = (0..16).collect();
    let short: Vec<u8> = (8..16).rev().collect();
    let mut bytes = BytesMut::new();
    write_message(&long, &mut bytes);
    assert_eq!(bytes[..2], [0, 0x10]);
    assert_eq!(bytes[18..], [0, 0]);
    write_keep_alive(&mut bytes);
    write_message(&short, &mut bytes);
    // A message in two chunks.
    bytes.put_slice(&[0, 2, 1, 2, 0, 1, 3, 0, 0]);
    write_keep_alive(&mut bytes);
    let expected = [long, short, vec![1, 2, 3]];
    for part in 1..=bytes.len() {
        assert_eq!(decoded(&bytes, part, 16).expect("messages"), expected);
    }
}

#[test]
fn a_truncated_message_needs_more() {
    let mut bytes = BytesMut::new();
    write_message(&[7; 70_000], &mut bytes);
    for length in (0..100).chain(65_500..65_600).chain(70_000..bytes.len()) {
        let mut input = BytesMut::from(&bytes[..length]);
        let mut decoder = Decoder::new(70_000);
        assert_eq!(decoder.decode(&mut input), Ok(None), "{length} bytes");
        assert_eq!(decoder.in_message(), length >= 2);
        input.extend_from_slice(&bytes[length..]);
        let message = decoder
            .decode(&mut input)
            .expect("no error")
            .expect("it is complete");
        assert!(message == [7; 70_000][..]);
    }
}

#[test]
fn a_message_over_the_limit_is_refused_at_its_header() {
    let error = BoltError::TooLong {
        message_bytes_max: 10,
    };
    assert!(error.to_string().contains("`message_bytes_max`"), "{error}");
    assert_eq!(decoded(&[0, 11], 2, 10), Err(error.clone()));
    assert_eq!(decoded(&[0, 6, 1, 2, 3, 4, 5, 6, 0, 5], 3, 10), Err(error));
    let fits = [0, 6, 1, 2, 3, 4, 5, 6, 0, 4, 7, 8, 9, 10, 0, 0];
    assert_eq!(decoded(&fits, 3, 10), Ok(vec![(1..=10).collect()]));
    let mut decoder = Decoder::new(1);
    decoder.set_message_bytes_max(10);
    let message = decoder.decode(&mut BytesMut::from(&fits[..]));
    assert!(message.expect("the new limit").is_some());
}

#[test]
fn frames_begin_behind_what_is_there_and_leave_nothing_after_an_error() {
    for length in [0_usize, 1, 65_534, 65_535, 65_536, 131_070, 200_000] {
        let message: Vec<u8> = (0..length).map(|place| place as u8).collect();
        let mut framed = BytesMut::from(&b"before"[..]);
        let result = frame::<()>(&mut framed, |output| {
            output.put_slice(&message);
            Ok(())
        });
        assert_eq!(result, Ok(()));
        let mut written = BytesMut::from(&b"before"[..]);
        write_message(&message, &mut written);
        if length > 0 {
            assert!(framed == written, "{length} bytes");
        }
        let failed = frame(&mut framed, |output| {
            output.put_slice(&message);
            Err("failed")
        });
        assert_eq!(failed, Err("failed"));
        if length > 0 {
            assert!(framed == written, "{length} bytes");
            assert!(decoded(&framed[6..], 4096, 200_000) == Ok(vec![message]));
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn framed_messages_are_decoded(
        messages in prop::collection::vec(prop::collection::vec(any::<u8>(), 1..200), 0..6),
        part in 1..50_usize,
    ) {
        let mut bytes = BytesMut::new();
        for message in &messages {
            write_message(message, &mut bytes);
            write_keep_alive(&mut bytes);
        }
        prop_assert_eq!(decoded(&bytes, part, 200), Ok(messages));
    }

    #[test]
    fn any_bytes_decode_the_same_in_any_parts(
        bytes in prop::collection::vec(0..8_u8, 0..300),
        part in 1..50_usize,
    ) {
        prop_assert_eq!(decoded(&bytes, part, 4096), decoded(&bytes, 300, 4096));
    }
}

const STATES: [State; 9] = [
    State::Negotiated,
    State::Authentication,
    State::Ready,
    State::Streaming,
    State::TxReady,
    State::TxStreaming,
    State::Failed,
    State::Interrupted,
    State::Defunct,
];

/// For each request: `+` allowed, `i` ignored, `.` a violation, in the order of `STATES`.
const ADMISSIONS: [(Kind, &str); 13] = [
    (Kind::Hello, "+........"),
    (Kind::Logon, ".+....ii."),
    (Kind::Logoff, "..+...ii."),
    (Kind::Goodbye, "++++++++."),
    (Kind::Reset, "..++++++."),
    (Kind::Run, "..+.++ii."),
    (Kind::Begin, "..+...ii."),
    (Kind::Commit, "....+.ii."),
    (Kind::Rollback, "....+.ii."),
    (Kind::Discard, "...+.+ii."),
    (Kind::Pull, "...+.+ii."),
    (Kind::Route, "..+...ii."),
    (Kind::Telemetry, "..+...ii."),
];

#[test]
fn each_state_admits_what_the_specification_says() {
    for (kind, row) in ADMISSIONS {
        for (state, expected) in STATES.into_iter().zip(row.chars()) {
            let found = match state.admit(kind) {
                Ok(Admission::Allowed) => '+',
                Ok(Admission::Ignored) => 'i',
                Err(error) => {
                    let request = kind;
                    assert_eq!(error, BoltError::NotAllowed { request, state });
                    assert_eq!(error.code(), "Neo.ClientError.Request.Invalid");
                    '.'
                }
            };
            assert_eq!(found, expected, "{kind} in {state:?}");
        }
    }
}

#[test]
fn requests_lead_to_the_states_of_the_specification() {
    use State::{
        Authentication, Defunct, Failed, Interrupted, Negotiated, Ready, Streaming, TxReady,
        TxStreaming,
    };
    // The state, the request, whether a result still has records, and the states after success and
    // after failure.
    for (state, kind, has_records, success, failure) in [
        (Negotiated, Kind::Hello, false, Authentication, Defunct),
        (Authentication, Kind::Logon, false, Ready, Defunct),
        (Ready, Kind::Logoff, false, Authentication, Failed),
        (Ready, Kind::Run, true, Streaming, Failed),
        (Ready, Kind::Run, false, Streaming, Failed),
        (Ready, Kind::Begin, false, TxReady, Failed),
        (Ready, Kind::Route, false, Ready, Failed),
        (Ready, Kind::Telemetry, false, Ready, Failed),
        (Ready, Kind::Reset, false, Ready, Defunct),
        (Streaming, Kind::Pull, true, Streaming, Failed),
        (Streaming, Kind::Pull, false, Ready, Failed),
        (Streaming, Kind::Discard, true, Streaming, Failed),
        (Streaming, Kind::Discard, false, Ready, Failed),
        (TxReady, Kind::Run, true, TxStreaming, Failed),
        (TxReady, Kind::Commit, false, Ready, Failed),
        (TxReady, Kind::Rollback, false, Ready, Failed),
        (TxStreaming, Kind::Run, true, TxStreaming, Failed),
        (TxStreaming, Kind::Pull, true, TxStreaming, Failed),
        (TxStreaming, Kind::Pull, false, TxReady, Failed),
        (TxStreaming, Kind::Discard, true, TxStreaming, Failed),
        (TxStreaming, Kind::Discard, false, TxReady, Failed),
        (Failed, Kind::Reset, false, Ready, Defunct),
        (Interrupted, Kind::Reset, true, Ready, Defunct),
        (TxStreaming, Kind::Goodbye, true, Defunct, Defunct),
    ] {
        assert_eq!(state.admit(kind), Ok(Admission::Allowed));
        let after = state.after_success(kind, Version::V5_8, has_records);
        assert_eq!(after, success, "{kind} in {state:?}");
        assert_eq!(state.after_failure(kind), failure, "{kind} in {state:?}");
    }
    for version in [Version::V4_4, Version::V5_0] {
        assert_eq!(Negotiated.after_success(Kind::Hello, version, false), Ready);
    }
    for state in [Ready, Streaming, TxReady, TxStreaming, Failed, Interrupted] {
        assert_eq!(state.interrupted(), Interrupted);
    }
    for state in [Negotiated, Authentication, Defunct] {
        assert_eq!(state.interrupted(), state);
    }
}
