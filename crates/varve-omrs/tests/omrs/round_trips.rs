//! Whatever is written can be read and is the same; whatever is read never breaks the reader.

use std::fmt::Debug;

use crate::generate;
use varve_omrs::instances::{EntityDetail, Relationship};
use varve_omrs::json::{Decode, Encode, JsonError, Limits, RawJson, Reader, decode, encode};
use varve_omrs::requests::{
    EntityCreateRequest, EntityFindRequest, EntityListResponse, RelationshipListResponse,
};
use varve_omrs::types::{Catalogue, TypeDef, TypeDefGallery};
use varve_testkit::random::Random;

const CASES: u64 = 100;

fn round_trip<T: Encode + Decode + PartialEq + Debug>(value: &T) -> Vec<u8> {
    let written = encode(value);
    let read: T = decode(&written, Limits::DEFAULT)
        .unwrap_or_else(|error| panic!("{error}\n{}", String::from_utf8_lossy(&written)));
    assert_eq!(&read, value);
    written
}

/// Every polymorphic object of a document has its class first.
fn check_classes(written: &[u8]) {
    let tree: serde_json::Value = serde_json::from_slice(written).unwrap();
    assert!(count_classes(&tree) > 0);
    let text = std::str::from_utf8(written).unwrap();
    for (at, _) in text.match_indices("\"class\":") {
        assert_eq!(text.as_bytes()[at - 1], b'{', "{}", &text[at..]);
    }
}

fn count_classes(tree: &serde_json::Value) -> usize {
    match tree {
        serde_json::Value::Object(members) => {
            let own = usize::from(members.contains_key("class"));
            own + members.values().map(count_classes).sum::<usize>()
        }
        serde_json::Value::Array(elements) => elements.iter().map(count_classes).sum(),
        _ => 0,
    }
}

#[test]
fn random_instances_come_back_as_they_were() {
    let types = Catalogue::built_in();
    for seed in 0..CASES {
        let mut random = Random::new(seed);
        let entity = generate::entity(&mut random, &types);
        check_classes(&round_trip(&entity));
        let relationship = generate::relationship(&mut random, &types);
        check_classes(&round_trip(&relationship));
        round_trip(&EntityListResponse::ok(0, 5, None, vec![entity.into()]));
        round_trip(&RelationshipListResponse::ok(
            3,
            0,
            None,
            vec![relationship.into()],
        ));
    }
}

#[test]
fn every_built_in_definition_comes_back_as_it_was() {
    let gallery = Catalogue::built_in().gallery();
    for def in &gallery.types {
        check_classes(&round_trip(def));
    }
    for def in &gallery.attribute_types {
        check_classes(&round_trip(def));
    }
    let mut again = Catalogue::empty();
    again.add_gallery(gallery.clone()).unwrap();
    assert_eq!(again.gallery(), gallery);
    round_trip::<TypeDefGallery>(&gallery);
}

/// Moves every `class` of a document to the end of its object.
fn with_classes_last(written: &[u8]) -> Vec<u8> {
    fn write(tree: &serde_json::Value, to: &mut String) {
        match tree {
            serde_json::Value::Object(members) => {
                to.push('{');
                let (class, rest): (Vec<_>, Vec<_>) =
                    members.iter().partition(|(key, _)| *key == "class");
                for (at, (key, value)) in rest.into_iter().chain(class).enumerate() {
                    to.push_str(if at == 0 { "" } else { "," });
                    to.push_str(&serde_json::to_string(key).unwrap());
                    to.push(':');
                    write(value, to);
                }
                to.push('}');
            }
            serde_json::Value::Array(elements) => {
                to.push('[');
                for (at, element) in elements.iter().enumerate() {
                    to.push_str(if at == 0 { "" } else { "," });
                    write(element, to);
                }
                to.push(']');
            }
            leaf => to.push_str(&leaf.to_string()),
        }
    }
    let mut text = String::new();
    write(&serde_json::from_slice(written).unwrap(), &mut text);
    text.into_bytes()
}

#[test]
fn the_order_of_properties_does_not_matter_to_the_reader() {
    for def in Catalogue::built_in().gallery().types.iter().step_by(7) {
        let turned = with_classes_last(&encode(def));
        let read: TypeDef = decode(&turned, Limits::DEFAULT).unwrap();
        assert_eq!(&read, def);
    }
}

fn mutated(random: &mut Random, document: &[u8]) -> Vec<u8> {
    let mut bytes = document.to_vec();
    let pieces: [&[u8]; 12] = [
        b"null",
        b"{",
        b"}",
        b"[",
        b"]",
        b"\"",
        b",",
        b":",
        b"\\ud800",
        b"-",
        b"1e999",
        b"\"class\":",
    ];
    for _ in 0..=random.below(4) {
        let at = random.below(bytes.len() + 1);
        match random.below(4) {
            0 => bytes.truncate(at),
            1 if at < bytes.len() => bytes[at] = random.bits() as u8,
            2 => {
                let piece = *random.pick(&pieces);
                bytes.splice(at..at, piece.iter().copied());
            }
            _ => {
                let end = (at + random.below(20)).min(bytes.len());
                bytes.drain(at..end);
            }
        }
    }
    bytes
}

/// A document is read or refused, and what is read can be written and read again.
fn read_or_refuse<T: Encode + Decode>(document: &[u8]) -> bool {
    let Ok(value) = decode::<T>(document, Limits::DEFAULT) else {
        return false;
    };
    let written = encode(&value);
    let again: T = decode(&written, Limits::DEFAULT).unwrap();
    assert_eq!(encode(&again), written);
    true
}

#[test]
fn mutated_documents_are_read_or_refused() {
    let types = Catalogue::built_in();
    let (mut read, mut refused) = (0, 0);
    for seed in 0..CASES {
        let mut random = Random::new(seed);
        let entity = encode(&generate::entity(&mut random, &types));
        let relationship = encode(&generate::relationship(&mut random, &types));
        for _ in 0..20 {
            let outcomes = [
                read_or_refuse::<EntityDetail>(&mutated(&mut random, &entity)),
                read_or_refuse::<Relationship>(&mutated(&mut random, &relationship)),
                read_or_refuse::<EntityCreateRequest>(&mutated(&mut random, &entity)),
            ];
            read += outcomes.iter().filter(|is_read| **is_read).count();
            refused += outcomes.iter().filter(|is_read| !**is_read).count();
        }
    }
    assert!(
        read > 100 && refused > 1000,
        "{read} read, {refused} refused"
    );
}

#[test]
fn random_bytes_are_refused() {
    let alphabet = b"{}[]\",:0123456789-+.eEtruefalsn\\u \n\xC3\xA9class";
    for seed in 0..20_000 {
        let mut random = Random::new(seed);
        let length = random.below(40);
        let document: Vec<u8> = (0..length).map(|_| *random.pick(alphabet)).collect();
        read_or_refuse::<EntityFindRequest>(&document);
        read_or_refuse::<TypeDefGallery>(&document);
    }
}

/// The reader accepts what `serde_json` accepts, and reads the same strings from it.
#[test]
fn the_reader_agrees_with_another_one_about_what_json_is() {
    let (mut accepted, mut refused) = (0, 0);
    let alphabet = b"{}[]\",:01-.eE\\u12dbfnrt/ \n";
    let documents = [
        "0",
        "-0.5e+7",
        "\"a\\u00e9\\ud83d\\ude00\\n\"",
        "[1,[],{}]",
        "{\"a\":{\"b\":[true,false,null]}}",
    ];
    for seed in 0..30_000 {
        let mut random = Random::new(seed);
        let document = if random.one_in(2) {
            let length = random.below(12);
            (0..length).map(|_| *random.pick(alphabet)).collect()
        } else {
            let document = random.pick(&documents).as_bytes();
            mutated(&mut random, document)
        };
        let ours = decode::<RawJson>(&document, Limits::DEFAULT);
        // A raw value of theirs is checked for its grammar only, as ours is; but for halves of
        // surrogate pairs.
        let theirs = serde_json::from_slice::<&serde_json::value::RawValue>(&document);
        let has_half = matches!(&ours, Err(error) if error.message().contains("surrogate"));
        if !has_half {
            let text = String::from_utf8_lossy(&document);
            assert_eq!(ours.is_ok(), theirs.is_ok(), "{text}: {ours:?} {theirs:?}");
        }
        if let (Ok(_), Ok(theirs)) = (&ours, serde_json::from_slice::<String>(&document)) {
            assert_eq!(
                decode::<String>(&document, Limits::DEFAULT).unwrap(),
                theirs
            );
        }
        if ours.is_ok() {
            accepted += 1
        } else {
            refused += 1
        }
    }
    assert!(accepted > 1000 && refused > 1000, "{accepted} {refused}");
}

fn skip(document: &[u8], limits: Limits) -> Result<(), JsonError> {
    let mut reader = Reader::new(document, limits)?;
    reader.skip()?;
    reader.end()
}

#[test]
fn depth_size_and_number_of_values_are_bounded() {
    let deep = |levels: usize| "[".repeat(levels) + &"]".repeat(levels);
    let limits = Limits::DEFAULT;
    assert_eq!(skip(deep(limits.depth).as_bytes(), limits), Ok(()));
    let error = skip(deep(limits.depth + 1).as_bytes(), limits).unwrap_err();
    assert!(error.message().contains("deeper"), "{error}");
    skip(deep(1_000_000).as_bytes(), limits).unwrap_err();

    let limits = Limits {
        values: 4,
        ..limits
    };
    assert_eq!(skip(b"[1,2,null]", limits), Ok(()));
    assert!(
        skip(b"[1,2,null,4]", limits)
            .unwrap_err()
            .message()
            .contains("values")
    );
    assert!(skip(b"{\"a\":null,\"b\":null,\"c\":1,\"d\":1}", limits).is_err());

    let limits = Limits {
        bytes: 10,
        ..Limits::DEFAULT
    };
    assert_eq!(skip(b"[11111111]", limits), Ok(()));
    assert!(skip(b"[111111111]", limits).is_err());

    let limits = Limits {
        string_bytes: 4,
        ..Limits::DEFAULT
    };
    assert_eq!(skip(b"[\"1234\",1234]", limits), Ok(()));
    assert!(skip(b"\"12345\"", limits).is_err());
    assert!(skip(b"\"\\n\\n\\n\"", limits).is_err());
    assert!(skip(b"12345", limits).is_err());
}

/// Deep conditions of a search, each with its `class` nowhere, cost no more than their length.
#[test]
fn deep_conditions_are_refused_by_depth() {
    let levels = 10_000;
    let open = "{\"conditions\":[{\"nestedConditions\":".repeat(levels);
    let document = format!(
        "{{\"class\":\"EntityFindRequest\",\"matchProperties\":{open}{{}}{}}}",
        "}]}".repeat(levels)
    );
    let error = decode::<EntityFindRequest>(document.as_bytes(), Limits::DEFAULT).unwrap_err();
    assert!(error.message().contains("deeper"), "{error}");
    assert!(
        error
            .path()
            .starts_with("matchProperties.conditions[0].nestedConditions")
    );
}

/// Objects that put their class last, in one another, may not cost the square of their depth.
#[test]
fn looking_ahead_for_the_class_is_bounded() {
    let mut value = "{\"class\":\"MapPropertyValue\"}".to_owned();
    let padding = "x".repeat(10_000);
    for _ in 0..30 {
        value = format!(
            "{{\"mapValues\":{{\"instanceProperties\":{{\"k\":{value}}}}},\"p\":\"{padding}\",\"class\":\"MapPropertyValue\"}}"
        );
    }
    let document = format!("{{\"instanceProperties\":{{\"k\":{value}}}}}");
    let read =
        decode::<varve_omrs::instances::InstanceProperties>(document.as_bytes(), Limits::DEFAULT);
    let error = read.map(|_| ()).unwrap_err();
    assert!(error.message().contains("must be the first"), "{error}");
}
